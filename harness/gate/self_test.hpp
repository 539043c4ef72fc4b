// SPDX-License-Identifier: Apache-2.0
// Judges the gate by measurements that were made slower. A self-test slows cases down by sizes that
// the gate does not know, and compares its verdicts with these sizes. A canary is one quick case of
// a run that is measured once more, slowed down by twice what the gate claims to detect of it: if
// the gate does not report that as a regression, its passes for the other cases prove nothing. Pure
// functions of documents.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gate/baseline_set.hpp"
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

struct Canary {
    std::string suite;
    std::string id;
    std::string metric;  ///< a time that the suite gates
    double added = 0;    ///< as model::PlannedCase has it: twice what the gate claims to detect
    std::size_t processes = 0;  ///< to measure it in; 0: no number of them lets the gate fail
    BaselineSet baselines;      ///< the case as measured by the run
};

/// How many processes the rank-sum test needs for this level against so many; 0: more than a canary
/// may take.
std::size_t processes_of_canary(std::size_t against, double level);

/// The result in one sentence. `found`: both verdict and exit code report a regression.
struct CanaryResult {
    bool found = false;
    std::string sentence;
};
CanaryResult judge_canary(const Canary& canary, const model::VerdictDocument& verdict);

}  // namespace perfgate::gate
