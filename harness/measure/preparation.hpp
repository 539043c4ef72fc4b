// SPDX-License-Identifier: Apache-2.0
// Before and after the measuring: creating the empty Run, what plugins report about its cases, and
// the final check of the environment.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/shared.hpp"
#include "measure/workers.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// The Run before anything is measured.
model::Run empty_run(const model::Plan& plan, const Capabilities& capabilities,
                     const MeasureOptions& options);

/// The cases to measure. They point into both arguments.
std::vector<Item> items_of(const model::Plan& plan, model::Run& run);

/// Asks plugins for the facts of their cases; those of kernels in the plan are known. A case that
/// ends the worker, or takes seconds, is an error. Throws util::InputError if a plugin cannot be
/// loaded, or Interrupted.
void ask_facts(std::vector<Item>& items, Workers& workers, Shared& shared);

/// Throws util::InputError naming the cases that their variants cannot run.
void require_supported(const std::vector<Item>& items);

/// How the first or a further batch of the case is taken.
CaseSettings settings_of(const Item& item, const MeasureOptions& options, std::int64_t process);

/// Excludes batches taken at another clock, and makes cases with too few remaining batches invalid.
void conclude(std::vector<Item>& items, std::size_t processes);

/// The reason of cases that an interrupted run did not reach.
void note_interrupted(const std::vector<Item>& items);

}  // namespace perfgate::measure
