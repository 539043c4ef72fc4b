// SPDX-License-Identifier: Apache-2.0
#include "measure/process_tree.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "util/process_list.hpp"

namespace perfgate::measure {
namespace {

using Clock = std::chrono::steady_clock;

/// When the guarded process has ended, its descendants are killed, which takes milliseconds.
constexpr std::chrono::duration<double> descendants_limit{5};

struct Process {
    util::ProcessId id;
    pid_t parent = 0, session = 0;
};

std::vector<Process> all_processes() {
    std::vector<Process> processes;
    for (const util::ListedProcess& listed : util::list_processes()) {
        if (const auto state = util::state_of(listed)) {
            processes.push_back({{listed.pid, state->start}, state->parent, state->session});
        }
    }
    return processes;
}

void kill_with_descendants(const util::ProcessId& id, const std::vector<Process>& processes) {
    util::send_signal(id, SIGKILL);
    for (const Process& process : processes) {
        if (process.parent == id.pid) kill_with_descendants(process.id, processes);
    }
}

void pause_for_the_kernel() {
    const timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
}

[[noreturn]] void end_as(int status) {
    if (WIFSIGNALED(status)) {
        const rlimit no_core{0, 0};  // the guarded process has written its own
        setrlimit(RLIMIT_CORE, &no_core);
        const int signal = WTERMSIG(status);
        std::signal(signal, SIG_DFL);
        sigset_t only{};
        sigemptyset(&only);
        sigaddset(&only, signal);
        sigprocmask(SIG_UNBLOCK, &only, nullptr);
        raise(signal);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

}  // namespace

bool end_descendants(std::chrono::duration<double> limit) {
    const auto end = Clock::now() + limit;
    for (;;) {
        pid_t reaped = 0;
        while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {
        }
        if (reaped < 0 && errno == ECHILD) return true;
        if (Clock::now() > end) return false;
        const std::vector<Process> processes = all_processes();
        for (const Process& process : processes) {
            if (process.parent == getpid()) kill_with_descendants(process.id, processes);
        }
        pause_for_the_kernel();
    }
}

void end_orphans(std::chrono::duration<double> limit, const std::function<bool(pid_t)>& keep) {
    const auto end = Clock::now() + limit;
    const pid_t own_session = getsid(0);
    do {
        siginfo_t info{};
        const bool has_children =
            waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
        if (!has_children) return;
        bool found = false;
        const std::vector<Process> processes = all_processes();
        for (const Process& process : processes) {
            if (process.parent != getpid() || process.session == own_session) continue;
            if (keep(process.id.pid)) continue;
            found = true;
            kill_with_descendants(process.id, processes);
            waitpid(process.id.pid, nullptr, WNOHANG);
        }
        if (!found) return;
        pause_for_the_kernel();
    } while (Clock::now() < end);
}

void guard(int inherited) {
    util::adopt_orphans();
    sigset_t watched{}, before{};
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigprocmask(SIG_BLOCK, &watched, &before);
    const int signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);

    const pid_t self = getpid();
    const pid_t child = fork();
    if (child == 0) {
        // It must not outlive a guard that was killed.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != self) _exit(127);
        ::close(signals);
        sigprocmask(SIG_SETMASK, &before, nullptr);
        return;
    }
    ::close(inherited);
    if (child < 0 || signals < 0) {
        end_descendants(descendants_limit);
        _exit(127);
    }

    int status = SIGKILL;  // if it does not end by itself
    for (bool ended = false, stop = false; !ended && !stop;) {
        std::array<pollfd, 2> ready{pollfd{STDIN_FILENO, 0, 0}, pollfd{signals, POLLIN, 0}};
        poll(ready.data(), ready.size(), -1);
        signalfd_siginfo signal{};
        while (::read(signals, &signal, sizeof(signal)) == sizeof(signal)) {
            stop = stop || signal.ssi_signo == SIGTERM;
        }
        stop = stop || (ready[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
        int of_reaped = 0;
        for (pid_t reaped = 0; (reaped = waitpid(-1, &of_reaped, WNOHANG)) > 0;) {
            if (reaped != child) continue;
            status = of_reaped;
            ended = true;
        }
    }
    end_descendants(descendants_limit);
    end_as(status);
}

}  // namespace perfgate::measure
