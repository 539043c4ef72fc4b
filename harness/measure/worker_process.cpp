// SPDX-License-Identifier: Apache-2.0
#include "measure/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>

#include "measure/process_tree.hpp"
#include "util/error.hpp"
#include "util/process_list.hpp"
#include "util/text.hpp"

namespace perfgate::measure {
namespace {

using Clock = std::chrono::steady_clock;

/// A longer reply does not come from our code.
constexpr std::size_t line_limit = std::size_t{256} << 20;
constexpr std::size_t stderr_limit = 4096;
/// The most that is read from stderr at once: a worker that floods it must not delay the time
/// limit.
constexpr int stderr_reads = 64;
/// A worker that has closed its replies ends within this time, or is ended.
constexpr std::chrono::duration<double> own_end_limit{2};
/// A worker's guard ends its process tree within this time.
constexpr std::chrono::duration<double> end_limit{6};

/// The workers of this process that have not been reaped: all its other children in sessions of
/// their own are orphans that a worker left.
std::mutex running_mutex;
std::set<pid_t>& running() {
    static std::set<pid_t> pids;
    return pids;
}

struct Pipe {
    int read_end = -1, write_end = -1;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    // Close-on-exec: a second worker must not inherit the first one's ends, or it would keep them
    // open after the first has died.
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw util::Error(fmt::format("worker: cannot make a pipe: {}", std::strerror(errno)));
    }
    return {ends[0], ends[1]};
}

void close_fd(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
}

/// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void exec_worker(char* const* argv, int requests, int replies, int errors) {
    // A session of its own, so that what the worker starts cannot join our process groups.
    setsid();
    dup2(requests, STDIN_FILENO);
    dup2(errors, STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (replies == reply_fd) {
        fcntl(reply_fd, F_SETFD, 0);
    } else {
        dup2(replies, reply_fd);
    }
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    execv(argv[0], argv);
    _exit(127);
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);

