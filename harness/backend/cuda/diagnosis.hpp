// SPDX-License-Identifier: Apache-2.0
//
// What `perfgate doctor` says about the device and the tools around it.
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

/// The part that judges a reading of the board; apart so that it can be tested without one.
std::vector<measure::Diagnosis> diagnose_board(const NvmlReading& reading, unsigned own_pid);

}  // namespace perfgate::backend::cuda
