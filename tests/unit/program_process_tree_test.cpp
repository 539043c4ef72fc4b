// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>
#include <vector>

#include "program/process_tree.hpp"

namespace perfgate::program {
namespace {

constexpr const char* mark = "PERFGATE_TEST_MARK=this";

/// A process with the mark in its environment, which waits to be ended.
pid_t start_marked() {
    const pid_t pid = fork();
    if (pid == 0) {
        const std::array<const char*, 2> environment{mark, nullptr};
        execle("/bin/sleep", "sleep", "600", nullptr, environment.data());
        _exit(1);
    }
    return pid;
}

TEST(ProcessTree, FindsAndEndsMarkedProcesses) {
    EXPECT_TRUE(processes_with(mark).empty());
    const pid_t marked = start_marked();
    while (processes_with(mark) != std::vector<pid_t>{marked}) std::this_thread::yield();
    EXPECT_TRUE(processes_with("PERFGATE_TEST_MARK=thi").empty());
    EXPECT_EQ(signal_all(mark, SIGKILL), 1U);
    int status = 0;
    ASSERT_EQ(waitpid(marked, &status, 0), marked);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(processes_with(mark).empty());
}

}  // namespace
}  // namespace perfgate::program
