// SPDX-License-Identifier: Apache-2.0
// The rules: what a change of counters suggests. Rows of a table (rules.cpp); README.md explains
// how to add one and where the thresholds come from.
#pragma once

#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace perfgate::explain {

enum class Move {
    rises,    ///< by more than the thresholds
    falls,    ///< by more than the thresholds
    no_rise,  ///< it is known, and does not rise by more than the thresholds
    no_fall,
};

/// A rule's condition on one metric, for a case that got worse; for one that got better, before and
/// after are swapped.
struct Condition {
    std::string_view metric;  ///< of the catalogue, or one that evidence.hpp names
    Move move = Move::rises;
    double fraction = 0;  ///< of the value before: less is noise
    double amount = 0;    ///< in the metric's unit: less is noise or does not matter
    /// A share of the change in time, both as logarithms of ratios: less cannot explain it.
    double share_of_time = 0;
    /// Bounds of the larger of both values.
    double peak_above = 0;
    double peak_up_to = std::numeric_limits<double>::infinity();
};

/// Holds if all conditions in `when` hold. A condition on an unknown metric never holds: what was
/// not measured is not evidence.
struct Rule {
    /// Several rows may have the same name: only the one whose first metric changed most is
    /// reported.
    std::string_view name;
    std::vector<Condition> when;       ///< cited, including those about what did not change
    std::string_view worse, better;    ///< what happened, in a few words
    std::string_view meaning = {};     ///< what follows if it got worse: a cause or a remedy
    std::vector<Condition> also = {};  ///< cited if they hold as well
    std::vector<std::string_view> unless = {};  ///< not reported if one of these rules is
    /// Whether it can be why a time changed. If not, it is reported behind the causes of the time,
    /// which stays unexplained if there are no others.
    bool of_time = true;
};

/// In the order in which they are reported; a rule in `unless` precedes those that name it.
std::span<const Rule> rules();

}  // namespace perfgate::explain
