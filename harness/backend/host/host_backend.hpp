// SPDX-License-Identifier: Apache-2.0
// The backend of machines without a GPU: host variants, a steady clock, no counters.
#pragma once

#include <memory>

#include "measure/backend.hpp"
#include "model/environment.hpp"

namespace perfgate::backend {

/// The machine as the only device.
model::Device host_device();

std::unique_ptr<measure::Backend> make_host_backend(const measure::BackendOptions& options);

/// Fills in the facts about the machine that every backend reports: os, kernel, cpu and cores.
void describe_host(model::Environment& environment);

}  // namespace perfgate::backend
