// SPDX-License-Identifier: Apache-2.0
// What happens to a program at its time limit, whatever it does about TERM.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
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

}  // namespace
}  // namespace perfgate::program
