// SPDX-License-Identifier: Apache-2.0
// Which kernels ran in the NVTX ranges of a profile, bounded: they are in its document.
#pragma once

#include <cstddef>

#include "activity/profile.hpp"
#include "activity/timeline.hpp"

namespace perfgate::activity {

struct RangeKernelLimits {
    std::size_t of_a_range = 1000;
    std::size_t in_all = 100'000;
};

/// Fills `kernels` of the profile's ranges, whose other members and whose kernels must be set. A
/// range with more kernels than a limit lists none. `own_thread`: those that its thread launched.
void add_range_kernels(const Timeline& timeline, bool own_thread, Profile& profile,
                       const RangeKernelLimits& limits = {});

}  // namespace perfgate::activity
