// SPDX-License-Identifier: Apache-2.0
// Plants regressions and has the gate itself judge them by two states of a baseline: what the
// earlier one fails and the later one lets pass was weakened, whichever of the many things that the
// gate reads was edited.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/baseline.hpp"
#include "review/expectations.hpp"

namespace perfgate::review {

using Place = std::pair<std::string, std::string>;  ///< a case and a metric

/// What was planted and its verdict, before and after, in words.
struct Weakened {
    std::string before, after;
};

/// The boards that measured a case, by their names in the baseline.
std::set<std::string> boards_of(const model::BaselineCase& expected);

/// The boards of both baselines, those of the earlier one first.
std::vector<std::string> boards_of(const model::Baseline& before, const model::Baseline& after);

/// Regressions are planted on so many of them at most.
inline constexpr std::size_t most_boards = 32;

/// The first planted regression that some policy fails by the earlier baseline and not by the later
/// one. For cases and metrics that both have, with the same unit and method.
/// Cases that only the later one has, by `later_gates`, are judged beside them: what sessions
/// differ by is learned from all.
std::map<Place, Weakened> weakened(const model::Baseline& before, const model::Baseline& after,
                                   const std::map<std::string, CaseGates>& gates,
                                   const std::map<std::string, CaseGates>& later_gates);

}  // namespace perfgate::review
