// SPDX-License-Identifier: Apache-2.0
// The gate: judges a Run against its baselines, per metric, case and suite, and computes the exit
// code. A pure function of documents.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "gate/baseline_set.hpp"
#include "gate/rule.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// A case's verdict is the worst of its metrics'; a case that was not measured keeps the run's
/// status. A metric that was not collected makes its case incomplete, gated or not. Cases that only
/// the baseline has are `missing`, unless the suite is partial or the run was interrupted. So are
/// those of baselines whose suite the run does not have, if the policy is `complete`.
///
/// The exit code is 130 for an interrupted run and 2 if no selected case was measured. Throws
/// InputError for a run without cases, for a baseline of another device (naming the field) or
/// another suite, and for a gated metric that the run does not define.
model::VerdictDocument judge(const model::Run& run, const BaselineSet& baselines,
                             const model::Policy& policy, const Rule& rule);

/// The cases to measure again in fresh processes before anything is reported, in the run's order;
/// none where `policy.rounds` are done, and none in a run that was interrupted. What is measured
/// for them joins the run as batches of the next round (model::Batch::round); then ask again. The
/// verdict uses only the new batches: the first ones were selected for being slow. Throws as
/// judge() does.
std::vector<model::CaseIndex> flagged(const model::Run& run, const BaselineSet& baselines,
                                      const model::Policy& policy, const Rule& rule);

/// Flagged cases of which every process is slower than each of the baseline's: with so many in the
/// usual run no round is needed (Judgement::first_look_processes). Throws as judge() does.
std::map<model::CaseIndex, std::size_t> first_looks(const model::Run& run,
                                                    const BaselineSet& baselines,
                                                    const model::Policy& policy, const Rule& rule);

/// The cases with a time that the gate flags, or does not show, on a board that their baseline does
/// not know, in the run's order: measuring their base on that board would decide (model::Settled).
/// Not those of which all that makes the time is the baseline's. Throws as judge() does.
std::vector<model::CaseIndex> undecided_on_board(const model::Run& run,
                                                 const BaselineSet& baselines,
                                                 const model::Policy& policy, const Rule& rule);

}  // namespace perfgate::gate
