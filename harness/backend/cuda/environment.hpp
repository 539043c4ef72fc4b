// SPDX-License-Identifier: Apache-2.0
//
// The device, driver and board as the Run document describes them, and what `perfgate doctor`
// reports about them (diagnosis.cpp).
#pragma once

#include <string>
#include <vector>

#include "backend/cuda/nvml.hpp"
#include "backend/cuda/open_device.hpp"
#include "measure/backend.hpp"
#include "model/environment.hpp"

namespace perfgate::backend::cuda {

/// 16 hexadecimal digits that distinguish boards without revealing the UUID.
std::string board_id(const std::string& uuid);

/// What keys a baseline. `chip` is CUPTI's name, empty if unknown.
model::Device describe_device(const DeviceFacts& facts, const std::string& chip);

/// Everything but the board's readings. `nvml` may be null.
model::Environment describe_environment(OpenDevice& device, const Nvml* nvml);

/// The board's state now; empty if `nvml` is null.
model::BoardState read_board(const Nvml* nvml);

/// Compute processes other than this one, in words.
std::vector<std::string> other_processes(const std::vector<ComputeProcess>& processes,
                                         unsigned own_pid);

/// `nvml` may be null; then `nvml_problem` says why.
std::vector<measure::Diagnosis> diagnose(OpenDevice& device, const Nvml* nvml,
                                         const std::string& nvml_problem);

/// Versions and tools of the machine that matter for measuring.
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

/// The best that the device can do, measured in the same run as the cases that are compared with
/// it: the bandwidth of a device-to-device copy, and the rate of cuBLAS's matrix product for each
/// arithmetic type. Takes about a second, most of it to load cuBLAS, which is found at run time.
///
/// Each rate is that of the fastest of several launches. Types that the device does not have (fp8
/// before compute capability 8.9) are left out; a rate that is missing for another reason is
/// explained in `problem`. Throws CudaError if the device fails.
model::Ceilings measure_ceilings(CUstream stream);

}  // namespace perfgate::backend::cuda