    Pipe requests = make_pipe(), replies = make_pipe(), errors = make_pipe();
    util::adopt_orphans();
    {
        const std::lock_guard lock(running_mutex);
        pid_ = fork();
        if (pid_ == 0) {
            exec_worker(argv.data(), requests.read_end, replies.write_end, errors.write_end);
        }
        if (pid_ > 0) running().insert(pid_);
    }
    const int fork_error = errno;
    close_fd(requests.read_end);
    close_fd(replies.write_end);
    close_fd(errors.write_end);
    to_worker_ = requests.write_end;
    from_worker_ = replies.read_end;
    stderr_fd_ = errors.read_end;
    if (pid_ < 0) {
        close_fd(to_worker_);
        close_fd(from_worker_);
        close_fd(stderr_fd_);
        throw util::Error(fmt::format("worker: cannot fork: {}", std::strerror(fork_error)));
    }
    fcntl(to_worker_, F_SETFL, O_NONBLOCK);
    fcntl(from_worker_, F_SETFL, O_NONBLOCK);
    fcntl(stderr_fd_, F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() {
    kill();
    close_fd(to_worker_);
    close_fd(from_worker_);
    close_fd(stderr_fd_);
}

std::optional<WorkerProcess::Outcome> WorkerProcess::send(std::string_view line,
                                                          std::chrono::duration<double> limit,
                                                          const std::function<bool()>& stop) {
    const auto end = Clock::now() + limit;
    std::string message(line);
    message += '\n';
    std::string_view left = message;
    while (!left.empty()) {
        const ssize_t count = ::write(to_worker_, left.data(), left.size());
        if (count > 0) {
            left.remove_prefix(static_cast<std::size_t>(count));
            continue;
        }
        if (count < 0 && errno != EINTR && errno != EAGAIN) return Outcome::died;
        if (stop && stop()) return Outcome::interrupted;
        if (Clock::now() >= end) return Outcome::timed_out;
        // A worker that is blocked writing to stderr does not read.
        read_stderr();
        pollfd ready{to_worker_, POLLOUT, 0};
        poll(&ready, 1, 10);
    }
    return std::nullopt;
}

void WorkerProcess::read_stderr() {
    std::array<char, 4096> buffer;
    for (int i = 0; i < stderr_reads; ++i) {
        const ssize_t count = ::read(stderr_fd_, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        stderr_.append(buffer.data(), static_cast<std::size_t>(count));
        if (stderr_.size() > 2 * stderr_limit) stderr_.erase(0, stderr_.size() - stderr_limit);
    }
}

WorkerProcess::Received WorkerProcess::receive(std::chrono::duration<double> limit,
                                               const std::function<bool()>& stop) {
    const auto end = Clock::now() + limit;
    for (;;) {
        if (const std::size_t newline = pending_.find('\n', searched_);
            newline != std::string::npos) {
            std::string line = pending_.substr(0, newline);
            pending_.erase(0, newline + 1);
            searched_ = 0;
            read_stderr();
            return {Outcome::line, std::move(line)};
        }
        searched_ = pending_.size();
        if (searched_ > line_limit) return {Outcome::garbage, ""};
        if (stop && stop()) return {Outcome::interrupted, ""};
        const auto left = end - Clock::now();
        if (left <= left.zero()) return {Outcome::timed_out, ""};

        std::array<pollfd, 2> ready{pollfd{from_worker_, POLLIN, 0}, pollfd{stderr_fd_, POLLIN, 0}};
        const auto left_ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
        poll(ready.data(), ready.size(), static_cast<int>(std::min<long long>(left_ms + 1, 100)));
        read_stderr();
        // One that closed its stderr is always ready: do not spin on it.
        if ((ready[1].revents & POLLHUP) != 0 && (ready[0].revents & (POLLIN | POLLHUP)) == 0) {
            poll(ready.data(), 1, 10);
        }

        std::array<char, 65536> buffer;
        const ssize_t count = ::read(from_worker_, buffer.data(), buffer.size());
        if (count > 0) {
            pending_.append(buffer.data(), static_cast<std::size_t>(count));
        } else if (count == 0) {
            return {Outcome::died, ""};
        }
    }
}

bool WorkerProcess::ends_within(std::chrono::duration<double> limit) const {
    const auto end = Clock::now() + limit;
    for (;;) {
        siginfo_t info{};
        if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == pid_) {
            return true;
        }
        if (Clock::now() >= end) return false;
        const timespec pause{0, 1'000'000};
        nanosleep(&pause, nullptr);
    }
}

void WorkerProcess::kill() {
    if (pid_ <= 0 || reaped_) return;
    // The guard ends everything that the worker started, including what left its process group.
    close_fd(to_worker_);
    ::kill(pid_, SIGTERM);
    ends_within(end_limit);
    // The leader is not reaped yet, so the group's id cannot have been reused.
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    {
        // If the guard itself was killed, its processes are now our children.
        const std::lock_guard lock(running_mutex);
        running().erase(pid_);
        end_orphans(end_limit, [](pid_t child) { return running().contains(child); });
    }
    read_stderr();
}

std::string WorkerProcess::how_it_ended() {
    // It has closed its replies: give it a moment to end by itself, so that we see its own exit
    // status, not our SIGKILL.
    const bool by_itself = reaped_ || ends_within(own_end_limit);
    kill();
    if (!by_itself) return "closed its end of the pipe and did not end";
    if (WIFSIGNALED(status_)) {
        const int signal = WTERMSIG(status_);
        return fmt::format("ended by signal {} ({})", signal, strsignal(signal));
    }
    return fmt::format("exited with code {}", WEXITSTATUS(status_));
}

std::string WorkerProcess::stderr_tail() const {
    std::string tail =
        stderr_.size() > stderr_limit ? stderr_.substr(stderr_.size() - stderr_limit) : stderr_;
    std::string lines;
    std::size_t begin = 0;
    while (begin < tail.size()) {
        std::size_t end = tail.find('\n', begin);
        if (end == std::string::npos) end = tail.size();
        lines += util::printable(std::string_view(tail).substr(begin, end - begin), 1000) + "\n";
        begin = end + 1;
    }
    return lines;
}

}  // namespace perfgate::measure
