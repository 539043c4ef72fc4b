// SPDX-License-Identifier: Apache-2.0
// Regressions that were acknowledged until a date. They do not fail a run that began on or before
// that day (UTC), unless they got worse or may have.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gate/case_verdict.hpp"
#include "gate/rule.hpp"
#include "gate/settle.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

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

/// One answer for each metric, whose judgements by `rule` are in the same order. Of those that may
/// be a regression and have an acknowledgement with their unit and method, `rule` judges a second
/// comparison, with the acknowledged value. A metric is acknowledged if that passes, and if the
/// last day of the acknowledgement is at most the policy's `acknowledgement_days` ahead. If the
/// acknowledged values are of one process, the tolerance alone decides.
std::vector<Acknowledged> acknowledgements(std::span<const Pending> pending,
                                           std::span<const Judgement> judgements, const Rule& rule,
                                           const model::Run& run, const model::Policy& policy);

/// What the decision about a metric becomes in view of its acknowledgement. One that is invalid
/// stays so.
Decision acknowledge(Decision decision, const Acknowledged& known);

}  // namespace perfgate::gate
