// SPDX-License-Identifier: Apache-2.0
// The rules: what a change of counters suggests. Rows of a table (rules.cpp); README.md says how
// one is added and where the thresholds come from.
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

/// One metric's part in a rule, told for a case that got worse: for one that got better before and
/// after change places.
struct Condition {
    std::string_view metric;  ///< of the catalogue, or one that evidence.hpp names
    Move move = Move::rises;
    double fraction = 0;  ///< of the value before: less is noise
    double amount = 0;    ///< in the metric's unit: less is noise or does not matter
    /// Of the change in time, both as logarithms of ratios: less does not explain it.
    double share_of_time = 0;
    /// Bounds of the larger of both values.
    double peak_above = 0;
    double peak_up_to = std::numeric_limits<double>::infinity();
};

/// Holds where all of `when` hold. A metric that is not known holds nothing: what was not measured
/// is no evidence.
struct Rule {
    /// Of rows with the same name the one is told whose first metric moved furthest.
    std::string_view name;
    std::vector<Condition> when;       ///< cited; those that say what did not move too
    std::string_view worse, better;    ///< what happened, in a few words
    std::string_view meaning = {};     ///< what follows where it got worse: a cause or a remedy
    std::vector<Condition> also = {};  ///< cited where they hold as well
    std::vector<std::string_view> unless = {};  ///< not told where one of these rules is
};

/// In the order in which they are told; a rule in `unless` stands before those that name it.
std::span<const Rule> rules();

}  // namespace perfgate::explain
