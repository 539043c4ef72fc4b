// SPDX-License-Identifier: Apache-2.0
// Conditions between the cases of one suite, judged on the values of one run, without a baseline. A
// pure function of the run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/relation.hpp"
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

using CasesById = std::map<std::string, const model::CaseResult*>;
CasesById by_id(const model::SuiteResult& suite);

/// A relation with one of its instances, and the cases of it.
model::SuiteResult alone(const CasesById& cases, const model::Relation& relation,
                         const std::vector<std::string>& instance);
/// The verdict of the only relation and instance of this suite; `skipped` if it has none.
model::Verdict verdict_of_lone(const model::Run& run, const model::SuiteResult& only);

}  // namespace perfgate::gate
