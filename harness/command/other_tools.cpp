// SPDX-License-Identifier: Apache-2.0
#include "command/other_tools.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "inject/settings.hpp"
#include "model/error.hpp"

namespace perfgate::command {

void refuse_other_tools() {
    for (const char* name : inject::injection_variables) {
        if (std::getenv(name) != nullptr) {
            throw model::InputError(fmt::format(
                "{} is set, so another profiler would be loaded as well: unset it", name));
        }
    }
    std::error_code error;
    if (std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr ||
        std::filesystem::exists("/tmp/nvidia-mps/control", error)) {
        throw model::InputError(
            "an MPS server is in use, so other programs may share the GPU: stop it (echo quit | "
            "nvidia-cuda-mps-control), or unset CUDA_MPS_PIPE_DIRECTORY");
    }
}

}  // namespace perfgate::command
