// SPDX-License-Identifier: Apache-2.0
#include "model/process_list.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace perfgate::model {
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

}  // namespace
}  // namespace perfgate::model
