// SPDX-License-Identifier: Apache-2.0
// The problems of a YAML file: collected with their locations and reported all at once.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace perfgate::suite {

/// Line and column from 1; columns count bytes. Line 0: not from a file.
struct Position {
    std::int64_t line = 1;
    std::int64_t column = 1;

    bool operator==(const Position&) const = default;
    friend bool operator<(const Position& a, const Position& b) {
        return std::tie(a.line, a.column) < std::tie(b.line, b.column);
    }
};

/// The problems of one file. Each is a line `file:line:column: message; expected …`; equal lines
/// are reported once.
class Problems {
  public:
    /// At most this many are reported; the rest is counted.
    static constexpr std::size_t most_reported = 50;

    explicit Problems(std::string_view file);

    void add(Position at, std::string message);
    template <class First, class... Rest>
    void add(Position at, fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
        add(at, fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...));
    }

    /// "unknown WHAT 'name'; expected one of …; did you mean 'x'?" `expected` replaces the list of
    /// candidates if that is long or open.
    void add_unknown(Position at, std::string_view what, std::string_view name,
                     const std::vector<std::string>& candidates, std::string_view expected = {});

    /// Grows with every problem that is added, also with one that is already known.
    std::size_t count() const { return added_; }

    /// Throws util::InputError with one line per problem, sorted by place.
    void throw_if_any() const;

    /// For a problem after which reading cannot continue: adds it and throws all.
    [[noreturn]] void fail(Position at, std::string message);
    template <class First, class... Rest>
    [[noreturn]] void fail(Position at, fmt::format_string<First, Rest...> text, First&& first,
                           Rest&&... rest) {
        fail(at, fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...));
    }

  private:
    std::string text() const;

    std::string file_;
    std::set<std::pair<Position, std::string>> problems_;
    std::size_t added_ = 0;
};

/// The candidates for Problems::add_unknown, from values or pointers that have a name.
template <typename Infos>
std::vector<std::string> names_of(const Infos& infos) {
    std::vector<std::string> names;
    names.reserve(infos.size());
    for (const auto& info : infos) {
        if constexpr (requires { info.name; }) {
            names.push_back(info.name);
        } else {
            names.push_back(info->name);
        }
    }
    return names;
}

/// Text from the file as messages quote it: one line, printable, not too long.
std::string in_quotes(std::string_view text);

/// Bounds the total cost of cases × overrides, cases × metrics and combinations × rules: each
/// factor is bounded, their product is not. A step is well below a microsecond.
class Work {
  public:
    explicit Work(Problems& problems) : problems_(problems) {}

    void spend(std::size_t steps, Position at) {
        steps_ += steps;
        if (steps_ <= most_steps) return;
        problems_.fail(at,
                       "too many overrides, metrics, relations or matrix rules for this many "
                       "cases; expected a smaller suite: split it");
    }

  private:
    static constexpr std::size_t most_steps = 2'000'000;
    Problems& problems_;
    std::size_t steps_ = 0;
};

}  // namespace perfgate::suite
