// SPDX-License-Identifier: Apache-2.0
// Any text, by a pattern that the suite states: each match is a row, each named group a place.
#include "kinds/benchmark/formats/table.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

constexpr std::size_t longest_pattern = 4096;
constexpr std::int64_t pattern_memory = std::int64_t{8} << 20;
/// The group that is a result's name if the suite names no other.
constexpr const char* name_group = "case";

/// "(?<name>" as "(?P<name>", which older versions of the library want.
std::string with_named_groups(std::string_view pattern) {
    constexpr std::string_view group = "(?<";
    std::string text;
    bool in_class = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\\' && i + 1 < pattern.size()) {
            text += c;
            text += pattern[++i];
            continue;
        }
        if (c == '[') in_class = true;
        if (c == ']') in_class = false;
        if (!in_class && pattern.substr(i).starts_with(group)) {
            text += "(?P<";
            i += group.size() - 1;
            continue;
        }
        text += c;
    }
    return text;
}

class Pattern {
  public:
    explicit Pattern(const std::string& text)
        : expression_("(?m)" + with_named_groups(text), options()) {
        if (text.empty() || text.size() > longest_pattern) {
            throw util::InputError("a pattern of {} bytes; expected from 1 to {}", text.size(),
                                   longest_pattern);
        }
        if (!expression_.ok()) {
            throw util::InputError("'{}' is no regular expression: {}", util::printable(text, 80),
                                   util::printable(expression_.error(), 200));
        }
        for (const auto& [number, name] : expression_.CapturingGroupNames()) {
            if (groups_.insert(name).second) continue;
            throw util::InputError("'{}' is no regular expression: two groups are named '{}'",
                                   util::printable(text, 80), name);
        }
    }

    [[nodiscard]] const std::set<std::string>& groups() const { return groups_; }
    [[nodiscard]] const re2::RE2& expression() const { return expression_; }

  private:
    static re2::RE2::Options options() {
        re2::RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(pattern_memory);
        return options;
    }

    re2::RE2 expression_;
    std::set<std::string> groups_;
};

/// Whether a group matched only a part of a number, as 10 of "10,432", 1.5 of "1.5e+03" or 5 of
/// "-5". A ',' between two groups separates values, as does one without three digits behind it.
bool is_part_of_number(std::string_view text, re2::StringPiece piece,
                       const std::vector<re2::StringPiece>& found) {
    constexpr std::size_t around = 40;
    const auto begin = static_cast<std::size_t>(piece.data() - text.data());
    const std::size_t end = begin + piece.size();
    const auto is_one_of = [&](std::size_t i, std::string_view characters) {
        return i < text.size() && characters.find(text[i]) != std::string_view::npos;
    };
    const auto has_edge = [&](std::size_t i) {
        return std::any_of(found.begin() + 1, found.end(), [&](const re2::StringPiece& group) {
            return group.data() == text.data() + i ||
                   group.data() + group.size() == text.data() + i;
        });
    };
    constexpr std::string_view separators = ",'_";  // of thousands
    const bool separate_before =
        begin > 0 && is_one_of(begin - 1, separators) && has_edge(begin - 1);
    const bool separate_behind = is_one_of(end, separators) && has_edge(end + 1);
    // The '-' of "gpu-5" is no sign.
    if (begin > 0 && text[begin - 1] == '-' && is_one_of(begin, ".0123456789") &&
        (begin == 1 || std::isalnum(static_cast<unsigned char>(text[begin - 2])) == 0)) {
        return true;
    }
    static const re2::RE2 number(
        "((?:[0-9]{1,3}(?:[,'_][0-9]{3})+|[0-9]+)(?:\\.[0-9]+)*(?:[eE][+-]?[0-9]+)?)(?:[^0-9]|$)",
        re2::RE2::Latin1);
    const std::size_t from = begin - std::min(begin, around);
    re2::StringPiece near(text.data() + from, std::min(text.size(), end + around) - from);
    re2::StringPiece whole;
    while (re2::RE2::FindAndConsume(&near, number, &whole)) {
        const auto first = static_cast<std::size_t>(whole.data() - text.data());
        const std::size_t last = first + whole.size();
        if (first < begin && begin < last && !separate_before) return true;
        if (first < end && end < last && !separate_behind) return true;
    }
    return false;
}

/// Of a line with carriage returns only the text after the last one, as progress bars write them.
std::string as_shown(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        while (line.ends_with('\r')) line.remove_suffix(1);
        shown.append(line.substr(line.rfind('\r') + 1));  // npos + 1 is 0
        if (end < text.size()) shown += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return shown;
}

/// With the name and the parameters that only the pattern states.
Layout completed(const Layout& reading, const Pattern& pattern, const KnownRows* known = nullptr) {
    Layout complete = reading;
    if (complete.name.empty() && pattern.groups().contains(name_group)) complete.name = name_group;
    const Places places(complete, known);
    for (const std::string& place : places.all()) {
        if (pattern.groups().contains(place)) continue;
        throw util::InputError(
            "the pattern has no group '{}'; expected (?<{}>…){}", util::printable(place, 80),
            util::printable(place, 80),
            util::did_you_mean(place, {pattern.groups().begin(), pattern.groups().end()}));
    }
    for (const std::string& group : pattern.groups()) {
        const auto& named = places.all();
        if (std::ranges::find(named, group) == named.end()) {
            complete.axes.emplace_back(group, group);
        }
    }
    return complete;
}

}  // namespace

void check_pattern(const Layout& reading) {
    completed(reading, Pattern(reading.rows));
}

Results read_matches(std::string_view text, const Layout& reading, const KnownRows* known) {
    const Pattern pattern(reading.rows);
    Table table(completed(reading, pattern, known), Table::Numbers::are_text, known);
    const re2::RE2& expression = pattern.expression();
    struct Group {
        int number = 0;
        bool is_value = false;
    };
    std::vector<Group> groups;
    for (const std::string& place : table.places().all()) {
        groups.push_back(
            {expression.NamedCapturingGroups().at(place),
             std::ranges::find(reading.values, place, &Value::from) != reading.values.end()});
    }
    std::vector<re2::StringPiece> found(
        static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1);
    const re2::StringPiece all(text.data(), text.size());
    std::size_t at = 0;
    std::size_t line = 1;
    std::size_t counted = 0;
    while (at <= text.size() && !table.is_full() &&
           expression.Match(all, at, text.size(), re2::RE2::UNANCHORED, found.data(),
                            static_cast<int>(found.size()))) {
        const auto begin = static_cast<std::size_t>(found.front().data() - text.data());
        line += static_cast<std::size_t>(
            std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                       text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
        counted = begin;
        Row row;
        row.at = fmt::format("line {}", line);
        for (const Group& group : groups) {
            // One that took no part in the match is empty.
            const re2::StringPiece& piece = found[static_cast<std::size_t>(group.number)];
            const std::string matched(piece.data() == nullptr ? "" : piece.data(), piece.size());
            Cell& cell = row.cells.emplace_back(Cell{{matched}});
            cell.is_part =
                group.is_value && !matched.empty() && is_part_of_number(text, piece, found);
        }
        table.add(std::move(row));
        at = begin + std::max<std::size_t>(found.front().size(), 1);
    }
    return table.take();
}

Results read_lines_of_text(std::string_view text, std::string_view /*source*/,
                           const Layout& reading) {
    const std::string shown = as_shown(text);
    Results results = read_matches(shown, reading);
    if (results.results.empty()) {
        throw util::InputError("the pattern '{}' matches nothing",
                               util::printable(reading.rows, 80));
    }
    return results;
}

}  // namespace perfgate::benchmark
