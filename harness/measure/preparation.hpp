// SPDX-License-Identifier: Apache-2.0
// Before and after the measuring: the Run as an empty form, what plugins say of its cases, and
// the environment's last word.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/item.hpp"
#include "measure/workers.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// The Run before anything is measured.
model::Run empty_run(const model::Plan& plan, const Capabilities& capabilities,
                     const MeasureOptions& options);

/// The cases that are to be measured. They point into both.
std::vector<Item> items_of(const model::Plan& plan, model::Run& run);

/// Asks plugins for the facts of the cases. Throws as Workers::must_ask does.
void ask_facts(std::vector<Item>& items, Workers& workers, double limit_s);

/// Throws model::InputError naming the cases that their variants cannot run.
void require_supported(const std::vector<Item>& items);

/// How one more batch, or the first, of the case is taken.
CaseSettings settings_of(const Item& item, const MeasureOptions& options, std::int64_t process);

/// Sets aside what was taken at another clock, and makes cases invalid of which too little is left.
void conclude(std::vector<Item>& items, std::size_t processes);

/// What the cases say that an interrupted run did not reach.
void note_interrupted(const std::vector<Item>& items);

}  // namespace perfgate::measure
