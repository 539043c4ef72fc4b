// SPDX-License-Identifier: Apache-2.0
// The rule for two builds that were measured back to back: the processes are pairs, one of each
// build right after the other, and what hits both alike (drift, temperature, a clock) falls out of
// their differences.
#pragma once

#include <vector>

#include "gate/rule.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// - The nth process of a round of the one series and the nth of the other are a pair; a pair of
///   which one is excluded counts for nothing.
/// - The change is the trimmed mean of the pairs' differences: `measured` is the base's value and
///   that change.
/// - It has to be beyond the tolerance *and* significant: by the exact signed-rank test of the
///   differences, or, with too few pairs for it to reach the level, by Student's t with a spread
///   that is never taken for smaller than what is known of its class.
/// - Levels, flagging and rounds are BatchRule's; and what has fewer than two pairs (counts,
///   counters) it judges.
class PairedRule final : public Rule {
  public:
    explicit PairedRule(const model::Policy& policy) : policy_(policy) {}

    std::vector<Judgement> judge(std::span<const Comparison> comparisons) const override;

  private:
    model::Policy policy_;
};

}  // namespace perfgate::gate
