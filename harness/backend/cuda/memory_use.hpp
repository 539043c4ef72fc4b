// SPDX-License-Identifier: Apache-2.0
// The device memory of a variant: by how much the device's free memory falls while the variant is
// set up and launched (read_memory). Temporary memory that a launch frees before it returns is not
// seen. Here: what the readings say, arithmetic alone.
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

/// memory_peak and leak, the leak scaled to leak_launches; or `problem` if other processes
/// allocated or freed memory by one of the readings that have `own_bytes`. Without it in the
/// readings that both rest on, `note` says that nothing was noticed of other processes. Needs a
/// reading.
measure::Reading memory_values(const MemoryReadings& readings);

}  // namespace perfgate::backend::cuda
