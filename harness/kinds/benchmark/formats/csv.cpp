// SPDX-License-Identifier: Apache-2.0
// Comma-separated values with a header (RFC 4180), also with ';' or tabs: a row is a line. The
// header is the first line that has all columns which the suite names; lines before it, empty lines
// and lines that begin with '#' are no rows.
#include "kinds/benchmark/formats/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "kinds/benchmark/formats/formats.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

constexpr std::size_t most_columns = 20'000;  ///< counters of a profiler are columns
constexpr std::array delimiters{',', ';', '\t'};

/// Takes the records of a text one after the other.
class Records {
  public:
    Records(std::string_view text, char delimiter, std::size_t line = 1,
            std::string_view comment = "#")
        : text_(text), delimiter_(delimiter), comment_(comment), lines_(line), line_(line) {}

    /// Where the last record began.
    [[nodiscard]] std::size_t line() const { return line_; }

    /// Whether a line without a field is next, or a comment.
    [[nodiscard]] bool is_at_empty_line() const {
        const std::string_view line = text_.substr(0, text_.find('\n'));
        return !text_.empty() && line.find_first_not_of(" \t\r") == std::string_view::npos;
    }

    /// Nothing at the end.
    std::optional<std::vector<std::string>> next() {
        while (is_at_empty_line() || text_.starts_with(comment_)) skip_line();
        if (text_.empty()) return std::nullopt;
        return record();
    }

    std::vector<std::string> record() {
        line_ = lines_;
        std::vector<std::string> fields;
        for (;;) {
            if (fields.size() == most_columns) {
                refuse(fmt::format("more than {} columns", most_columns));
            }
            skip_spaces();
            fields.push_back(text_.starts_with('"') ? quoted() : plain());
            if (!text_.starts_with(delimiter_)) break;
            text_.remove_prefix(1);
        }
        if (!text_.empty()) end_line();
        return fields;
    }

    [[noreturn]] void refuse(const std::string& why) const {
        throw util::InputError("line {}: {}", line_, why);
    }

  private:
    void skip_line() {
        text_.remove_prefix(std::min(text_.find('\n'), text_.size() - 1) + 1);
        ++lines_;
    }

    void skip_spaces() {
        while (text_.starts_with(' ') || (delimiter_ != '\t' && text_.starts_with('\t'))) {
            text_.remove_prefix(1);
        }
    }

    void end_line() {
        if (text_.starts_with('\r')) text_.remove_prefix(1);
        if (!text_.starts_with('\n')) {
            refuse(fmt::format("text after a quoted field; expected '{}' or its end", delimiter_));
        }
        text_.remove_prefix(1);
        ++lines_;
    }

    std::string plain() {
        const std::size_t size =
            std::min(text_.find_first_of(std::string{delimiter_, '\r', '\n', '"'}), text_.size());
        std::string field(text_.substr(0, size));
        text_.remove_prefix(size);
        if (text_.starts_with('"')) refuse("a quote in a field that does not begin with one");
        field.erase(field.find_last_not_of(" \t") + 1);
        return field;
    }

    std::string quoted() {
        std::string field;
        text_.remove_prefix(1);
        for (;;) {
            const std::size_t quote = text_.find('"');
            if (quote == std::string_view::npos) refuse("a quoted field does not end");
            const std::string_view part = text_.substr(0, quote);
            lines_ += static_cast<std::size_t>(std::ranges::count(part, '\n'));
            field += part;
            text_.remove_prefix(quote + 1);
            if (!text_.starts_with('"')) break;
            field += '"';
            text_.remove_prefix(1);
        }
        skip_spaces();
        return field;
    }

    std::string_view text_;
    char delimiter_;
    std::string_view comment_;
    std::size_t lines_ = 1, line_ = 1;
};

using Fields = std::vector<std::string>;

std::size_t count_of(const Fields& header, const std::string& column) {
    return static_cast<std::size_t>(std::ranges::count(header, column));
}

bool has_all(const Fields& header, const std::vector<std::string>& columns) {
    return std::ranges::all_of(
        columns, [&](const std::string& column) { return count_of(header, column) > 0; });
}

/// The line as a record; nothing if it is none.
std::optional<Fields> fields_in(std::string_view line, char delimiter) {
    try {
        return Records(line, delimiter).record();
    } catch (const util::InputError&) {
        return std::nullopt;
    }
}

}  // namespace

CsvHeader find_csv_header(std::string_view text, const std::vector<std::string>& columns) {
    CsvHeader best;  // the longest, for the message if none has all columns
    std::size_t line = 1;
    for (; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1);
        std::string_view here = text.substr(0, end + 1);
        text.remove_prefix(end + 1);
        if (here.starts_with('#')) here.remove_prefix(1);
        if (here.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;
        for (const char delimiter : delimiters) {
            auto fields = fields_in(here, delimiter);
            if (!fields) continue;
            const bool all = has_all(*fields, columns);
            if (!all && fields->size() <= best.fields.size()) continue;
            best = {*std::move(fields), delimiter, line, text};
            if (all) return best;
        }
    }
    return best;
}

std::vector<std::string> first_csv_record(const CsvHeader& header) {
    return Records(header.rest, header.delimiter, header.line + 1).next().value_or(Fields());
}

Results read_rows_of_csv(std::string_view text, const Layout& reading, const CsvForm& form) {
    Table table(reading,
                form.thousands ? Table::Numbers::are_text_with_thousands : Table::Numbers::are_text,
                form.known);
    const std::vector<std::string>& places = table.places().all();
    const CsvHeader header = find_csv_header(text, places);
    if (header.fields.empty()) throw util::InputError("it has no header");
    constexpr std::size_t none = SIZE_MAX;
    std::vector<std::size_t> place_of(header.fields.size(), none);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t count = count_of(header.fields, places[i]);
        if (count != 1) {
            throw util::InputError("line {}: {} columns are named '{}'; expected one{}",
                                   header.line, count, util::printable(places[i], 80),
                                   count == 0 ? util::did_you_mean(places[i], header.fields) : "");
        }
        const auto at = std::ranges::find(header.fields, places[i]);
        place_of[static_cast<std::size_t>(at - header.fields.begin())] = i;
    }
    Records records(header.rest, header.delimiter, header.line + 1, form.comment);
    std::optional<Fields> units;
    if (form.units_row) units = records.next();
    while (!table.is_full()) {
        if (form.until_empty_line && records.is_at_empty_line()) break;
        auto record = records.next();
        if (!record) break;
        if (record->size() != header.fields.size()) {
            records.refuse(fmt::format("{} fields; expected {} as in the header", record->size(),
                                       header.fields.size()));
        }
        Row row;
        row.at = fmt::format("line {}", records.line());
        row.cells.resize(places.size());
        for (std::size_t i = 0; i < record->size(); ++i) {
            std::string& field = (*record)[i];
            if (place_of[i] != none) {
                row.cells[place_of[i]].values.emplace_back(std::move(field));
            } else if (!header.fields[i].empty()) {
                const bool is_number = number_in(field, form.thousands).has_value();
                row.others.push_back({header.fields[i], std::move(field), is_number});
            }
        }
        table.add(std::move(row));
    }
    return table.take();
}

Results read_csv(std::string_view text, std::string_view /*source*/, const Layout& reading) {
    return read_rows_of_csv(text, reading, {});
}

}  // namespace perfgate::benchmark
