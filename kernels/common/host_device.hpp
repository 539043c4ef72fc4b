// SPDX-License-Identifier: Apache-2.0
// Marks functions that the host compiler and nvcc's device side both compile.
#pragma once

#if defined(__CUDACC__)
#define COMMON_HOST_DEVICE __host__ __device__
#else
#define COMMON_HOST_DEVICE
#endif
