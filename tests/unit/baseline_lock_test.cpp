// SPDX-License-Identifier: Apache-2.0
#include "baseline/file_changes.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "unit/temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::baseline {
namespace {

namespace fs = std::filesystem;

class BaselineLocks : public ::testing::Test {
  protected:
    std::string refusal(BaselineLock::Waiting waiting) const {
        try {
            const BaselineLock lock(folder_, waiting);
        } catch (const util::Error& error) {
            return error.what();
        }
        return "locked";
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
};

BaselineLock::Waiting at_most(double limit_s) {
    BaselineLock::Waiting waiting;
    waiting.limit_s = limit_s;
    return waiting;
}

/// As NFS does it: a folder, which is not open for writing, cannot be locked.
int flock_of_files(int fd, int operation) {
    struct stat about {};
    ::fstat(fd, &about);
    if (!S_ISDIR(about.st_mode)) return ::flock(fd, operation);
    errno = EBADF;
    return -1;
}

TEST_F(BaselineLocks, IsFreeAgainWhenItsHolderIsGoneAndLeavesNothingBehind) {
    { const BaselineLock lock(folder_, at_most(0)); }
    EXPECT_EQ(refusal(at_most(0)), "locked");
    EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BaselineLocks, WaitsForALimitedTimeAndSaysSo) {
    const BaselineLock lock(folder_, at_most(0));
    int told = 0;
    BaselineLock::Waiting waiting = at_most(0.1);
    waiting.tell = [&] { ++told; };
    EXPECT_EQ(refusal(waiting),
              folder_.string() +
                  ": another perfgate has been writing here for 0.1 s: end it, or "
                  "try again later");
    EXPECT_EQ(told, 1);
}

TEST_F(BaselineLocks, OneHolderAtATime) {
    int counter = 0;  // no atomic: the lock is what keeps it whole
    std::vector<std::thread> writers;
    for (int i = 0; i < 4; ++i) {
        writers.emplace_back([&] {
            for (int round = 0; round < 25; ++round) {
                const BaselineLock lock(folder_, at_most(60));
                ++counter;
            }
        });
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(counter, 100);
}

TEST_F(BaselineLocks, WhereNoFolderCanBeLockedAFileInItIs) {
    BaselineLock::Waiting waiting = at_most(0);
    waiting.flock = flock_of_files;
    const BaselineLock lock(folder_, waiting);
    EXPECT_TRUE(fs::exists(folder_ / ".perfgate.lock"));
    EXPECT_NE(refusal(waiting).find("another perfgate"), std::string::npos);
}

TEST_F(BaselineLocks, WithoutAnyLocksNothingIsWritten) {
    BaselineLock::Waiting waiting = at_most(0);
    waiting.flock = [](int, int) {
        errno = ENOLCK;
        return -1;
    };
    EXPECT_NE(refusal(waiting).find("cannot lock " + folder_.string()), std::string::npos);
}

TEST_F(BaselineLocks, AReadOnlyFolderCanBeLocked) {
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(refusal(at_most(0)), "locked");
    fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(BaselineLocks, WhoeverHoldsItRemovesWhatAKilledWriterLeft) {
    fs::create_directories(folder_ / ".perfgate-change");
    std::string told;
    BaselineLock::Waiting waiting = at_most(0);
    waiting.recovered = [&](const std::string& line) { told = line; };
    { const BaselineLock lock(folder_, waiting); }
    EXPECT_NE(told.find(folder_.string()), std::string::npos) << told;
    EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BaselineLocks, IsFreeAgainIfWhatWasLeftCannotBeFinished) {
    fs::create_symlink("nowhere", folder_ / ".perfgate-change");
    EXPECT_NE(refusal(at_most(0)).find("found a link"), std::string::npos);
    fs::remove(folder_ / ".perfgate-change");
    EXPECT_EQ(refusal(at_most(0)), "locked");
}

TEST_F(BaselineLocks, WithoutStandardInputTheLockMayHaveItsDescriptor) {
    EXPECT_EXIT(
        {
            ::close(STDIN_FILENO);
            const BaselineLock lock(folder_, at_most(0));
            std::exit(refusal(at_most(0)) == "locked" ? 1 : 0);
        },
        testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace perfgate::baseline
