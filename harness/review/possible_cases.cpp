// SPDX-License-Identifier: Apache-2.0
#include "review/possible_cases.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "util/text.hpp"

namespace perfgate::review {

namespace {

using suite::Override;
using suite::Suite;
using suite::SuiteCase;

constexpr std::size_t most_patterns = 100;

/// Whether all that `pattern` matches is matched by `wider`, too; may miss it where `wider` has a
/// '?'. A '*' of the pattern can only stand where `wider` has one.
bool covers(const std::string& wider, const std::string& pattern) {
    return wider == pattern ||
           (wider.find('?') == std::string::npos && util::glob_match(wider, pattern));
}

void add_patterns(const Suite& suite, const SuiteCase& unknown, std::set<std::string>& patterns) {
    for (const Override& over : suite.overrides) {
        if (util::glob_may_match(over.match, unknown.spec.workload + '/')) {
            patterns.insert(over.match);
        }
    }
}

/// Whether some text matches both patterns.
bool globs_overlap(std::string_view a, std::string_view b) {
    // Whether the rest of `a` from the current place overlaps the rest of `b` from each place.
    std::vector<char> below(b.size() + 1);
    std::vector<char> here(b.size() + 1);
    for (std::size_t i = a.size() + 1; i-- > 0;) {
        for (std::size_t j = b.size() + 1; j-- > 0;) {
            const bool more_a = i < a.size();
            const bool more_b = j < b.size();
            const bool star_a = more_a && a[i] == '*';
            const bool star_b = more_b && b[j] == '*';
            bool overlap = !more_a && !more_b;
            if (star_a) overlap = below[j] != 0 || (more_b && here[j + 1] != 0);
            if (star_b) overlap = overlap || here[j + 1] != 0 || (more_a && below[j] != 0);
            if (more_a && more_b && !star_a && !star_b) {
                overlap = (a[i] == b[j] || a[i] == '?' || b[j] == '?') && below[j + 1] != 0;
            }
            here[j] = overlap ? 1 : 0;
        }
        std::swap(here, below);
    }
    return below[0] != 0;
}

/// The case with the suite's overrides that match whatever all of these patterns match.
SuiteCase with_overrides(const Suite& suite, const SuiteCase& unknown,
                         const std::vector<std::string>& patterns) {
    SuiteCase possible = unknown;
    possible.overrides.clear();
    for (const Override& over : suite.overrides) {
        if (std::ranges::any_of(patterns, [&](const std::string& pattern) {
                return covers(over.match, pattern);
            })) {
            possible.overrides.push_back(&over);
        }
    }
    return possible;
}

}  // namespace

std::optional<std::vector<PossibleCase>> possible_cases(const Suite& before,
                                                        const SuiteCase& old_case,
                                                        const Suite& after,
                                                        const SuiteCase& new_case) {
    std::set<std::string> patterns;
    add_patterns(before, old_case, patterns);
    add_patterns(after, new_case, patterns);
    if (patterns.size() > most_patterns) return std::nullopt;
    std::vector<PossibleCase> possible;
    const auto add = [&](std::string id, const std::vector<std::string>& of) {
        PossibleCase& added = possible.emplace_back();
        added.id = std::move(id);
        added.of_two = of.size() > 1;
        added.before = with_overrides(before, old_case, of);
        added.after = with_overrides(after, new_case, of);
        added.line = new_case.at.line;
        for (const Override* over : added.after.overrides) {
            if (over->match == of.back()) added.line = over->at.line;
        }
    };
    for (const std::string& pattern : patterns) add(pattern, {pattern});
    for (auto one = patterns.begin(); one != patterns.end(); ++one) {
        for (auto other = std::next(one); other != patterns.end(); ++other) {
            if (covers(*one, *other) || covers(*other, *one) || !globs_overlap(*one, *other)) {
                continue;
            }
            add(*one + " and " + *other, {*one, *other});
        }
    }
    return possible;
}

}  // namespace perfgate::review
