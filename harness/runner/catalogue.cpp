// SPDX-License-Identifier: Apache-2.0
#include "runner/catalogue.hpp"

#include "runner/devices.hpp"

namespace perfgate::runner {

model::WorkloadCatalogue load_workload_catalogue(const std::vector<std::string>& plugins) {
    BackendChoice choice;
    choice.backend = "host";
    choice.plugins = plugins;
    return open_backend(choice).capabilities.workloads;
}

}  // namespace perfgate::runner
