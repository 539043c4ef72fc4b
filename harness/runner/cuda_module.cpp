// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "model/error.hpp"
#include "model/text.hpp"
#include "runner/installation.hpp"

namespace perfgate::runner {

bool has_cuda_module() {
    return std::filesystem::exists(cuda_backend_module());
}

void* cuda_symbol(const char* symbol) {
    const std::filesystem::path module = cuda_backend_module();
    if (!has_cuda_module()) {
        throw model::Error(
            fmt::format("the CUDA backend was not built: {} is absent; build with a "
                        "CUDA toolkit (13.0 update 1 or newer), in a new build folder",
                        module.string()));
    }
    void* handle = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const std::string why = model::printable(dlerror());
        throw model::Error(fmt::format(
            "the CUDA backend cannot be loaded: {}{}", why,
            why.find("libcupti") == std::string::npos
                ? ""
                : fmt::format("; install CUPTI 13 (cuda-cupti-13-0), or put its libraries into {}",
                              (own_binary().parent_path().parent_path() / "lib").string())));
    }
    void* found = dlsym(handle, symbol);
    if (found == nullptr) {
        throw model::Error(
            fmt::format("{} is not a backend: it exports no {}", module.string(), symbol));
    }
    return found;
}

}  // namespace perfgate::runner
