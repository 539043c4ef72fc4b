// SPDX-License-Identifier: Apache-2.0
// --changed-only: one launch of each case shows whether it needs to be measured; what the first
// process launched, if it is a program's.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gate/baseline_set.hpp"
#include "measure/session.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::runner {

/// The ids of cases.
std::set<std::string> named_by_relations(const model::SuiteResult& suite);

/// Skips cases with the code and inputs of these baselines, unless a relation needs them:
/// it has another case that may have changed, or does not hold on the baseline's values. Call it
/// before anything is measured.
void leave_out_unchanged(measure::Session& session, const model::Plan& plan,
                         const gate::BaselineSet& baselines);

/// The measured cases of programs that one process of each shows: each instance launches what the
/// baseline's does, and no other time is gated. Whether their values pass is not asked.
std::vector<model::CaseIndex> shown_by_launches(const model::Run& run, const model::Plan& plan,
                                                const gate::BaselineSet& baselines);

}  // namespace perfgate::runner
