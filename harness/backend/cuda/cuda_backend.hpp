// SPDX-License-Identifier: Apache-2.0
//
// The CUDA backend: measure/backend.hpp over the driver, CUPTI and NVML.
#pragma once

#include <memory>

#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

/// The devices that `--devices` names. Opens none; the chip's name is left empty.
std::vector<measure::ListedDevice> list_devices(const std::string& wanted);

/// As measure::LoadPlugins. A later make_cuda_backend finds the libraries that scripts bring as it
/// would have without this.
bool load_plugins(const measure::BackendOptions& options);

/// Opens the device; throws util::Error with the remedy if there is none. Missing CUPTI is not an
/// error here: capabilities() and diagnose() report it, and timing works without it.
std::unique_ptr<measure::Backend> make_cuda_backend(const measure::BackendOptions& options);

}  // namespace perfgate::backend::cuda
