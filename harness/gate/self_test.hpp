// SPDX-License-Identifier: Apache-2.0
// Judges the gate by a self-test: cases were made slower by known sizes, which the gate did not
// know, and its verdicts are compared with them. Pure functions of documents.
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

/// A run in which the cases had more work, and what the gate said of it.
struct Trial {
    std::map<CaseName, double> added;  ///< fraction by case
    model::VerdictDocument verdict;
};

/// What was said of the cases that had one size.
struct SizeTally {
    double size = 0;
    std::size_t cases = 0, regressed = 0, inconclusive = 0, improved = 0, passed = 0;
    std::size_t unjudged = 0;  ///< could not be measured, or spoilt by the environment

    bool operator==(const SizeTally&) const = default;
};

struct CaseTally {
    CaseName name;
    /// The least change that the gate claimed to see, the mean of its trials; absent: no claim.
    std::optional<double> minimum_detectable_change;
    std::map<double, model::Verdict> by_size;
};

/// The smallest size from which on every size was called regressed; absent: there is none.
std::optional<double> found_from(const CaseTally& of_case);

struct SelfTestReport {
    std::vector<SizeTally> sizes;  ///< by size
    std::vector<CaseTally> cases;  ///< in the order of the first trial
    /// Sizes at or above what a case's line claims to see nine times out of ten, and those of them
    /// that were called regressed.
    std::size_t promised = 0, kept = 0;
    std::size_t unjudged = 0;           ///< as of the sizes, in all
    std::vector<std::string> problems;  ///< what makes the gate not believable, a sentence each
};

/// Tallies the trials; cases that were skipped take no part. A problem is: a case without more work
/// called regressed or improved; promises kept more rarely than nine in ten by more than chance (1
/// %); an exit code that does not say what the verdicts say; no case judged at all.
SelfTestReport tally(const std::vector<Trial>& trials);

}  // namespace perfgate::gate
