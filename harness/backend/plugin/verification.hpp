// SPDX-License-Identifier: Apache-2.0
// Verifying a case: a launch whose outputs are compared with a reference, and launches that repeat
// it, whose outputs must have the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backend/plugin/instance.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend {

/// A copy of an output as it was.
class KeptOutput {
  public:
    virtual ~KeptOutput() = default;

    /// True if the output is known to have the same bits now; false also if this cannot tell.
    virtual bool equals(const Output& now) = 0;
    virtual void read(std::uint64_t offset, std::span<std::byte> to) = 0;
};

/// What a backend does for that. Its functions wait until what they did is done.
class Executor {
  public:
    virtual ~Executor() = default;

    virtual void launch(Instance& instance, const char* range) = 0;
    virtual void reset(Instance& instance) = 0;
    virtual void read(const Output& output, std::uint64_t offset, std::span<std::byte> to) = 0;
    virtual void overwrite(const Output& output, std::byte with) = 0;
    /// Null if the caller has to keep what it reads.
    virtual std::unique_ptr<KeptOutput> keep(const Output& /*output*/) { return nullptr; }

    struct GraphLaunch {
        bool launched = false;
        std::string why_not;
    };
    /// Captures what a launch enqueues, calls `captured`, and launches it as a CUDA graph. Nothing:
    /// there are no graphs.
    virtual std::optional<GraphLaunch> launch_graph(Instance& /*instance*/,
                                                    const std::function<void()>& /*captured*/) {
        return std::nullopt;
    }
};

/// As measure::Case::verify.
measure::Verified verify(Instance& instance, Executor& executor, std::uint64_t seed,
                         const measure::Checks& checks);

}  // namespace perfgate::backend
