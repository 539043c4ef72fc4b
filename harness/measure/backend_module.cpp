// SPDX-License-Identifier: Apache-2.0
#include "measure/backend_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::measure {

void* backend_symbol(const std::filesystem::path& module, const char* symbol) {
    if (!std::filesystem::exists(module)) {
        throw util::Error(
            fmt::format("the CUDA backend was not built: {} is absent; build with a "
                        "CUDA toolkit (13.0 update 1 or newer), in a new build folder",
                        module.string()));
    }
    void* handle = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw util::Error(
            fmt::format("the CUDA backend cannot be loaded: {}", util::printable(dlerror())));
    }
    void* found = dlsym(handle, symbol);
    if (found == nullptr) {
        throw util::Error(
            fmt::format("{} is not a backend: it exports no {}", module.string(), symbol));
    }
    return found;
}

}  // namespace perfgate::measure
