// SPDX-License-Identifier: Apache-2.0
// What a self-test makes of the gate: cases were made slower by known sizes that the gate was not
// told, and here its verdicts are held against them. A pure function of documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// Suite and id.
using CaseName = std::pair<std::string, std::string>;

/// For each case the order in which it gets the sizes, one a trial: all of them once, in an order
/// of its own. `[case][trial]` is an index into the sizes.
std::vector<std::vector<std::size_t>> deal_sizes(std::size_t cases, std::size_t sizes,
                                                 std::uint64_t seed);

/// Makes a plan one of times alone: each case keeps the first time that it measures (gpu_time,
/// gpu_span, host_time), gated with `tolerance` in both directions; relations are left out. Cases
/// that measure no time are left out too.
void keep_times_alone(model::Plan& plan, double tolerance);

/// Takes from a run what says that the code has not changed: to a self-test's gate it has, though
/// not by anything that machine code shows.
void forget_code(model::Run& run);

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
