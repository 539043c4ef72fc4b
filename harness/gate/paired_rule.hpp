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
/// - It must be beyond the tolerance *and* significant: by the exact signed-rank test of the
///   differences, or, if there are too few pairs for it to reach the level, by Student's t-test
///   with a spread that is never assumed smaller than what is known for its class.
/// - Levels, flagging and rounds are those of BatchRule, which also judges what has fewer than two
///   pairs (counts, counters).
class PairedRule final : public Rule {
  public:
    explicit PairedRule(const model::Policy& policy) : policy_(policy) {}

    std::vector<Judgement> judge(std::span<const Comparison> comparisons) const override;

  private:
    model::Policy policy_;
};

}  // namespace perfgate::gate
