// SPDX-License-Identifier: Apache-2.0
//
// How many warps of a kernel an SM can hold, from the kernel's launch facts and the device's
// limits, computed with the toolkit's own calculator. Clusters and other kernels on the device are
// not considered.
#pragma once

#include "backend/cuda/activity.hpp"
#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {

struct Occupancy {
    double percent = 0;  ///< of the SM's warp slots
    int blocks_per_sm = 0;
    int warps_per_sm = 0;
};

/// How often the kernel's blocks fill the device: its blocks over those that all SMs hold at once.
/// The last wave is only partly filled unless this is a whole number. 0 if an SM holds no block.
double waves(const DeviceFacts& device, const KernelFacts& kernel, const Occupancy& occupancy);

/// Throws util::Error if the calculator does not know the device's compute capability.
Occupancy theoretical_occupancy(const DeviceFacts& device, const KernelFacts& kernel);

}  // namespace perfgate::backend::cuda
