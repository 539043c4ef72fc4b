// SPDX-License-Identifier: Apache-2.0
// The rule that gates: a change counts where it is beyond the tolerance and the spread between
// processes does not explain it, at a level that keeps the false alarms of the whole run within
// the policy's budget. harness/gate/README.md argues for each part.
#pragma once

#include <cstdint>
#include <vector>

#include "gate/rule.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// - A batch (one process) counts as one value: the mean of its samples without a tenth at either
///   end.
/// - Where the baseline has one process, how far processes lie apart is not known: the tolerance
///   alone decides, as in judge_medians().
/// - An `exact` metric whose baseline's processes all agreed is compared to the tolerance as it
///   stands; one that varied there is judged like a `counter`.
/// - Else the change has to be beyond the tolerance *and* significant: by the exact rank-sum test
///   of the processes, or, with too few processes for it to reach the level, by Student's t with a
///   spread that is never taken for smaller than what is known of its class.
/// - Where batches of a later round exist, they alone are the measured ones.
class BatchRule final : public Rule {
  public:
    explicit BatchRule(const model::Policy& policy);

    std::vector<Judgement> judge(std::span<const Comparison> comparisons) const override;

  private:
    double false_alarms_;
    std::int64_t rounds_;
};

/// The batches that count: not excluded, and of the rounds after the first where there are any.
std::vector<const model::Batch*> batches_in_use(const model::MetricSeries& series);

/// One value for each of them: what BatchRule judges. A series without batches has its value;
/// empty where every batch was excluded.
std::vector<double> batch_values(const model::MetricSeries& series);

/// Whether the processes of a baseline's timing disagree by more than the tolerance: judged against
/// the better half of them alone, the baseline itself would be beyond it. What the gate compares
/// with is then no longer what most processes do, and a regression of twice the tolerance passes. A
/// tolerance below 1 % counts as 1 %: so much times spread anyway.
bool disagrees(const model::MetricDefinition& definition, const model::MetricSeries& series,
               const model::Tolerance& tolerance);
inline constexpr const char* disagreement_words =
    "the baseline's processes disagree by more than the tolerance, so that it hides regressions: "
    "record it anew with 'perfgate baseline refresh' while nothing else uses the machine";

/// Whether the series has several processes, and all of them have the same value.
bool repeats(const model::MetricSeries& series);

}  // namespace perfgate::gate
