// SPDX-License-Identifier: Apache-2.0
// Where a thread of this process was while it ran, by perf events: registers and the stack's end,
// copied whenever the kernel's clock interrupts it. x86-64 only, and where that is permitted.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "stacks/native.hpp"
#include "util/file.hpp"

namespace perfgate::stacks {

class Interruptions {
  public:
    struct Stack {
        std::uint64_t time_ns = 0;  ///< of CLOCK_MONOTONIC
        Registers registers;
        std::vector<std::byte> bytes;  ///< from the stack pointer on

        bool read(Address from, void* to, std::size_t size) const;
    };

    /// Their rings are locked memory: what a user has apart from a program's own limit (516 KiB a
    /// processor) holds so many.
    static constexpr std::size_t most_interrupted_threads = 7;

    Interruptions() = default;
    /// `interval` is processor time of the thread.
    Interruptions(pid_t thread, std::chrono::nanoseconds interval);
    Interruptions(Interruptions&& other) noexcept;
    Interruptions& operator=(Interruptions&& other) noexcept;
    ~Interruptions();

    /// Those since the last call that there was room for.
    void take(const std::function<void(const Stack&)>& visit);

  private:
    util::Descriptor event_;
    void* ring_ = nullptr;
};

}  // namespace perfgate::stacks
