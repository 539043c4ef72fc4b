// SPDX-License-Identifier: Apache-2.0
// The rule for two builds that were measured back to back: the processes form pairs, one of each
// build right after the other, so that whatever affects both equally (drift, temperature, clocks)
// cancels out.
#pragma once

#include <vector>

#include "gate/rule.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// - The nth process of a round of one series and the nth of the other form a pair. A pair does not
///   count if one of the two is excluded.
/// - The change is the trimmed mean of the pairs' differences: `measured` is the base's value and
///   that change.
/// - The exact signed-rank test of the differences must show that it is beyond the tolerance. With
///   too few pairs for the test to reach the level, a time is not regressed.
/// - Levels, flagging and rounds are those of BatchRule, which also judges `exact` metrics whose
/// base
///   processes all agreed, and what has fewer than two pairs (counts, counters). Both share one
///   budget.
class PairedRule final : public Rule {
  public:
    explicit PairedRule(const model::Policy& policy) : policy_(policy) {}

    std::vector<Judgement> judge(std::span<const Comparison> comparisons) const override;

  private:
    model::Policy policy_;
};

}  // namespace perfgate::gate
