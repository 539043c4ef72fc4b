// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "program/process_tree.hpp"
#include "program/program.hpp"
#include "temporary_folder.hpp"

namespace perfgate::program {
namespace {

constexpr const char* mark = "PERFGATE_TEST_MARK=this";

/// A process that waits to be ended, with this variable as its whole environment.
pid_t start_sleep(const char* variable) {
    // Two processes of one clock tick would have the same age.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const pid_t pid = fork();
    if (pid == 0) {
        const std::array<const char*, 2> environment{variable, nullptr};
        execle("/bin/sleep", "sleep", "600", nullptr, environment.data());
        _exit(1);
    }
    return pid;
}

std::vector<pid_t> pids(ProcessTree& tree) {
    std::vector<pid_t> found;
    for (const Process& process : tree.look()) found.push_back(process.pid);
    std::sort(found.begin(), found.end());
    return found;
}

/// The numbers that a program wrote to the file, when there are so many.
std::vector<pid_t> wait_for_pids(const std::filesystem::path& file, std::size_t count) {
    for (;;) {
        std::ifstream stream(file);
        std::vector<pid_t> found;
        for (pid_t pid = 0; stream >> pid;) found.push_back(pid);
        if (found.size() == count) return found;
        std::this_thread::yield();
    }
}

bool is_alive(pid_t pid) {
    const auto state = util::state_of({pid, "/proc/" + std::to_string(pid)});
    return state && state->state != 'Z';
}

void end(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST(ProcessTree, FindsAndEndsItsRootAndMarkedProcesses) {
    const pid_t other = start_sleep("PERFGATE_TEST_MARK=thi");
    const pid_t marked = start_sleep(mark);
    const pid_t root = start_sleep("PERFGATE_TEST_MARK=");
    ProcessTree tree(root, mark);
    while (pids(tree) != std::vector<pid_t>{marked, root}) {
        tree = ProcessTree(root, mark);  // a process that has no environment yet is another's
        std::this_thread::yield();
    }
    tree.signal_all(SIGKILL);
    int status = 0;
    for (const pid_t pid : {marked, root}) {
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_TRUE(WIFSIGNALED(status));
    }
    EXPECT_TRUE(tree.look().empty());
    EXPECT_TRUE(is_alive(other));
    end(other);
}

TEST(ProcessTree, FindsDescendantsWithoutTheirEnvironmentAndWithoutTheirParents) {
    util::adopt_orphans();
    const TemporaryFolder folder;
    const std::string file = folder.path() / "pids";
    // Not the program's, and started before it.
    const pid_t elder = start_sleep("NONE=");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const pid_t root = fork();
    if (root == 0) {
        const std::string script = "env -i sh -c 'echo $$ >>" + file + "; exec sleep 600' & " +
                                   "(setsid env -i sh -c 'echo $$ >>" + file +
                                   "; exec sleep 600' &) & " + "wait";
        execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
        _exit(1);
    }
    const std::vector<pid_t> started = wait_for_pids(file, 2);
    ProcessTree tree(root, mark);
    std::vector<pid_t> expected = started;
    expected.push_back(root);
    std::sort(expected.begin(), expected.end());
    while (pids(tree) != expected) std::this_thread::yield();
    // One more look finds what it has found before, and a look after the root has ended the rest.
    EXPECT_EQ(pids(tree), expected);
    end(root);
    std::erase(expected, root);
    EXPECT_EQ(pids(tree), expected);
    tree.signal_all(SIGKILL);
    while (!tree.look().empty()) std::this_thread::yield();
    for (const pid_t pid : started) EXPECT_FALSE(is_alive(pid));
    EXPECT_TRUE(is_alive(elder));
    end(elder);
}

TEST(ProcessTree, ReapsAnOrphanThatEndedBeforeItWasSeen) {
    util::adopt_orphans();
    const pid_t root = start_sleep("NONE=");
    ProcessTree tree(root, mark);
    std::array<int, 2> channel{};
    ASSERT_EQ(pipe(channel.data()), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        const pid_t orphan = fork();
        if (orphan > 0) (void)!write(channel[1], &orphan, sizeof(orphan));
        _exit(0);
    }
    waitpid(parent, nullptr, 0);
    pid_t orphan = 0;
    ASSERT_EQ(read(channel[0], &orphan, sizeof(orphan)), static_cast<ssize_t>(sizeof(orphan)));
    for (const int end : channel) close(end);
    const util::ListedProcess listed{orphan, "/proc/" + std::to_string(orphan)};
    while (util::state_of(listed)->state != 'Z') std::this_thread::yield();
    EXPECT_EQ(pids(tree), std::vector<pid_t>{root});
    EXPECT_FALSE(util::state_of(listed)) << "it is still a zombie";
    EXPECT_TRUE(is_alive(root));
    end(root);
}

TEST(ProcessTree, FindsAProcessThatHasTheNumberOfAnotherProgramsProcess) {
    const pid_t root = start_sleep("NONE=");
    const pid_t other = fork();
    if (other == 0) {
        pause();  // our own executable: it is not the program's
        _exit(0);
    }
    ProcessTree tree(root, mark);
    EXPECT_EQ(pids(tree), std::vector<pid_t>{root});
    end(other);
    // Two processes of one clock tick would be the same.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    clone_args again{};
    again.exit_signal = SIGCHLD;
    again.set_tid = reinterpret_cast<std::uint64_t>(&other);
    again.set_tid_size = 1;
    const auto same = static_cast<pid_t>(syscall(SYS_clone3, &again, sizeof(again)));
    if (same == 0) {
        const std::array<const char*, 2> environment{mark, nullptr};
        execle("/bin/sleep", "sleep", "600", nullptr, environment.data());
        _exit(1);
    }
    if (same != other) {
        if (same > 0) end(same);
        end(root);
        GTEST_SKIP() << "processes cannot choose their number here";
    }
    std::vector<pid_t> expected{root, same};
    std::sort(expected.begin(), expected.end());
    // It has no environment before exec.
    for (bool found = false; !found; std::this_thread::yield()) {
        ProcessTree fresh(root, mark);
        found = pids(fresh) == expected;
    }
    EXPECT_EQ(pids(tree), expected);
    end(same);
    end(root);
}

TEST(Run, EndsAChildWithoutEnvironmentThatOutlivesTheProgram) {
    const TemporaryFolder folder;
    Program program;
    program.words = {"sh", "-c", "(setsid env -i sh -c 'echo $$ >pids; exec sleep 600' &)"};
    program.folder = folder.path();
    program.output_file = folder.path() / "output";
    program.error_file = folder.path() / "errors";
    program.grace = std::chrono::milliseconds(300);
    EXPECT_EQ(run(program, {}).survivors, 1U);
    EXPECT_FALSE(is_alive(wait_for_pids(folder.path() / "pids", 1).front()));
}

/// As a fork server may, which was started before the program and is none of its processes.
TEST(Run, EndsThoughAnotherProcessKeepsItsOutputOpen) {
    const TemporaryFolder folder;
    Program program;
    program.words = {"sh", "-c",
                     "echo $$ >pids; while [ ! -e held ]; do sleep 0.01; done; echo the last line"};
    program.folder = folder.path();
    program.output_file = folder.path() / "output";
    program.error_file = folder.path() / "errors";
    const int ours = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    std::thread holder([&] {
        const pid_t pid = wait_for_pids(folder.path() / "pids", 1).front();
        const std::string output = "/proc/" + std::to_string(pid) + "/fd/1";
        const int held = ::open(output.c_str(), O_WRONLY | O_CLOEXEC);
        EXPECT_GE(held, 0);
        dup3(held, ours, O_CLOEXEC);
        ::close(held);
        std::ofstream(folder.path() / "held") << "now";
    });
    const End end = run(program, {});
    holder.join();
    EXPECT_EQ(end.outcome, Outcome::exited);
    EXPECT_EQ(end.survivors, 0U);
    std::ifstream output(program.output_file);
    std::string line;
    std::getline(output, line);
    EXPECT_EQ(line, "the last line");
    ::close(ours);
}

TEST(Run, ReportsTheProcessesWhileTheyRun) {
    const TemporaryFolder folder;
    Program program;
    program.words = {"sh", "-c", "env -i sh -c 'while [ ! -e go ]; do sleep 0.01; done'"};
    program.folder = folder.path();
    std::size_t most = 0;
    program.watch = [&](const std::vector<Process>& processes) {
        most = std::max(most, processes.size());
        if (most >= 2) std::ofstream(folder.path() / "go") << "now";
    };
    EXPECT_EQ(run(program, {}).status, 0);
    EXPECT_GE(most, 2U);
}

}  // namespace
}  // namespace perfgate::program
