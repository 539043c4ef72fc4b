// SPDX-License-Identifier: Apache-2.0
// The rule that gates: a change counts if it is beyond the tolerance and the spread between
// processes does not explain it, at a level that keeps the false alarms of the whole run within the
// policy's budget. harness/gate/README.md gives the reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gate/rule.hpp"
#include "gate/series.hpp"
#include "model/verdict.hpp"
#include "stats/drift.hpp"

namespace perfgate::gate {

/// - A batch (one process) counts as one value: the mean of its samples without a tenth at either
///   end.
/// - If the baseline has one process, the spread between processes is not known: the tolerance
///   alone decides, as in judge_by_tolerance().
/// - An `exact` metric whose baseline processes all agreed is compared with the tolerance alone:
///   the run's worst process, in the metric's direction; without one, the farthest. One that varied
///   is judged like a `counter`.
/// - Otherwise the processes must show that the change is beyond the tolerance. Times: by the exact
///   rank-sum test; with too few processes for it to reach the level, a time is not regressed.
///   Counters: where the test cannot reach it, by Student's t-test. Their spread is that of their
///   collections, moderated by that of all cases of the suite with the metric.
/// - If there are batches of a later round, only they are used; by the test of a counter all are,
///   and its change is that of the later ones.
class BatchRule : public Rule {
  public:
    /// `other_tests` share the budget and are judged elsewhere. `drifts`, by metric: what is
    /// learned from the whole suite, where comparisons of one of its cases are judged alone.
    explicit BatchRule(const model::Policy& policy, std::size_t other_tests = 0,
                       std::map<std::string, stats::Drift> drifts = {});

    std::vector<Judgement> judge(std::span<const Comparison> comparisons) const override;

  protected:
    BatchRule(const model::Policy& policy, Processes processes);

  private:
    Processes processes_ = Processes::alone;
    double false_alarms_;
    std::int64_t rounds_;
    std::size_t other_tests_;
    std::map<std::string, stats::Drift> drifts_;
};

/// The same for two builds that were measured back to back: whatever affects both processes of a
/// pair (drift, temperature, clocks) cancels out.
/// - The nth process of a round of one series and the nth of the other form a pair. A pair does not
///   count if one of the two is excluded.
/// - The change is the trimmed mean of the pairs' differences: `measured` is the base's value and
///   that change.
/// - The exact signed-rank test of the differences takes the place of the rank-sum test.
/// - `exact` metrics whose base processes all agreed, and what has fewer than two pairs (counts,
///   counters), are judged as by BatchRule. Both share one budget.
class PairedRule final : public BatchRule {
  public:
    explicit PairedRule(const model::Policy& policy);
    bool judges_pairs() const override { return true; }
};

/// What each comparison's sessions differ by, or its boards where the measured one is new and the
/// baseline has three or more. Learned from the comparisons of its suite with the same metric.
std::vector<stats::Drift> drifts_of(std::span<const Comparison> comparisons);

/// How many of the comparisons BatchRule judges by a test, which takes a share of the budget.
std::size_t tests_by_spread(std::span<const Comparison> comparisons);

/// Whether the processes of a baseline's timing disagree by more than the tolerance: judged against
/// the better half of its own processes, the baseline would be beyond it. Then the reference value
/// does not describe most processes, and a regression of twice the tolerance passes. A tolerance
/// below 1 % counts as 1 %, because times spread by that much anyway.
bool disagrees(const model::MetricDefinition& definition, const model::MetricSeries& series,
               const model::Tolerance& tolerance);
inline constexpr const char* disagreement_words =
    "the baseline's processes disagree by more than the tolerance, so that it hides regressions: "
    "measure it again while nothing else uses the machine (a stored one with 'perfgate baseline "
    "refresh SUITE')";

}  // namespace perfgate::gate
