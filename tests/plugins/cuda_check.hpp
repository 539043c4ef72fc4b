// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "perfgate.hpp"

inline void cuda_check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    const std::string text =
        std::string(what) + ": " + cudaGetErrorName(error) + ": " + cudaGetErrorString(error);
    if (error == cudaErrorMemoryAllocation) throw perfgate::sdk::OutOfMemory(text);
    throw perfgate::sdk::DeviceError(text);
}
