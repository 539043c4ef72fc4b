// SPDX-License-Identifier: Apache-2.0
// A backend that is a shared library, which only processes that need it load.
#pragma once

#include <filesystem>

namespace perfgate::measure {

/// The address of a function that the library exports. Loads the library, which stays loaded.
/// Throws Error if the library is absent, cannot be loaded, or exports no such function.
void* backend_symbol(const std::filesystem::path& module, const char* symbol);

template <class Function>
Function* backend_function(const std::filesystem::path& module, const char* symbol) {
    return reinterpret_cast<Function*>(backend_symbol(module, symbol));
}

}  // namespace perfgate::measure
