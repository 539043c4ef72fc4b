// SPDX-License-Identifier: Apache-2.0
// What a thread does, from its files in /proc.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "activity/record.hpp"
#include "stacks/native.hpp"
#include "util/file.hpp"

namespace perfgate::stacks {

/// Of the calls that may wait, what they wait for.
activity::HostState state_in_call(long call);

/// Keeps files open while the limit of descriptors leaves enough of them, and opens them at each
/// look from then on.
class ThreadState {
  public:
    ThreadState(pid_t process, pid_t thread);

    /// False if the thread has ended. `since_ns` is the time since the last look. Throws where
    /// memory runs out.
    bool look(std::uint64_t since_ns);

    [[nodiscard]] activity::HostState state() const { return state_; }
    /// It has not run since the look before: its stack is the same.
    [[nodiscard]] bool unchanged() const { return unchanged_; }

    /// It was given a processor since the last look.
    [[nodiscard]] bool ran() const;

    /// While it is blocked, and if that may be known.
    [[nodiscard]] const std::optional<Registers>& registers() const { return registers_; }

  private:
    using Buffer = std::array<char, 512>;
    std::string_view text_now(const util::Descriptor& kept, const char* name, Buffer& buffer) const;
    /// Time for which it was ready, ns, and how often it ran.
    [[nodiscard]] std::array<std::uint64_t, 2> schedule_now() const;
    /// What it waits for in a call; false if that is not known.
    bool read_call();

    std::string folder_;
    bool keeps_files_ = false;
    util::Descriptor schedule_, stat_, call_;
    std::optional<Registers> registers_;
    activity::HostState state_ = activity::HostState::other;
    bool unchanged_ = false;
    bool blocked_ = false;
    std::uint64_t ready_ns_ = 0, runs_ = 0, faults_ = 0, since_stat_ns_ = 0;
};

/// The threads of a process, none if it has ended; nothing if they cannot be listed.
std::optional<std::vector<pid_t>> threads_of(pid_t process);
/// The processes that a thread started.
std::vector<pid_t> children_of(pid_t process, pid_t thread);
/// The name that the program gave it.
std::string name_of(pid_t process, pid_t thread);

}  // namespace perfgate::stacks
