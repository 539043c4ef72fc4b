// SPDX-License-Identifier: Apache-2.0
// How the kernels of a piece of a program changed between two runs: replaced, added, removed,
// called more or less often, longer or shorter. Kernels are matched by name, then by their position
// in the order of the first launches. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::model {

enum class KernelChangeKind { replaced, added, removed, more_often, less_often, longer, shorter };

/// Launches of the kernels of one name; figures are means over the instances of the piece.
struct KernelUse {
    std::string name;  ///< demangled
    double launches = 0;
    double time_ns = 0;
};

double time_of(const std::vector<KernelUse>& uses);
double launches_of(const std::vector<KernelUse>& uses);

struct KernelChange {
    KernelChangeKind kind = KernelChangeKind::replaced;
    /// Of `replaced` either side has at least one; of `added` and `removed` one side has none; of
    /// the others both have the same kernels in the same order. Longest time first.
    std::vector<KernelUse> before, after;

    [[nodiscard]] double added_time_ns() const;
};

/// Both sides in the order of the first launches; uses of one name are added up. Largest change of
/// time first. Changes of the number of launches below 1 % are ignored. `moved_ns` is the change of
/// the piece's time (absent: none); a kernel is `longer` or `shorter` if its own change is at least
/// a tenth of that.
std::vector<KernelChange> kernel_changes(const std::vector<KernelUse>& before,
                                         const std::vector<KernelUse>& after,
                                         std::optional<double> moved_ns);

/// "flash_fwd_kernel (1 per step, 41.00 µs) replaced by softmax_warp_forward and 2 others (3 per
/// step, 120.0 µs)"; `instance` is "step".
std::string sentence_of(const KernelChange& change, std::string_view instance);

}  // namespace perfgate::model
