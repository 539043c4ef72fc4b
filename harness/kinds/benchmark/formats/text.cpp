// SPDX-License-Identifier: Apache-2.0
// Any text, by a pattern that the suite states: each match is a row, each named group a place.
#include "kinds/benchmark/formats/table.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
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
    std::vector<int> groups;
    for (const std::string& place : table.places().all()) {
        groups.push_back(expression.NamedCapturingGroups().at(place));
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
        for (const int group : groups) {
            // One that took no part in the match is empty.
            const re2::StringPiece& piece = found[static_cast<std::size_t>(group)];
            row.cells.push_back(
                {{std::string(piece.data() == nullptr ? "" : piece.data(), piece.size())}});
        }
        table.add(std::move(row));
        at = begin + std::max<std::size_t>(found.front().size(), 1);
    }
    return table.take();
}

Results read_lines_of_text(std::string_view text, std::string_view /*source*/,
                           const Layout& reading) {
    Results results = read_matches(text, reading);
    if (results.results.empty()) {
        throw util::InputError("the pattern '{}' matches nothing",
                               util::printable(reading.rows, 80));
    }
    return results;
}

}  // namespace perfgate::benchmark
