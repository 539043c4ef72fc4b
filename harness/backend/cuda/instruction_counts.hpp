// SPDX-License-Identifier: Apache-2.0
// How often the warps of a launch execute each instruction: counted, not sampled.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "backend/cuda/cuda_case.hpp"
#include "model/case.hpp"

namespace perfgate::backend::cuda {

/// By function (mangled) and offset in bytes.
using InstructionCounts = std::map<std::pair<std::string, std::uint64_t>, std::int64_t>;

/// Launches the case once, with code that CUPTI patched to count (its SASS metrics): slower than
/// it is. Throws util::Error with the reason if nothing can be counted.
InstructionCounts count_instructions(OpenDevice& device, CudaCase& opened, model::Cache cache);

}  // namespace perfgate::backend::cuda
