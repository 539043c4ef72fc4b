// SPDX-License-Identifier: Apache-2.0
// Cases that stored values cannot decide on a board that their baseline does not know: their base
// is measured here, back to back with them, and the gate judges the pairs.
#pragma once

#include <map>

#include "measure/session.hpp"
#include "model/kernel_code.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"
#include "runner/choice.hpp"
#include "runner/devices.hpp"
#include "runner/judging.hpp"

namespace perfgate::runner {

struct SettledCase {
    model::Settled settled;
    /// The case's own processes beside its base: measured, or how they failed, and why.
    model::CaseStatus status = model::CaseStatus::measured;
    std::string reason;
};
using SettledCases = std::map<model::CaseIndex, SettledCase>;

/// Measures the base of each case that the judge cannot decide in the run so far, if it is at hand:
/// a build that `choice.builds` keeps, or the case's own build where it is the baseline's. A case
/// whose base is not at hand, or cannot be measured, says why. Interrupts the session if the user
/// interrupts.
SettledCases settle_here(const MeasuringChoice& choice, const OpenedBackend& backend,
                         const model::Plan& plan, const Judge& judge, const model::Run& so_far,
                         measure::Session& session);

/// The machine code of the bases of these cases that are at hand: builds that `choice.builds`
/// keeps. A case whose base is not has the reason. Nothing is settled.
std::vector<model::CaseCode> code_of_bases(const MeasuringChoice& choice,
                                           const OpenedBackend& backend, const model::Plan& plan,
                                           const Judge& judge, const model::Run& run,
                                           const std::vector<model::CaseIndex>& cases);

/// Tells the run what was settled, or why it was not. A case that failed beside its base has
/// failed.
void add_settled(const SettledCases& settled, model::Run& run);

/// Keeps the builds that a run's cases were measured with, if `choice.builds` names a folder; with
/// `baselines` only those that these know. What cannot be kept is said on standard error.
void keep_builds(const MeasuringChoice& choice, const OpenedBackend& backend,
                 const model::Plan& plan, const model::Run& run,
                 const gate::BaselineSet* baselines = nullptr);

}  // namespace perfgate::runner
