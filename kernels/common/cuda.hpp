// SPDX-License-Identifier: Apache-2.0
// The SDK's helpers for CUDA by the names that the workloads use.
#pragma once

#include "perfgate_cuda.hpp"

namespace common {

using perfgate::sdk::check;
using perfgate::sdk::device_attribute;
using perfgate::sdk::DeviceMemory;
using perfgate::sdk::Graph;
using perfgate::sdk::Stream;

}  // namespace common
