// SPDX-License-Identifier: Apache-2.0
//
// The best that the device can do, measured in the same run as the cases that are compared with it:
// the bandwidth of a device-to-device copy, and the rate of cuBLAS's matrix product for each
// arithmetic type. Takes about a second, most of it to load cuBLAS, which is found at run time.
#pragma once

#include <cuda.h>

#include "model/environment.hpp"

namespace perfgate::backend::cuda {

/// Each rate is that of the fastest of several launches. Types that the device does not have (fp8
/// before compute capability 8.9) are left out; a rate that is missing for another reason is
/// explained in `problem`. Throws CudaError if the device fails.
model::Ceilings measure_ceilings(CUstream stream);

}  // namespace perfgate::backend::cuda
