// SPDX-License-Identifier: Apache-2.0
#include "program/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <thread>

#include "program/capture.hpp"
#include "util/file.hpp"
#include "util/process_list.hpp"
#include "util/text.hpp"

namespace perfgate::program {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The variable that identifies the processes of one program.
constexpr const char* mark_variable = "PERFGATE_PROGRAM";

std::string new_mark() {
    static std::atomic<unsigned> counter{0};
    return fmt::format("{}={}-{}-{}", mark_variable, ::getpid(),
                       Clock::now().time_since_epoch().count(), counter.fetch_add(1));
}

/// Our environment, with the program's variables replacing ours of the same name.
std::vector<std::string> environment_of(const Program& program, const std::string& mark) {
    std::vector<std::string> own = {mark};
    for (const auto& [name, value] : program.environment) {
        own.push_back(fmt::format("{}={}", name, value));
    }
    std::vector<std::string> all = own;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view inherited = *entry;
        const std::string_view name = inherited.substr(0, inherited.find('=') + 1);
        bool replaced = false;
        for (const std::string& each : own) replaced = replaced || each.starts_with(name);
        if (!replaced) all.emplace_back(inherited);
    }
    return all;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

struct Streams {
    int input = -1, output = -1, errors = -1;  ///< -1: ours
};

/// In the child, between fork and exec: only async-signal-safe calls. The errno goes to `failure`.
[[noreturn]] void exec_program(const char* file, char* const* words, char* const* environment,
                               const char* folder, const Streams& streams, int failure,
                               pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    // Signals that perfgate ignores must not be ignored by its children.
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    const bool prepared = (folder == nullptr || chdir(folder) == 0) &&
                          (streams.input < 0 || dup2(streams.input, STDIN_FILENO) >= 0) &&
                          (streams.output < 0 || dup2(streams.output, STDOUT_FILENO) >= 0) &&
                          (streams.errors < 0 || dup2(streams.errors, STDERR_FILENO) >= 0);
    if (prepared) execvpe(file, words, environment);
    const int error = errno;
    (void)!::write(failure, &error, sizeof(error));
    _exit(127);
}

/// What to execute: the first word, which is looked up in the program's own PATH if it has one.
/// execvpe would use ours.
std::string file_of(const Program& program) {
    const std::string& word = program.words.front();
    const auto path = std::ranges::find_if(
        program.environment, [](const auto& variable) { return variable.first == "PATH"; });
    if (path == program.environment.end() || word.find('/') != std::string::npos) return word;
    const auto folder = std::filesystem::absolute(program.folder.empty() ? "." : program.folder);
    const auto file = util::found_on_path(word, path->second, folder);
    if (file.empty()) {
        throw NotStarted("cannot run {}: no folder of its PATH ({}) has it", util::printable(word),
                         util::printable(path->second));
    }
    return file.native();
}

pid_t start(const Program& program, const std::string& mark, const Streams& streams) {
    if (program.words.empty()) throw util::InputError("no program was named");
    std::error_code unknown;
    if (!program.folder.empty() && !std::filesystem::is_directory(program.folder, unknown)) {
        throw NotStarted("cannot run {} in {}: there is no such folder",
                         util::printable(program.words.front()), util::printable(program.folder));
    }
    const std::string file = file_of(program);
    const std::vector<std::string> environment = environment_of(program, mark);
    const std::vector<char*> words = pointers(program.words);
    const std::vector<char*> variables = pointers(environment);
    std::array<int, 2> failure{};
    if (pipe2(failure.data(), O_CLOEXEC) != 0) {
        throw util::Error("cannot make a pipe: {}", std::strerror(errno));
    }
    const pid_t parent = ::getpid();
    const pid_t child = fork();
    if (child == 0) {
        exec_program(file.c_str(), words.data(), variables.data(),
                     program.folder.empty() ? nullptr : program.folder.c_str(), streams, failure[1],
                     parent);
    }
    const int fork_error = errno;
    ::close(failure[1]);
    int error = 0;
    ssize_t got = 0;
    if (child > 0) {
        do {
            got = ::read(failure[0], &error, sizeof(error));
        } while (got < 0 && errno == EINTR);
    }
    ::close(failure[0]);
    if (child < 0) throw util::Error("cannot fork: {}", std::strerror(fork_error));
    if (got == sizeof(error)) {
        waitpid(child, nullptr, 0);
        // A relative path is one from the program's folder.
        const std::string& word = program.words.front();
        throw NotStarted(
            "cannot run {}{}: {}{}", util::printable(word),
            word.find('/') == std::string::npos || word.front() == '/' || program.folder.empty()
                ? std::string()
                : " in " + util::printable(program.folder),
            std::strerror(error),
            error == ENOENT && word.find(' ') != std::string::npos
                ? "; its arguments are items of their own"
                : "");
    }
    return child;
}

/// With the processor time of those that it has waited for, too.
bool has_ended(pid_t child, int& status, rusage& used) {
    const pid_t got = wait4(child, &status, WNOHANG, &used);
    return got == child || (got < 0 && errno == ECHILD);
}

/// TERM, a grace period, then KILL, for all processes of the tree. `child` is reaped.
void end_all(ProcessTree& tree, std::chrono::duration<double> grace, pid_t child, bool& reaped,
             int& status) {
    rusage unused{};
    const auto wait_for_all = [&](Clock::time_point until, bool asked) {
        for (;;) {
            if (!reaped) reaped = has_ended(child, status, unused);
            if (reaped && tree.look().empty()) return true;
            if (Clock::now() >= until || (asked && hurry)) return false;
            std::this_thread::sleep_for(milliseconds(20));
        }
    };
    const auto patience = std::chrono::duration_cast<Clock::duration>(grace);
    tree.signal_all(SIGTERM);
    if (wait_for_all(Clock::now() + patience, true)) return;
    // A process that forks while it is killed leaves a child, so repeat until none is left.
    for (int round = 0; round < 50; ++round) {
        tree.signal_all(SIGKILL);
        if (wait_for_all(Clock::now() + milliseconds(100), false)) return;
    }
}

}  // namespace

