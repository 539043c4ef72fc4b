// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogue.hpp"

#include "cli/workers.hpp"

namespace perfgate::cli {

model::WorkloadCatalogue load_workload_catalogue(const std::vector<std::string>& plugins) {
    BackendChoice choice;
    choice.backend = "host";
    choice.plugins = plugins;
    return open_backend(choice).capabilities.workloads;
}

}  // namespace perfgate::cli
