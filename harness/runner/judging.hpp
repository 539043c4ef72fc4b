// SPDX-License-Identifier: Apache-2.0
// Asking the gate about a run, with the stored baselines.
#pragma once

#include <vector>

#include "gate/baseline_set.hpp"
#include "gate/rule.hpp"
#include "model/case_index.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "runner/choice.hpp"
#include "runner/reports.hpp"

namespace perfgate::runner {

/// Judges the current run, and explains what changed. Throws util::InputError for a baseline that
/// cannot be used.
model::VerdictDocument judge_run(const model::Run& run, const JudgingChoice& choice);

/// Writes the reports of what judge_run() returned, with commands for what can be accepted. As
/// write_reports.
int report_verdict(const model::VerdictDocument& document, const model::Run& run,
                   const JudgingChoice& choice, OutputOptions reports);

/// Judges, and writes the reports. Returns the exit code.
int judge_and_report(const model::Run& run, const JudgingChoice& choice,
                     const OutputOptions& reports);

/// Proves on the run's documents that each gate can fail, and says so on standard error
/// (gate/proof.hpp). 0, or 3 if one cannot or fails when it should not; also 0 if it is not asked
/// for, or the run was interrupted or only verified.
int prove_gates(const model::Run& run, const JudgingChoice& choice);

/// The cases that the gate flags in a run so far: they are worth being measured again.
std::vector<model::CaseIndex> flagged_cases(const model::Run& run,
                                            const gate::BaselineSet& baselines,
                                            const model::Policy& policy, const gate::Rule& rule);

/// The same with the stored baselines. None if one cannot be used: judge_run reports that after the
/// run is stored.
std::vector<model::CaseIndex> flagged_by_baselines(const model::Run& run,
                                                   const JudgingChoice& choice);

/// The cases that do not pass yet: more processes may decide them. Those without a baseline are
/// among them, because their values may become one. All if a baseline cannot be used.
std::vector<model::CaseIndex> unsettled_by_baselines(const model::Run& run,
                                                     const JudgingChoice& choice);

}  // namespace perfgate::runner
