// SPDX-License-Identifier: Apache-2.0
#include "program/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "model/error.hpp"
#include "model/text.hpp"
#include "program/process_tree.hpp"

extern char** environ;

namespace perfgate::program {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The variable by which the processes of one program are known.
constexpr const char* mark_variable = "PERFGATE_PROGRAM";

std::string new_mark() {
    static std::atomic<unsigned> counter{0};
    return fmt::format("{}={}-{}-{}", mark_variable, ::getpid(),
                       Clock::now().time_since_epoch().count(), counter.fetch_add(1));
}

/// Our environment with the program's variables in place of ours of the same names.
std::vector<std::string> environment_of(const Program& program, const std::string& mark) {
    std::vector<std::string> own = {mark};
    for (const auto& [name, value] : program.environment) own.push_back(name + "=" + value);
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

/// In the child, between fork and exec: async-signal-safe calls alone. The errno goes to `failure`.
[[noreturn]] void exec_program(char* const* words, char* const* environment, int failure,
                               pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    // What perfgate ignores for itself is not for its children.
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    execvpe(words[0], words, environment);
    const int error = errno;
    (void)!::write(failure, &error, sizeof(error));
    _exit(127);
}

pid_t start(const Program& program, const std::string& mark) {
    if (program.words.empty()) throw model::InputError("no program was named");
    const std::vector<std::string> environment = environment_of(program, mark);
    const std::vector<char*> words = pointers(program.words);
    const std::vector<char*> variables = pointers(environment);
    std::array<int, 2> failure{};
    if (pipe2(failure.data(), O_CLOEXEC) != 0) {
        throw model::Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    }
    const pid_t parent = ::getpid();
    const pid_t child = fork();
    if (child == 0) exec_program(words.data(), variables.data(), failure[1], parent);
    const int fork_error = errno;
    ::close(failure[1]);
    int error = 0;
    ssize_t got = 0;
    if (child > 0) {
        do got = ::read(failure[0], &error, sizeof(error));
        while (got < 0 && errno == EINTR);
    }
    ::close(failure[0]);
    if (child < 0) throw model::Error(fmt::format("cannot fork: {}", std::strerror(fork_error)));
    if (got == sizeof(error)) {
        waitpid(child, nullptr, 0);
        throw model::InputError(fmt::format(
            "cannot run {}: {}", model::printable(program.words.front()), std::strerror(error)));
    }
    return child;
}

bool has_ended(pid_t child, int& status) {
    const pid_t got = waitpid(child, &status, WNOHANG);
    return got == child || (got < 0 && errno == ECHILD);
}

/// TERM, time to follow it, KILL: for all that have the mark. `child` is reaped.
void end_all(const std::string& mark, std::chrono::duration<double> grace, pid_t child,
             bool& reaped, int& status) {
    const auto wait_for_all = [&](Clock::time_point until) {
        for (;;) {
            if (!reaped) reaped = has_ended(child, status);
            if (reaped && processes_with(mark).empty()) return true;
            if (Clock::now() >= until) return false;
            std::this_thread::sleep_for(milliseconds(20));
        }
    };
    const auto patience = std::chrono::duration_cast<Clock::duration>(grace);
    signal_all(mark, SIGTERM);
    if (wait_for_all(Clock::now() + patience)) return;
    // One that forks while it is ended leaves a child: until none is left.
    for (int round = 0; round < 50; ++round) {
        signal_all(mark, SIGKILL);
        if (wait_for_all(Clock::now() + milliseconds(100))) return;
    }
}

}  // namespace

End run(const Program& program, const std::function<bool()>& stop) {
    const std::string mark = new_mark();
    const auto begin = Clock::now();
    const pid_t child = start(program, mark);
    End end;
    int status = 0;
    bool reaped = false;
    auto pause = milliseconds(1);
    while (!(reaped = has_ended(child, status))) {
        const bool late = program.time_limit && Clock::now() - begin >= *program.time_limit;
        if (late || (stop && stop())) {
            end.outcome = late ? Outcome::timed_out : Outcome::interrupted;
            break;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, milliseconds(10));
    }
    end.time = Clock::now() - begin;
    if (reaped) {
        // Helpers of a program that has ended may take a moment.
        const auto until = Clock::now() + std::chrono::seconds(1);
        while (!processes_with(mark).empty() && Clock::now() < until) {
            std::this_thread::sleep_for(milliseconds(20));
        }
        end.survivors = processes_with(mark).size();
    }
    if (!reaped || end.survivors != 0) end_all(mark, program.grace, child, reaped, status);
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
