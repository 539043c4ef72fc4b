// SPDX-License-Identifier: Apache-2.0
//
// The machine code of all modules that the driver has loaded in this process, by symbol.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>

namespace perfgate::backend::cuda {

/// From any thread: modules are loaded by whichever needs them.
class LoadedCode {
  public:
    /// An image that cannot be read adds nothing: its functions stay unknown.
    void add(std::span<const char> cubin);

    /// The fingerprint of the function's machine code. Empty if no module has it, or where two
    /// have different ones of this name and the launched one cannot be told.
    std::string of(const std::string& symbol) const;

  private:
    mutable std::mutex mutex_;
    std::map<std::string, std::string> by_symbol_;  ///< "": different ones
};

}  // namespace perfgate::backend::cuda
