// SPDX-License-Identifier: Apache-2.0
#include "measure/device_lock.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "measure/workers.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::measure {
namespace {

class DeviceLockTest : public testing::Test {
  protected:
    void SetUp() override { setenv("PERFGATE_LOCK_DIR", folder_.c_str(), 1); }
    void TearDown() override { unsetenv("PERFGATE_LOCK_DIR"); }

    TemporaryFolder temporary_;
    std::filesystem::path folder_ = temporary_.path();
};

DeviceLock::Waiting at_once() {
    return {0, {}, {}};
}

TEST_F(DeviceLockTest, OneBoardIsLockedOnceAndTheHolderIsNamed) {
    const DeviceLock first("abc", "a GPU", at_once());
    try {
        const DeviceLock second("abc", "a GPU", at_once());
        FAIL() << "it was locked twice";
    } catch (const util::Error& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("a GPU is in use by pid " + std::to_string(getpid())),
                  std::string::npos)
            << message;
        EXPECT_NE(message.find("--lock-wait"), std::string::npos) << message;
    }
}

TEST_F(DeviceLockTest, TwoBoardsAreLockedApartAndALockEndsWithItsHolder) {
    const DeviceLock other("def", "another GPU", at_once());
    { const DeviceLock first("abc", "a GPU", at_once()); }
    const DeviceLock again("abc", "a GPU", at_once());
}

TEST_F(DeviceLockTest, AProcessThatDiesHoldsNothing) {
    const pid_t child = fork();
    if (child == 0) {
        const DeviceLock lock("abc", "a GPU", at_once());
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const DeviceLock lock("abc", "a GPU", at_once());
}

TEST_F(DeviceLockTest, WaitingSaysSoOnceAndCanBeInterrupted) {
    const DeviceLock first("abc", "a GPU", at_once());
    int told = 0, asked = 0;
    const DeviceLock::Waiting waiting{3600, [&] { return ++asked > 3; },
                                      [&](const std::string&) { ++told; }};
    EXPECT_THROW(DeviceLock("abc", "a GPU", waiting), Interrupted);
    EXPECT_EQ(told, 1);
}

TEST_F(DeviceLockTest, WhatIsNoLockFileIsRefused) {
    std::filesystem::create_directory(folder_ / "perfgate-abc.lock");
    EXPECT_THROW(DeviceLock("abc", "a GPU", at_once()), util::Error);
    std::filesystem::create_symlink("/etc/passwd", folder_ / "perfgate-def.lock");
    EXPECT_THROW(DeviceLock("def", "a GPU", at_once()), util::Error);
}

TEST_F(DeviceLockTest, WithoutStandardInputTheLockMayHaveItsDescriptor) {
    EXPECT_EXIT(
        {
            ::close(STDIN_FILENO);
            const DeviceLock lock("abc", "a GPU", at_once());
            try {
                const DeviceLock second("abc", "a GPU", at_once());
            } catch (const util::Error&) {
                std::exit(0);
            }
            std::exit(1);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(DeviceLockTest, ItsFileIsOfAllUsersAndNamesTheHolderOfNow) {
    const auto file = folder_ / "perfgate-abc.lock";
    const mode_t before = ::umask(077);
    { const DeviceLock first("abc", "a GPU", at_once()); }
    ::umask(before);
    struct stat about {};
    ASSERT_EQ(::stat(file.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0666U);
    std::ofstream(file) << "pid 999999999 and a long rest\nof another run";
    const DeviceLock second("abc", "a GPU", at_once());
    std::ifstream stream(file);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    EXPECT_EQ(text, "pid " + std::to_string(getpid()) + "\n");
}

}  // namespace
}  // namespace perfgate::measure
