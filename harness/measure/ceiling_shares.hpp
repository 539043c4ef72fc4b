// SPDX-License-Identifier: Apache-2.0
// The metric ceiling_share: per sample of a case's device time, the least time that the run's
// ceilings allow for the stated work over that time, in % (model/roofline.hpp). Pure functions.
#pragma once

#include "model/run.hpp"

namespace perfgate::measure {

/// Notes that the case asks for it: until the ceilings are known it is not collected.
void ask_for_ceiling_share(model::CaseResult& result);

/// Whether a measured case asks for it and does not have it yet.
bool asks_for_ceilings(const model::Run& run);

/// Whether a ceiling bounds any case. Programs state no work, so that only their gated bus
/// bandwidths are bounded.
bool ceilings_bound_any(const model::Run& run);

/// Computes it from run.environment.ceilings for each case that asks for it, with the batches of
/// the time. Without stated work, a time or the ceiling it remains not collected, with the reason.
void add_ceiling_shares(model::Run& run);

}  // namespace perfgate::measure
