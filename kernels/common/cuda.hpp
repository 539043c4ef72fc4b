// SPDX-License-Identifier: Apache-2.0
// The SDK's helpers for CUDA by the names that the workloads use, and how they launch.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "perfgate_cuda.hpp"

namespace common {

// Enqueues a variant's work on a stream. Every CUDA variant has a function
//     Launch prepare_<variant>(problem, where its operands lie, ...)
// that chooses kernel, grid and shared memory once, at set-up, so that a launch only enqueues. What
// is no variant of its own, a fill or one kernel of several, is a function that enqueues it and
// takes the stream last. All throw where CUDA refuses.
using Launch = std::function<void(cudaStream_t)>;

using perfgate::sdk::check;
using perfgate::sdk::device_attribute;
using perfgate::sdk::DeviceMemory;
using perfgate::sdk::Graph;
using perfgate::sdk::Stream;

}  // namespace common
