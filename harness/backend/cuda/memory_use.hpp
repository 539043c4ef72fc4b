// SPDX-License-Identifier: Apache-2.0
// The device memory of a variant: by how much the device's free memory falls while the variant is
// set up and launched. Temporary memory that a launch frees before it returns is not seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

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

// What the readings say: arithmetic alone.

/// The launches that `leak` refers to.
inline constexpr int leak_launches = 1000;

struct MemoryReading {
    double free_bytes = 0;            ///< of the whole device
    std::optional<double> own_bytes;  ///< what NVML says that this process has, read with it
};

struct MemoryReadings {
    std::vector<MemoryReading> all;  ///< in order; the first: before the variant is set up
    std::size_t early = 0;           ///< of `all`: after the first launches
    std::size_t late = 0;            ///< of `all`: `launches` later
    int launches = 0;                ///< at most leak_launches
};

/// Peak and leak, the leak scaled to leak_launches; or `problem` if other processes allocated or
/// freed memory by one of the readings that have `own_bytes`. Without it in the readings that both
/// rest on, `note` says that nothing was noticed of other processes. Needs a reading.
measure::MemorySample memory_sample(const MemoryReadings& readings);

}  // namespace perfgate::backend::cuda
