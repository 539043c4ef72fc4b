// SPDX-License-Identifier: Apache-2.0
//
// The CUDA backend: measure/backend.hpp over the driver, CUPTI and NVML.
#pragma once

#include <memory>

#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

/// Opens the device; throws model::Error with the remedy if there is none. CUPTI that is not to
/// be had is no error here: capabilities() and diagnose() say so, and timing without it works.
/// The devices that `--devices` names. Opens none; the chip's name is left empty.
std::vector<measure::ListedDevice> list_devices(const std::string& wanted);

std::unique_ptr<measure::Backend> make_cuda_backend(const measure::BackendOptions& options);

}  // namespace perfgate::backend::cuda
