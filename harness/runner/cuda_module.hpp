// SPDX-License-Identifier: Apache-2.0
// The CUDA backend's shared library, which only the worker and `metrics` load.
#pragma once

namespace perfgate::runner {

/// Whether this installation includes it.
bool has_cuda_module();

/// The address of a function that the library exports. Loads the library, which stays loaded.
/// Throws Error if the library is absent, cannot be loaded, or exports no such function.
void* cuda_symbol(const char* symbol);

template <class Function>
Function* cuda_function(const char* symbol) {
    return reinterpret_cast<Function*>(cuda_symbol(symbol));
}

}  // namespace perfgate::runner
