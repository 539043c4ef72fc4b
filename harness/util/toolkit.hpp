// SPDX-License-Identifier: Apache-2.0
// Where CUDA toolkits are looked for. In a header alone, since recorded programs have it too.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace perfgate::util {

/// The folders that CUDA_HOME and CUDA_PATH name, then the usual one. They need not exist.
inline std::vector<std::string> toolkit_folders() {
    std::vector<std::string> folders;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char* const value = std::getenv(variable);
        if (value != nullptr && *value == '/') folders.emplace_back(value);
    }
    folders.emplace_back("/usr/local/cuda");
    return folders;
}

}  // namespace perfgate::util
