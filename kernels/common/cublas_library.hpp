// SPDX-License-Identifier: Apache-2.0
// cuBLAS, loaded at run time: plugins start on machines that have none, and only the variants that
// call it ask for it.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace common {

inline constexpr char kCublasRemedy[] =
    "; install the CUDA toolkit's cuBLAS (Debian and Ubuntu: libcublas-13-0), or add its folder to "
    "LD_LIBRARY_PATH, or deselect the variant";

// The library, "cublas" or "cublasLt", of this major version, where the loader, CUDA_PATH,
// CUDA_HOME or the usual folders have it. Never unloaded: its kernels may still be queued.
inline void* open_cublas(int major, const std::string& library_name = "cublas") {
    const std::string file = "lib" + library_name + ".so." + std::to_string(major);
    std::vector<std::string> names{file};
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
        if (const char* root = std::getenv(variable)) {
            names.push_back(std::string(root) + "/lib64/" + file);
        }
    }
    names.push_back("/usr/local/cuda/lib64/" + file);
    names.push_back("/usr/local/cuda-" + std::to_string(major) + "/lib64/" + file);
    std::string first_error;
    for (const std::string& name : names) {
        if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
        if (!first_error.empty()) continue;
        const char* error = dlerror();
        first_error = error ? error : name;
    }
    throw std::runtime_error("cannot load cuBLAS: " + first_error + kCublasRemedy);
}

template <class Function>
void resolve_cublas(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function) {
        throw std::runtime_error(std::string("cuBLAS has no function ") + name + kCublasRemedy);
    }
}

}  // namespace common
