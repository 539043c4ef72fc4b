// SPDX-License-Identifier: Apache-2.0
// What a suite states of its own cases against each other, judged on one run's values; no baseline
// takes part. A pure function of the run.
#pragma once

#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// One verdict per relation and instance, in the run's order: `regressed` where the relation is
/// broken, `pass` where it holds. Where a case was skipped, or a metric is none of this chip's, it
/// is `skipped` with that reason, and so it is where a selection left a case out. Where a case or
/// metric was not measured for any other reason it is an `error`: what nobody measured does not
/// hold. Instances of which the run has no case at all are left out. A run that only verified has
/// no verdicts.
std::vector<model::RelationVerdict> judge_relations(const model::Run& run,
                                                    const model::SuiteResult& suite);

}  // namespace perfgate::gate
