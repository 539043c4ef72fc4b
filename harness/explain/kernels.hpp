// SPDX-License-Identifier: Apache-2.0
// How the kernels of a program's case changed: replaced, added, removed, called more or less often,
// longer or shorter. Kernels are matched by name, then by their position in the order of the first
// launches. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::explain {

enum class KernelChangeKind { replaced, added, removed, more_often, less_often, longer, shorter };

/// All launches of the kernels of one name; figures are means over the instances of the case.
struct KernelUse {
    std::string name;  ///< demangled
    double launches = 0;
    double time_ns = 0;
};

struct KernelChange {
    KernelChangeKind kind = KernelChangeKind::replaced;
    /// Of `replaced` either side has at least one; of `added` and `removed` one side has none; of
    /// the others both have the same kernels in the same order. Longest time first.
    std::vector<KernelUse> before, after;

    [[nodiscard]] double added_time_ns() const;
};

/// What took most time first. Launches of instances may vary: less than 1 % more or fewer are no
/// change. `moved_ns`: by how much the case's time changed; kernels that have a tenth of that are
/// longer or shorter. Absent: it did not change.
std::vector<KernelChange> kernel_changes(const std::vector<model::Kernel>& before,
                                         const std::vector<model::Kernel>& after,
                                         std::optional<double> moved_ns);

/// "flash_fwd_kernel (1 per step, 41.00 µs) replaced by softmax_warp_forward and 2 others (3 per
/// step, 120.0 µs)"; `instance` is "step".
model::Cause cause_of(const KernelChange& change, std::string_view instance);

}  // namespace perfgate::explain
