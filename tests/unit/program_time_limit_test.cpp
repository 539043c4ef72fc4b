// SPDX-License-Identifier: Apache-2.0
// What happens to a program at its time limit, whatever it does about TERM.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "program/program.hpp"
#include "temporary_folder.hpp"

namespace perfgate::program {
namespace {

TEST(TimeLimit, KillsAProgramAndItsChildThatIgnoreTerm) {
    const TemporaryFolder folder;
    Program program;
    // What ignores a signal passes that on to what it starts; setsid takes the child out of reach
    // of signals to the program's group.
    program.words = {"sh", "-c",
                     "trap '' TERM; echo $$ >> pids; setsid sh -c 'echo $$ >> pids; sleep 600' & "
                     "sleep 600"};
    program.folder = folder.path();
    program.output_file = folder.path() / "output";
    program.error_file = folder.path() / "errors";
    program.time_limit = std::chrono::milliseconds(500);
    program.grace = std::chrono::milliseconds(300);
    const End end = run(program, {});
    EXPECT_EQ(end.outcome, Outcome::timed_out);
    EXPECT_EQ(describe(end, program), "took longer than 0.5 s");
    std::ifstream file(folder.path() / "pids");
    std::vector<pid_t> pids;
    for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
    ASSERT_EQ(pids.size(), 2u);
    for (const pid_t pid : pids) {
        // A zombie that nobody has reaped yet is dead, too.
        std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
        std::string number, name, state = "gone";
        stat >> number >> name >> state;
        EXPECT_TRUE(state == "gone" || state == "Z") << pid << ' ' << state;
    }
}

TEST(Watch, WhatOthersTookFromAShortProgramIsKnown) {
    if (std::ifstream("/proc/self/schedstat").fail()) GTEST_SKIP() << "the kernel does not tell";
    Program program;
    program.words = {"true"};
    program.is_measured = true;
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(run(program, {}).other_work) << i;
}

TEST(Watch, ALookThatWaitsForABusyMachineDoesNotPutOffTheNext) {
    const TemporaryFolder folder;
    Program program;
    program.words = {"sh", "-c", "while [ ! -e seen ]; do sleep 0.05; done"};
    program.folder = folder.path();
    program.output_file = folder.path() / "output";
    program.error_file = folder.path() / "errors";
    // Twenty times as long as the first look lasts: the second one comes before.
    program.time_limit = std::chrono::seconds(60);
    int looks = 0;
    program.watch = [&](const std::vector<Process>&) {
        if (++looks == 1) std::this_thread::sleep_for(std::chrono::seconds(3));
        if (looks == 2) std::ofstream(folder.path() / "seen");
    };
    EXPECT_EQ(run(program, {}).outcome, Outcome::exited);
}

}  // namespace
}  // namespace perfgate::program
