// SPDX-License-Identifier: Apache-2.0
// Finds the processes of a program that used the GPU and left no recording, because they were
// started without the variable that loads the recorder. Needs no NVML: a process with a CUDA
// context maps the device file of unified memory. nvidia-smi, a process that has only initialised
// CUDA, and a fork of a process with a context do not.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "activity/recording.hpp"
#include "program/process_tree.hpp"

namespace perfgate::command {

class DeviceWatch {
  public:
    using Clock = std::chrono::steady_clock;

    /// Called while the program runs, with its processes: what lives shorter than the time between
    /// two calls may be overlooked. `now` is a parameter for tests.
    void look(const std::vector<program::Process>& processes, Clock::time_point now = Clock::now());

    struct Unrecorded {
        std::vector<std::string> commands;  ///< in the order of the first looks, each once
        std::vector<std::string> hidden;    ///< those of other users: what they did is not visible
        double seconds = 0;  ///< how long they had the GPU open, together; at most too long
    };
    /// The processes without any of these recordings.
    [[nodiscard]] Unrecorded unrecorded(const std::vector<activity::Recording>& recordings) const;

  private:
    struct Seen {
        program::Process process;
        std::int64_t inner_pid = 0;  ///< in the process's own namespace
        std::string command;
        bool alive = true;
        bool hidden = false;  ///< at some look its mappings were not readable
        Clock::time_point until;
        /// Since when it has a context, and since when the driver's library without a recorder.
        std::optional<Clock::time_point> context, library;
    };
    void update(Seen& seen, Clock::time_point since);

    std::vector<Seen> seen_;
    std::optional<Clock::time_point> last_look_;
};

/// One note for each command.
std::vector<std::string> unrecorded_notes(const DeviceWatch::Unrecorded& unrecorded);

}  // namespace perfgate::command
