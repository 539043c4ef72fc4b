// SPDX-License-Identifier: Apache-2.0
// Regressions that were acknowledged until a date. They do not fail a run that began on or before
// that day (UTC), unless they got worse or may have.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gate/rule.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// A comparison that may be a regression, and its acknowledgement.
struct AcknowledgedComparison {
    const Comparison* comparison = nullptr;
    const model::CaseResult* result = nullptr;
    const model::Acknowledgement* acknowledgement = nullptr;
};

/// What an acknowledgement makes of a regression.
enum class Standing {
    fails,         ///< there is none that applies, or it got worse
    acknowledged,  ///< it passes against the acknowledged value
    unclear,       ///< it may be worse than that: the processes do not show it
    impossible,    ///< the same, by so much that it must not pass whatever the policy
};

struct Acknowledged {
    Standing standing = Standing::fails;
    bool measure_again = false;                  ///< more processes could show whether it is worse
    model::Doubt doubt = model::Doubt::unclear;  ///< of `unclear`
    std::string words;                           ///< the explanation, in one clause
    std::string ends_soon = {};                  ///< a warning if it ends within days
};

/// One answer for each comparison, in order. `started_at` is the run's. A comparison is
/// acknowledged if it passes against the acknowledged values by its tolerance and `rule`, and if
/// the last day of the acknowledgement is at most the policy's `acknowledgement_days` ahead. If the
/// acknowledged values are of one process, the tolerance alone decides.
std::vector<Acknowledged> acknowledged(std::span<const AcknowledgedComparison> comparisons,
                                       const Rule& rule, const std::string& started_at,
                                       const model::Policy& policy);

/// The judgement of a regression, settled, in view of its acknowledgement. One that is invalid
/// stays so.
void apply_acknowledgement(const Acknowledged& known, Judgement& judgement);

}  // namespace perfgate::gate
