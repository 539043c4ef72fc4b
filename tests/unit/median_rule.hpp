// SPDX-License-Identifier: Apache-2.0
// The simplest rule, for tests of what stands around a rule.
#pragma once

#include <span>
#include <vector>

#include "gate/rule.hpp"

namespace perfgate::gate {

/// judge_medians() for each.
class MedianRule final : public Rule {
  public:
    std::vector<Judgement> judge(std::span<const Comparison> comparisons) const override {
        std::vector<Judgement> judgements;
        judgements.reserve(comparisons.size());
        for (const Comparison& comparison : comparisons) {
            judgements.push_back(judge_medians(comparison));
        }
        return judgements;
    }
};

}  // namespace perfgate::gate
