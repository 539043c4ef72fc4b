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

/// What else on the machine matters for measuring.
struct Tools {
    int driver_cuda = 0, toolkit_cuda = 0;  ///< 13000 is CUDA 13.0
    int compute_capability_major = 0;
    std::vector<std::string> processes;  ///< names of what runs on the machine
};

/// The newest CUDA of the driver against that of this perfgate, and other users of the counters.
/// One finding for each that matters.
std::vector<measure::Diagnosis> diagnose_tools(const Tools& tools);

/// The part that judges a reading of the board, separate so that it can be tested without a board.
std::vector<measure::Diagnosis> diagnose_board(const NvmlReading& reading, unsigned own_pid);

}  // namespace perfgate::backend::cuda
