// SPDX-License-Identifier: Apache-2.0
//
// What the readings of a device's free memory say of one variant: arithmetic alone.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

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
