// SPDX-License-Identifier: Apache-2.0
//
// The device memory of a variant: by how much the device's free memory falls while the variant is
// set up and launched. Temporary memory that a launch frees before it returns is not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "backend/cuda/nvml.hpp"
#include "backend/cuda/open_device.hpp"
#include "backend/plugin/instance.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

struct MemoryRequest {
    std::function<std::unique_ptr<Instance>()> open;
    std::uint64_t seed = 0;
    const Nvml* nvml = nullptr;  ///< may be null: other processes are then not noticed (a note)
};

/// Nothing else may be set up on the device. Call it in a process that has launched the variant
/// before: loading code and growing stacks takes memory of the context's.
measure::MemorySample measure_memory(const OpenDevice& device, const MemoryRequest& request);

}  // namespace perfgate::backend::cuda
