// SPDX-License-Identifier: Apache-2.0
//
// The machine code of all modules that the driver has loaded in this process, by symbol.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>

namespace perfgate::backend::cuda {

/// Thread-safe: modules are loaded by any thread that needs them.
class LoadedCode {
  public:
    /// An image that cannot be read adds nothing: its functions stay unknown.
    void add(std::span<const char> cubin);

    /// The fingerprint of the function's machine code. Empty if no module has it, or if two modules
    /// have different code of this name and the launched one is unknown.
    std::string of(const std::string& symbol) const;

  private:
    mutable std::mutex mutex_;
    std::map<std::string, std::string> by_symbol_;  ///< "": ambiguous
};

}  // namespace perfgate::backend::cuda
