// SPDX-License-Identifier: Apache-2.0
// Judges the gate by a self-test: cases were slowed down by sizes that the gate did not know, and
// its verdicts are compared with these sizes. Pure functions of documents.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/verdict.hpp"

namespace perfgate::gate {

/// Suite and id.
using CaseName = std::pair<std::string, std::string>;

/// A run in which the cases had more work, and the gate's verdict.
struct Trial {
    std::map<CaseName, double> added;  ///< fraction by case
    model::VerdictDocument verdict;
};

/// The verdicts of the cases that had one size.
struct SizeTally {
    double size = 0;
    std::size_t cases = 0, regressed = 0, inconclusive = 0, improved = 0, passed = 0;
    std::size_t unjudged = 0;  ///< could not be measured, or invalid because of the environment

    bool operator==(const SizeTally&) const = default;
};

struct CaseTally {
    CaseName name;
    /// The minimum detectable change that the gate reported, the mean of its trials; absent: none.
    std::optional<double> minimum_detectable_change;
    std::map<double, model::Verdict> by_size;
};

/// The smallest size such that it and all larger ones were reported as regressed; absent: none.
std::optional<double> found_from(const CaseTally& of_case);

struct SelfTestReport {
    std::vector<SizeTally> sizes;  ///< by size
    std::vector<CaseTally> cases;  ///< in the order of the first trial
    /// Sizes at or above a case's minimum detectable change, and how many of them were reported as
    /// regressed.
    std::size_t promised = 0, kept = 0;
    /// The share of these that the gate finds, at least, with 95 % confidence; 0 if none was tried.
    double at_least = 0;
    /// There were slowdowns, and none was as large as what the gate claims: nothing is proved.
    bool proves_nothing = false;
    /// Fewer than promised_share of these were found, which may be chance.
    bool not_shown = false;
    std::size_t unjudged = 0;           ///< as in SizeTally, in all
    std::vector<std::string> problems;  ///< why the gate is not reliable, a sentence each
};

/// How often a change of the minimum detectable size is to be found.
inline constexpr double promised_share = 0.9;

/// Tallies the trials, without skipped cases. Problems are: a case without more work that is
/// regressed or improved; slowdowns at or above the minimum detectable change that are found
/// significantly (5 %) less often than nine times out of ten; an exit code that contradicts the
/// verdicts; no case judged at all.
SelfTestReport tally(const std::vector<Trial>& trials);

}  // namespace perfgate::gate
