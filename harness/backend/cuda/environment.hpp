// SPDX-License-Identifier: Apache-2.0
//
// The device, driver and board as the Run document describes them.
#pragma once

#include <string>

#include "backend/cuda/nvml.hpp"
#include "backend/cuda/open_device.hpp"
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

}  // namespace perfgate::backend::cuda
