// SPDX-License-Identifier: Apache-2.0
//
// The machine code of all modules that the driver has loaded in this process, by symbol.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "model/case.hpp"

namespace perfgate::backend::cuda {

/// What the loaded modules say of a function.
struct LoadedFunction {
    std::string fingerprint;                  ///< of its machine code; empty: unknown
    std::optional<std::int64_t> code_bytes;   ///< as MachineCode has it; absent: unknown
    std::optional<std::int64_t> stack_bytes;  ///< as stack_sizes() has it; absent: unknown
    model::SourcePlace place;  ///< absolute, as function_places() has it; line 0: unknown
    /// The cubin with this code. Null: unknown, or more than LoadedCode keeps.
    std::shared_ptr<const std::string> image = nullptr;

    bool operator==(const LoadedFunction&) const = default;
};

/// Thread-safe: modules are loaded by any thread that needs them.
class LoadedCode {
  public:
    /// An image that cannot be read adds nothing: its functions stay unknown.
    void add(std::span<const char> cubin);

    /// Around a driver call that loads a module: what this thread adds meanwhile is the module's.
    /// Null: the call failed.
    void begin_module();
    void end_module(CUmodule module);
    /// Before a module is unloaded: another may get its handle.
    void forget_module(CUmodule module);

    /// All unknown if no module has the function, or if two modules have different code of this
    /// name and the launched one is unknown.
    LoadedFunction of(const std::string& symbol) const;
    /// Looks in the module's image alone, if it is known which one that is.
    LoadedFunction of(const std::string& symbol, CUmodule module) const;

    /// The functions of a module that is loaded for one case: they hide others of the same name. A
    /// new layer is the one that `add` fills.
    using Layer = std::uint64_t;
    Layer begin_layer();
    /// Nothing: from now on `add` fills none.
    void fill_layer(std::optional<Layer> layer);
    void end_layer(Layer layer);

  private:
    mutable std::mutex mutex_;
    using Functions = std::map<std::string, LoadedFunction>;
    Functions by_symbol_;  ///< without a fingerprint: ambiguous
    std::map<CUmodule, Functions> modules_;
    std::map<std::thread::id, Functions> loading_;  ///< by the thread that loads a module
    std::map<Layer, Functions> layers_;
    std::optional<Layer> filled_;
    std::size_t image_bytes_ = 0;  ///< of all that were kept
    Layer next_layer_ = 0;
};

}  // namespace perfgate::backend::cuda
