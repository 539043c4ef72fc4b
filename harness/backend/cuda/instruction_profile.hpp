// SPDX-License-Identifier: Apache-2.0
// How often the warps of a launch execute each instruction, which is counted, and samples of their
// program counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "backend/cuda/cuda_case.hpp"
#include "model/case.hpp"
#include "model/kernel_code.hpp"

namespace perfgate::backend::cuda {

/// By function (mangled) and offset in bytes.
using InstructionCounts = std::map<std::pair<std::string, std::uint64_t>, std::int64_t>;

/// Launches the case once, with code that CUPTI patched to count (its SASS metrics): slower than
/// it is. Throws util::Error with the reason if nothing can be counted.
InstructionCounts count_instructions(OpenDevice& device, CudaCase& opened, model::Cache cache);

/// Where the warps of a case's kernels are, and what they wait for.
struct PcSamples {
    /// By function (mangled) and offset in bytes.
    std::map<std::pair<std::string, std::uint64_t>, model::Samples> at;
    std::int64_t all = 0;       ///< also of kernels without records, and dropped ones
    std::int64_t dropped = 0;   ///< by the hardware
    std::int64_t launches = 0;  ///< of the case
};

/// Launches the case as it is timed, for about a fifth of a second, and samples it. No activity is
/// recorded meanwhile. Throws util::Error with the reason if nothing can be sampled.
PcSamples sample_case(OpenDevice& device, CudaCase& opened, model::Cache cache);

}  // namespace perfgate::backend::cuda
