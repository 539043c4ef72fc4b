// SPDX-License-Identifier: Apache-2.0
// Which kernels ran in the NVTX ranges of a profile, bounded: they are in its document.
#pragma once

#include <cstddef>

#include "activity/analysis.hpp"

namespace perfgate::activity {

struct RangeKernelLimits {
    std::size_t of_a_range = 1000;
    std::size_t in_all = 100'000;
};

/// Fills `kernels` of the profile's ranges, whose other members and whose kernels must be set. A
/// range with more kernels than a limit lists none.
void add_range_kernels(const Timeline& timeline, const ProfileOptions& options, Profile& profile,
                       const RangeKernelLimits& limits = {});

}  // namespace perfgate::activity
