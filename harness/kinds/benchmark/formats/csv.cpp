// SPDX-License-Identifier: Apache-2.0
// Comma-separated values with a header (RFC 4180): a result is a line. Lines of one name and
// parameters are samples.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

constexpr std::size_t most_columns = 1000;

/// Takes the records of a text one after the other.
class Records {
  public:
    explicit Records(std::string_view text) : text_(text) {
        if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    }

    /// Where the last record began.
    [[nodiscard]] std::size_t line() const { return line_; }

    /// Nothing at the end.
    std::optional<std::vector<std::string>> next() {
        while (text_.starts_with('\n') || text_.starts_with("\r\n")) end_line();
        if (text_.empty()) return std::nullopt;
        line_ = lines_;
        std::vector<std::string> fields;
        for (;;) {
            if (fields.size() == most_columns) {
                refuse(fmt::format("more than {} columns", most_columns));
            }
            fields.push_back(text_.starts_with('"') ? quoted() : plain());
            if (!text_.starts_with(',')) break;
            text_.remove_prefix(1);
        }
        if (!text_.empty()) end_line();
        return fields;
    }

    [[noreturn]] void refuse(const std::string& why) const {
        throw util::InputError(fmt::format("line {}: {}", line_, why));
    }

  private:
    void end_line() {
        if (text_.starts_with('\r')) text_.remove_prefix(1);
        if (!text_.starts_with('\n')) refuse("text after a quoted field; expected ',' or its end");
        text_.remove_prefix(1);
        ++lines_;
    }

    std::string plain() {
        const std::size_t size = std::min(text_.find_first_of(",\r\n\""), text_.size());
        std::string field(text_.substr(0, size));
        text_.remove_prefix(size);
        if (text_.starts_with('"')) refuse("a quote in a field that does not begin with one");
        return field;
    }

    std::string quoted() {
        std::string field;
        text_.remove_prefix(1);
        for (;;) {
            const std::size_t quote = text_.find('"');
            if (quote == std::string_view::npos) refuse("a quoted field does not end");
            const std::string_view part = text_.substr(0, quote);
            lines_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
            field += part;
            text_.remove_prefix(quote + 1);
            if (!text_.starts_with('"')) return field;
            field += '"';
            text_.remove_prefix(1);
        }
    }

    std::string_view text_;
    std::size_t lines_ = 1, line_ = 1;
};

/// The columns that are read.
struct Columns {
    std::size_t name = 0;
    std::vector<std::size_t> axes, values;
};

std::size_t column_of(const std::vector<std::string>& header, const std::string& name) {
    const auto count = std::count(header.begin(), header.end(), name);
    if (count == 1) {
        return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) -
                                        header.begin());
    }
    throw util::InputError(fmt::format("line 1: {} columns are named '{}'; expected one{}", count,
                                       util::printable(name, 80),
                                       count == 0 ? util::did_you_mean(name, header) : ""));
}

Columns columns_of(const std::vector<std::string>& header, const Layout& reading) {
    Columns columns;
    columns.name = column_of(header, reading.name);
    for (const auto& [axis, column] : reading.axes) {
        columns.axes.push_back(column_of(header, column));
    }
    for (const Value& value : reading.values) {
        columns.values.push_back(column_of(header, value.from));
    }
    return columns;
}

/// Which of the values the lines of one result have.
struct Presence {
    std::vector<std::size_t> first_with, first_without;  ///< lines, by value; 0: none

    explicit Presence(std::size_t values) : first_with(values), first_without(values) {}

    /// The line's value `i` is there, or its field is empty.
    void note(std::size_t i, bool there, std::size_t line) {
        std::size_t& first = there ? first_with[i] : first_without[i];
        if (first == 0) first = line;
    }
};

/// A result may lack a value, but not in some of its lines: the others may be the fast ones.
void require_all_or_none(const Presence& presence, const Layout& reading, ResultBuilder& builder) {
    for (std::size_t i = 0; i < reading.values.size(); ++i) {
        if (presence.first_with[i] == 0 || presence.first_without[i] == 0) continue;
        builder.fail(
            fmt::format("line {}: no value in column {}, which line {} of the same case has: write "
                        "it in each line, or tell the cases apart ('case', 'axes')",
                        presence.first_without[i], util::printable(reading.values[i].from, 80),
                        presence.first_with[i]));
    }
}

double number_in(const std::string& field, const Records& records, const std::string& column) {
    double number = 0;
    const char* const end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(field.data(), end, number);
    if (error != std::errc() || stop != end) {
        records.refuse(fmt::format("'{}' in column {} is no number", util::printable(field, 40),
                                   util::printable(column, 80)));
    }
    return number;
}

}  // namespace

Results read_csv(std::string_view text, std::string_view /*source*/, const Layout& reading) {
    Records records(text);
    const auto header = records.next();
    if (!header) throw util::InputError("it has no header");
    const Columns columns = columns_of(*header, reading);
    std::vector<ResultBuilder> builders;
    std::vector<Presence> presences;  // of the builders
    std::map<std::string, std::size_t> places;
    while (const auto record = records.next()) {
        if (record->size() != header->size()) {
            records.refuse(fmt::format("{} fields; expected {} as in the header", record->size(),
                                       header->size()));
        }
        ResultBuilder fresh((*record)[columns.name]);
        for (std::size_t i = 0; i < columns.axes.size(); ++i) {
            fresh.add_axis(reading.axes[i].first, axis_value((*record)[columns.axes[i]]));
        }
        const auto [place, added] = places.try_emplace(fresh.words(), builders.size());
        if (added) {
            builders.push_back(std::move(fresh));
            presences.emplace_back(reading.values.size());
        }
        if (builders.size() > most_results) break;
        ResultBuilder& builder = builders[place->second];
        for (std::size_t i = 0; i < columns.values.size(); ++i) {
            const std::string& field = (*record)[columns.values[i]];
            presences[place->second].note(i, !field.empty(), records.line());
            if (field.empty()) continue;
            const Value& value = reading.values[i];
            builder.add(value.definition.name, {"csv", ""},
                        value.factor * number_in(field, records, value.from),
                        value.definition.metric_class == model::MetricClass::timing);
        }
    }
    Results results;
    for (std::size_t i = 0; i < builders.size(); ++i) {
        require_all_or_none(presences[i], reading, builders[i]);
        results.results.push_back(builders[i].take());
    }
    return results;
}

}  // namespace perfgate::benchmark
