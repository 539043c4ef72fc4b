// SPDX-License-Identifier: Apache-2.0
// How the kernels of a program's case changed, as causes: model/kernel_change.hpp finds the
// changes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/kernel_change.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::explain {

/// See model/kernel_change.hpp. A side without kernels is unknown: then there are no changes.
std::vector<model::KernelChange> kernel_changes(const std::vector<model::Kernel>& before,
                                                const std::vector<model::Kernel>& after,
                                                std::optional<double> moved_ns);

/// `instance` is "step" in "1 per step".
model::Cause cause_of(const model::KernelChange& change, std::string_view instance);

}  // namespace perfgate::explain
