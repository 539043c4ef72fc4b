// SPDX-License-Identifier: Apache-2.0
//
// What the device can do at best, measured in the run whose cases are held against it: the
// bandwidth of a device-to-device copy, and the rate of cuBLAS's matrix product for each arithmetic
// type. In all about a second, most of it the loading of cuBLAS, which is found at run time.
#pragma once

#include <cuda.h>

#include "model/environment.hpp"

namespace perfgate::backend::cuda {

/// Each rate is that of the fastest of some launches. Types that the device does not have (fp8
/// before compute capability 8.9) are left out; a rate that is missing for another reason is
/// explained in `problem`. Throws CudaError if the device fails.
model::Ceilings measure_ceilings(CUstream stream);

}  // namespace perfgate::backend::cuda
