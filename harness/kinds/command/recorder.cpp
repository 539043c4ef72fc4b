// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/recorder.hpp"

#include <cstdlib>
#include <system_error>

#include "inject/settings.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::command {

namespace fs = std::filesystem;

RecordingFolder::RecordingFolder(const std::string& named) {
    if (named.empty()) {
        path_ = temporary_.emplace("perfgate-recording").path();
        return;
    }
    path_ = fs::absolute(named);
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) {
        throw util::Error("cannot create {}: {}", util::printable(named), error.message());
    }
    if (!fs::is_empty(path_, error)) {
        throw util::InputError(
            "{} is not empty: it would mix recordings of two runs; name a new folder",
            util::printable(named));
    }
}

void require_no_other_tools() {
    for (const char* name : inject::injection_variables) {
        if (std::getenv(name) != nullptr) {
            throw util::InputError(
                "{} is set, so another profiler would be loaded as well: unset it", name);
        }
    }
    std::error_code error;
    if (std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr ||
        fs::exists("/tmp/nvidia-mps/control", error)) {
        throw util::InputError(
            "an MPS server is in use, so other programs may share the GPU: stop it (echo quit | "
            "nvidia-cuda-mps-control), or unset CUDA_MPS_PIPE_DIRECTORY");
    }
}

void require_recorder(const fs::path& library) {
    require_no_other_tools();
    std::error_code error;
    if (!fs::exists(library, error)) {
        throw util::Error(
            "{} is missing: this perfgate was built without CUDA's headers and cannot record "
            "programs",
            util::printable(library.native()));
    }
}

}  // namespace perfgate::command
