// SPDX-License-Identifier: Apache-2.0
// Conditions between the cases of one suite, judged on the values of one run, without a baseline. A
// pure function of the run.
#pragma once

#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// One verdict per relation and instance, in the run's order: `regressed` where the relation is
/// broken, `pass` where it holds. If a case was skipped or not selected, or if the chip does not
/// have a metric, it is `skipped` with that reason. If a case or metric was not measured for any
/// other reason, it is an `error`. Instances of which the run has no case are left out. A run that
/// only verified has no verdicts.
std::vector<model::RelationVerdict> judge_relations(const model::Run& run,
                                                    const model::SuiteResult& suite);

}  // namespace perfgate::gate
