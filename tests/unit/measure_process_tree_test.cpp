// SPDX-License-Identifier: Apache-2.0
#include "measure/process_tree.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "util/process_list.hpp"

namespace perfgate::measure {
namespace {

using Seconds = std::chrono::duration<double>;

/// The wait status of a process that does this.
template <class Work>
int status_of(const Work& work) {
    const pid_t child = fork();
    if (child == 0) {
        work();
        _exit(99);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

/// A guard over a shell, in a process of its own, with a pipe as its standard input.
struct Guarded {
    explicit Guarded(const std::string& commands) {
        std::array<int, 2> ends{};
        EXPECT_EQ(pipe(ends.data()), 0);
        std::array<int, 2> said{};
        EXPECT_EQ(pipe(said.data()), 0);
        pid = fork();
        if (pid == 0) {
            setsid();
            dup2(ends[0], STDIN_FILENO);
            close(ends[0]);
            close(ends[1]);
            dup2(said[1], STDOUT_FILENO);
            close(said[1]);
            guard(said[0]);
            execl("/bin/sh", "/bin/sh", "-c", commands.c_str(), nullptr);
            _exit(127);
        }
        close(ends[0]);
        close(said[1]);
        to = ends[1];
        from = said[0];
    }
    ~Guarded() {
        close(to);
        close(from);
    }
    /// What the command wrote, as a number.
    pid_t number() const {
        std::array<char, 32> text{};
        EXPECT_GT(read(from, text.data(), text.size() - 1), 0);
        return static_cast<pid_t>(std::atol(text.data()));
    }
    int status() const {
        int found = 0;
        EXPECT_EQ(waitpid(pid, &found, 0), pid);
        return found;
    }

    pid_t pid = -1;
    int to = -1, from = -1;
};

bool is_gone(pid_t pid) {
    return kill(pid, 0) != 0 && errno == ESRCH;
}

TEST(Guard, EndsAsItsChildDoes) {
    EXPECT_EQ(WEXITSTATUS(Guarded("exit 0").status()), 0);
    EXPECT_EQ(WEXITSTATUS(Guarded("exit 5").status()), 5);
    const int crashed = Guarded("kill -USR1 $$").status();
    ASSERT_TRUE(WIFSIGNALED(crashed));
    EXPECT_EQ(WTERMSIG(crashed), SIGUSR1);
}

TEST(Guard, TakesWhatItsCommandLeftWithIt) {
    const Guarded guarded("setsid sleep 1000 >/dev/null & echo $!; exit 4");
    const pid_t orphan = guarded.number();
    const int status = guarded.status();
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 4);
    EXPECT_TRUE(is_gone(orphan));
}

TEST(Guard, EndsItsCommandAtATermination) {
    const Guarded guarded("setsid sleep 1000 >/dev/null & echo $!; sleep 1000");
    const pid_t orphan = guarded.number();
    EXPECT_FALSE(is_gone(orphan));
    kill(guarded.pid, SIGTERM);
    const int status = guarded.status();
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    EXPECT_TRUE(is_gone(orphan));
}

TEST(Guard, EndsItsCommandWhenNobodyWritesToItAnyMore) {
    Guarded guarded("echo $$; sleep 1000");
    const pid_t command = guarded.number();
    EXPECT_FALSE(is_gone(command));
    close(std::exchange(guarded.to, -1));
    EXPECT_TRUE(WIFSIGNALED(guarded.status()));
    EXPECT_TRUE(is_gone(command));
}

TEST(Guard, LeavesItsCommandWhatItWasGivenAndItsSignals) {
    const Guarded guarded("read line; echo ${#line}; kill -TERM $$; exit 1");
    EXPECT_EQ(write(guarded.to, "12345\n", 6), 6);
    EXPECT_EQ(guarded.number(), 5);
    const int status = guarded.status();
    ASSERT_TRUE(WIFSIGNALED(status)) << "the guard's own blocked signals are not the command's";
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

pid_t started(const std::string& commands, bool own_session) {
    const pid_t child = fork();
    if (child == 0) {
        if (own_session) setsid();
        execl("/bin/sh", "/bin/sh", "-c", commands.c_str(), nullptr);
        _exit(127);
    }
    return child;
}

TEST(ProcessTree, EveryDescendantIsEndedAndReaped) {
    const int status = status_of([] {
        if (!end_descendants(Seconds(5))) _exit(1);  // there is none
        util::adopt_orphans();
        started("setsid sleep 1000 & sleep 1000 & wait", false);
        usleep(100'000);
        if (!end_descendants(Seconds(20))) _exit(2);
        _exit(waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD ? 0 : 3);
    });
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ProcessTree, OrphansAreChildrenOfOtherSessionsThatAreNotKept) {
    const int status = status_of([] {
        util::adopt_orphans();
        const pid_t ours = started("sleep 1000", false);
        const pid_t kept = started("sleep 1000", true);
        const pid_t orphan = started("sleep 1000 & wait", true);
        usleep(100'000);
        end_orphans(Seconds(20), [&](pid_t pid) { return pid == kept; });
        const bool right = !is_gone(ours) && !is_gone(kept) && is_gone(orphan);
        end_descendants(Seconds(20));
        _exit(right ? 0 : 1);
    });
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace perfgate::measure
