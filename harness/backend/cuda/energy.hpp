// SPDX-License-Identifier: Apache-2.0
//
// Energy of a launch, from NVML's energy counter over a loop of launches without rests. A thread
// polls the counter, which changes every 20 to 100 ms, while another keeps the stream full.
#pragma once

#include <cuda.h>

#include <functional>
#include <optional>

#include "backend/cuda/nvml.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

struct EnergyRequest {
    std::function<void(CUstream)> launch;
    CUstream stream = nullptr;
    const Nvml* nvml = nullptr;
    std::optional<double> idle_w;  ///< for the note
};

/// Runs for about 2 s, 11 s if the counter is slow. Leaves the stream empty. Throws CudaError if
/// the work fails; what NVML lacks is the sample's problem. `method` is left empty.
measure::EnergySample measure_energy(const EnergyRequest& request);

}  // namespace perfgate::backend::cuda
