// SPDX-License-Identifier: Apache-2.0
#include "util/process_list.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>

namespace perfgate::util {
namespace {

bool is_listed(pid_t pid) {
    const auto all = list_processes();
    return std::any_of(all.begin(), all.end(), [&](const ListedProcess& each) {
        return each.pid == pid && each.folder == "/proc/" + std::to_string(pid);
    });
}

TEST(ProcessList, HasThisProcessAndItsChildren) {
    EXPECT_TRUE(is_listed(getpid()));
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    EXPECT_TRUE(is_listed(child));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(is_listed(child));
    for (const ListedProcess& each : list_processes()) EXPECT_GT(each.pid, 0);
}

TEST(ProcessList, ASignalGoesToTheProcessThatIsMeantAndNotToALaterOneOfItsNumber) {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const std::uint64_t start = state_of({child, "/proc/" + std::to_string(child)})->start;
    EXPECT_FALSE(send_signal({child, start + 1}, SIGKILL));
    EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it has not ended";
    EXPECT_TRUE(send_signal({child, start}, SIGTERM));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
    EXPECT_FALSE(send_signal({child, start}, SIGKILL));
}

TEST(ProcessList, TheTextOfAFileOfAProcess) {
    EXPECT_NE(text_of("/proc/self/stat").find(')'), std::string::npos);
    EXPECT_EQ(text_of("/proc/none/stat"), "");
}

// A process may end between the opening and the reading of its file. A folder fails the same way.
TEST(ProcessList, AFileThatCannotBeReadIsEmpty) {
    EXPECT_EQ(text_of("/proc/self"), "");
}

TEST(ProcessList, TheStateOfAProcessOfAnyName) {
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NAME, "a) b (c");
        pause();
        _exit(0);
    }
    const ListedProcess listed{child, "/proc/" + std::to_string(child)};
    while (text_of(listed.folder / "comm") != "a) b (c\n") usleep(1000);
    const auto state = state_of(listed);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->parent, getpid());
    EXPECT_EQ(state->session, getsid(0));
    const auto own = state_of({getpid(), "/proc/self"});
    EXPECT_GE(state->start, own->start);
    kill(child, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    EXPECT_EQ(state_of(listed)->state, 'Z');
    EXPECT_EQ(state_of(listed)->start, state->start);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(state_of(listed));
}

}  // namespace
}  // namespace perfgate::util
