// SPDX-License-Identifier: Apache-2.0
// The coordinator's side of a worker: a child process in a session of its own, with line-based
// communication over pipes and limits on time and memory.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::measure {

/// File descriptor on which a worker finds the pipe for its replies; its stdout goes to stderr, so
/// that plugin output cannot be taken for a reply.
inline constexpr int reply_fd = 3;

class WorkerProcess {
  public:
    /// Starts `command` (absolute path and arguments). Throws util::Error if that fails.
    explicit WorkerProcess(const std::vector<std::string>& command);
    /// As kill().
    ~WorkerProcess();
    WorkerProcess& operator=(WorkerProcess&&) = delete;  // nor copied

    enum class Outcome { line, died, timed_out, interrupted, garbage };
    struct Received {
        Outcome outcome;
        std::string line;
    };

    /// Nothing if the line was sent, else why not: died (it no longer reads), timed_out or
    /// interrupted. `stop` as in receive().
    std::optional<Outcome> send(std::string_view line, std::chrono::duration<double> limit,
                                const std::function<bool()>& stop);

    /// The next line, waited for at most `limit`. `stop` is polled about ten times a second.
    Received receive(std::chrono::duration<double> limit, const std::function<bool()>& stop);

    /// Ends the process and everything it started, and reaps it.
    void kill();

    /// How it ended ("ended by signal 11 (Segmentation fault)", "exited with code 3"); call after
    /// Outcome::died or kill.
    std::string how_it_ended();

    /// The last lines that it wrote to stderr, at most 4 KiB, made printable. Output
    /// before clear_stderr() is left out.
    std::string stderr_tail() const;
    void clear_stderr() { stderr_.clear(); }

    pid_t pid() const { return pid_; }

  private:
    void read_stderr();
    bool ends_within(std::chrono::duration<double> limit) const;

    pid_t pid_ = -1;
    int to_worker_ = -1, from_worker_ = -1, stderr_fd_ = -1;
    std::string pending_, stderr_;
    std::size_t searched_ = 0;  ///< part of pending_ already searched for the end of its line
    bool reaped_ = false;
    int status_ = 0;
};

}  // namespace perfgate::measure