namespace {

/// The streams of a program that does not inherit ours; nothing if it does.
class Captures {
  public:
    explicit Captures(const Program& program) {
        if (program.output_file.empty()) return;
        output_.emplace(program.output_file);
        errors_.emplace(program.error_file);
        input_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    ~Captures() {
        if (input_ >= 0) ::close(input_);
    }
    Captures& operator=(Captures&&) = delete;  // nor copied

    Streams streams() const {
        if (!output_) return {};
        return {input_, output_->writer(), errors_->writer()};
    }
    void close_writers() {
        if (!output_) return;
        output_->close_writer();
        errors_->close_writer();
    }
    /// Reads output until `process` (a pidfd) ends, for at most this long.
    void wait(int process, milliseconds longest) {
        std::array<pollfd, 3> polled{pollfd{process, POLLIN, 0}, pollfd{-1, POLLIN, 0},
                                     pollfd{-1, POLLIN, 0}};
        if (output_) {
            polled[1].fd = output_->reader();
            polled[2].fd = errors_->reader();
        }
        ::poll(polled.data(), polled.size(), static_cast<int>(longest.count()));
        drain();
    }
    void drain() {
        if (!output_) return;
        output_->drain();
        errors_->drain();
    }
    std::string finish() {
        if (!output_) return {};
        output_->finish();
        errors_->finish();
        return errors_->last_lines(last_error_bytes);
    }

  private:
    static constexpr std::size_t last_error_bytes = 4000;
    std::optional<Capture> output_, errors_;
    int input_ = -1;
};

/// Looks for the program's processes, for those who want to know them, and for what others take
/// from them.
class Watch {
  public:
    Watch(const Program& program, pid_t child, ProcessTree& tree)
        : program_(program), child_(child), tree_(tree) {}

