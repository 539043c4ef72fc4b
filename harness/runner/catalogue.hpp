// SPDX-License-Identifier: Apache-2.0
// The workloads that plugins offer, queried from a worker: the coordinator itself loads no plugin.
#pragma once

#include <string>
#include <vector>

#include "model/catalogue.hpp"

namespace perfgate::runner {

/// The bundled plugins' workloads and those of `plugins`. Needs no GPU.
model::WorkloadCatalogue load_workload_catalogue(const std::vector<std::string>& plugins);

}  // namespace perfgate::runner
