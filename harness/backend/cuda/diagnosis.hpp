// SPDX-License-Identifier: Apache-2.0
//
// What `perfgate doctor` reports about the device and its tools.
#pragma once

#include <string>
#include <vector>

#include "backend/cuda/nvml.hpp"
#include "backend/cuda/open_device.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

/// `nvml` may be null; then `nvml_problem` says why.
std::vector<measure::Diagnosis> diagnose(OpenDevice& device, const Nvml* nvml,
                                         const std::string& nvml_problem);

/// The part that judges a reading of the board, separate so that it can be tested without a board.
std::vector<measure::Diagnosis> diagnose_board(const NvmlReading& reading, unsigned own_pid);

}  // namespace perfgate::backend::cuda
