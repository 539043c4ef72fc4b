// SPDX-License-Identifier: Apache-2.0
// A worker as the coordinator sees it: a child process in a group of its own, spoken to line by
// line over pipes, with limits on time and memory.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::measure {

/// File descriptor on which a worker writes its replies; its stdout goes to stderr, so that what a
/// plugin prints cannot pass for a reply.
inline constexpr int reply_fd = 3;

class WorkerProcess {
  public:
    /// Starts `command` (absolute path and arguments). Throws model::Error where that fails.
    explicit WorkerProcess(const std::vector<std::string>& command);
    /// Ends the whole process group and reaps the child.
    ~WorkerProcess();
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    enum class Outcome { line, died, timed_out, interrupted, garbage };
    struct Received {
        Outcome outcome;
        std::string line;
    };

    /// False where the worker no longer reads.
    bool send(std::string_view line);

    /// The next line, waited for at most `limit`. `stop` is asked about ten times a second.
    Received receive(std::chrono::duration<double> limit, const std::function<bool()>& stop);

    /// Ends the process group now.
    void kill();

    /// How it ended ("ended by signal 11 (Segmentation fault)", "exited with code 3"); call after
    /// Outcome::died or kill.
    std::string how_it_ended();

    /// The last lines that it wrote to stderr, at most 4 KiB, made printable. What has been read
    /// before is left out once cleared.
    std::string stderr_tail() const;
    void clear_stderr() { stderr_.clear(); }

    pid_t pid() const { return pid_; }

  private:
    void read_stderr();
    void reap();

    pid_t pid_ = -1;
    int to_worker_ = -1, from_worker_ = -1, stderr_fd_ = -1;
    std::string pending_, stderr_;
    bool reaped_ = false;
    int status_ = 0;
};

}  // namespace perfgate::measure
