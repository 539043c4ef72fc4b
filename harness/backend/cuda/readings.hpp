// SPDX-License-Identifier: Apache-2.0
//
// Readings of a case beside its times, by the names that metrics of the catalogue have for them
// (metrics::Metric::reading).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "backend/cuda/cuda_case.hpp"
#include "backend/cuda/open_device.hpp"
#include "backend/plugin/instance.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

struct ReadingContext {
    OpenDevice& device;
    const Board& board;
    CudaCase* opened = nullptr;                       ///< null: the reading sets the case up
    std::function<std::unique_ptr<Instance>()> open;  ///< the case once more
    std::uint64_t seed = 0;
};

/// Energy and power over a loop of launches without rests, for about 2 s, 11 s if the energy
/// counter is slow. Nothing of the device's idle power is subtracted.
measure::Reading read_energy(const ReadingContext& context);
/// The CUDA API calls that the host makes in one launch, by CUPTI's callbacks.
measure::Reading read_api_calls(const ReadingContext& context);
/// Which instructions the machine code of the launched kernels has, by nvdisasm.
measure::Reading read_disassembly(const ReadingContext& context);
/// Device memory, without what the context and the loaded code take: in a process that has launched
/// the variant before, because loading code and growing stacks takes memory of the context's.
measure::Reading read_memory(const ReadingContext& context);

/// As measure::Backend::machine_code.
model::CaseCode machine_code(OpenDevice& device, CudaCase& opened, model::Cache cache);

inline constexpr struct {
    const char* name;
    measure::Reading (*read)(const ReadingContext& context);
} known_readings[] = {
    {"energy", &read_energy},
    {"api", &read_api_calls},
    {"memory", &read_memory},
    {"disassembly", &read_disassembly},
};

}  // namespace perfgate::backend::cuda