    void look_if_due() {
        if ((program_.watch || program_.is_measured) && Clock::now() >= next_) look();
    }
    /// Returns how many processes there are.
    std::size_t look() {
        const Clock::duration before = processor_time();
        const std::vector<Process>& processes = tree_.look();
        if (program_.watch) program_.watch(processes);
        if (program_.is_measured) {
            std::vector<pid_t> pids;
            for (const Process& process : processes) {
                pids.push_back(process.pid);
                alone_ = alone_ && process.pid == child_ && has_one_thread(process.pid);
            }
            others_.look(pids);
        }
        const Clock::duration rest =
            (program_.watch ? most_share : most_share_unasked) * (processor_time() - before);
        next_ = Clock::now() + std::max<Clock::duration>(interval(), rest);
        return processes.size();
    }
    /// Until the child is reaped, the kernel knows how long its first thread ran and waited in all.
    /// It does not know that of other threads: after this look their rest would count as nothing.
    void look_at_the_end() {
        siginfo_t info{};
        if (program_.is_measured && alone_ &&
            waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == child_) {
            others_.look({child_});
        }
    }
    std::optional<util::OtherWork> other_work(const rusage& used) const {
        if (!program_.is_measured) return std::nullopt;
        return others_.result(seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
    }

  private:
    /// Of this thread. A look that had to wait for a busy machine took nothing from the program.
    static Clock::duration processor_time() {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }

    static std::chrono::duration<double> seconds_of(const timeval& time) {
        return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    }

    static bool has_one_thread(pid_t process) {
        std::error_code gone;  // it has not more, then
        constexpr std::uintmax_t of_an_empty_folder = 2;
        const auto links =
            std::filesystem::hard_link_count(fmt::format("/proc/{}/task", process), gone);
        return gone || links == of_an_empty_folder + 1;
    }

    /// A long program that nobody asked to watch is hardly looked at.
    Clock::duration interval() const {
        if (program_.watch) return milliseconds(20);
        return std::clamp<Clock::duration>((Clock::now() - begin_) / 4, milliseconds(5),
                                           milliseconds(100));
    }

    static constexpr int most_share = 20;  ///< looking takes at most one part of so many
    static constexpr int most_share_unasked = 100;
    const Program& program_;
    const pid_t child_;
    ProcessTree& tree_;
    util::OtherWorkWatch others_;
    bool alone_ = true;  ///< no look has seen another thread than the child's first
    Clock::time_point begin_ = Clock::now(), next_ = begin_;
};

}  // namespace

End run(const Program& program, const std::function<bool()>& stop) {
    const std::string mark = new_mark();
    Captures captures(program);
    util::adopt_orphans();
    const auto begin = Clock::now();
    const pid_t child = start(program, mark, captures.streams());
    captures.close_writers();
    ProcessTree tree(child, mark);
    Watch watch(program, child, tree);
    // Reports the end of the program at once. Without pidfd support, poll instead.
    const int process = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
    End end;
    int status = 0;
    bool reaped = false;
    rusage used{};
    auto pause = milliseconds(1);
    const auto ended = [&] {
        watch.look_at_the_end();
        return has_ended(child, status, used);
    };
    while (!(reaped = ended())) {
        const bool late = program.time_limit && Clock::now() - begin >= *program.time_limit;
        if (late || (stop && stop())) {
            end.outcome = late ? Outcome::timed_out : Outcome::interrupted;
            break;
        }
        watch.look_if_due();
        captures.wait(process, pause);
        pause = std::min(pause * 2, milliseconds(10));
    }
    if (process >= 0) ::close(process);
    end.time = Clock::now() - begin;
    end.other_work = watch.other_work(used);
    if (reaped) {
        // Helper processes of a program that has ended may take a moment.
        const auto until = Clock::now() + std::chrono::seconds(1);
        while (watch.look() != 0 && Clock::now() < until) captures.wait(-1, milliseconds(20));
        end.survivors = watch.look();
    }
    if (!reaped || end.survivors != 0) end_all(tree, program.grace, child, reaped, status);
    end.last_errors = captures.finish();
    if (end.outcome == Outcome::exited) {
        if (WIFSIGNALED(status)) {
            end.outcome = Outcome::signalled;
            end.status = WTERMSIG(status);
        } else {
            end.status = WEXITSTATUS(status);
        }
    }
    return end;
}

std::string describe(const End& end, const Program& program) {
    switch (end.outcome) {
        case Outcome::exited:
            return fmt::format("exited with {}", end.status);
        case Outcome::signalled:
            return fmt::format("ended by signal {} ({})", end.status, strsignal(end.status));
        case Outcome::timed_out:
            return fmt::format("took longer than {} s", program.time_limit->count());
        case Outcome::interrupted:
            return "interrupted";
    }
    return "";
}

}  // namespace perfgate::program
