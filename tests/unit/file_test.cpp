// SPDX-License-Identifier: Apache-2.0
#include "util/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>

#include "unit/temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::model {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
  protected:
    fs::path path(const char* name) const { return folder_ / name; }

    /// What is in the folder now, temporary files included.
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    util::TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
};

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const util::Error& error) {
        return error.what();
    }
    return "(no error)";
}

std::string read_message(const fs::path& path, std::size_t limit = 100) {
    try {
        util::read_file(path, limit, "suite");
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "(no error)";
}

TEST_F(File, ReadsBackWhatWasWritten) {
    const std::string content("two\nlines\0and a nul", 19);
    util::write_file_atomically(path("a.json"), content);
    EXPECT_EQ(util::read_file(path("a.json"), 100, "suite"), content);
    util::write_file_atomically(path("a.json"), "");
    EXPECT_EQ(util::read_file(path("a.json"), 0, "suite"), "");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(File, ReadsUpToTheLimitAndNotBeyond) {
    util::write_file_atomically(path("a"), std::string(100, 'x'));
    EXPECT_EQ(util::read_file(path("a"), 100, "suite").size(), 100u);
    EXPECT_EQ(read_message(path("a"), 99),
              "suite " + path("a").string() + ": larger than 99 bytes, the most a suite may have");
}

TEST_F(File, RefusesAHugeFileWithoutReadingIt) {
    util::write_file_atomically(path("huge"), "");
    fs::resize_file(path("huge"), std::uintmax_t{1} << 40);  // sparse
    EXPECT_NE(read_message(path("huge"), 4 << 20).find("larger than 4 MiB"), std::string::npos);
}

TEST_F(File, NamesWhatIsNotAFile) {
    EXPECT_EQ(read_message(path("none")),
              "suite " + path("none").string() + ": No such file or directory");
    EXPECT_EQ(read_message(folder_),
              "suite " + folder_.string() + ": expected a file, found a directory");
    EXPECT_EQ(read_message("/dev/zero"), "suite /dev/zero: expected a file, found a device");
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    // Nobody writes to it: opening it in the plain way would wait for ever.
    EXPECT_EQ(read_message(path("pipe")),
              "suite " + path("pipe").string() + ": expected a file, found a pipe");
    EXPECT_NE(read_message("").find("No such file"), std::string::npos);
    EXPECT_NE(read_message(std::string(5000, 'a')).find("File name too long"), std::string::npos);
}

TEST_F(File, ReadsFilesThatAnnounceNoSize) {
    // /proc files say 0 bytes and have some.
    EXPECT_FALSE(util::read_file("/proc/self/status", 1 << 20, "status").empty());
    EXPECT_NE(read_message("/proc/self/status", 10).find("larger than 10 bytes"),
              std::string::npos);
}

TEST_F(File, NamesInMessagesCannotObeyATerminal) {
    EXPECT_EQ(read_message("/no\x1b[31m"), "suite /no?[31m: No such file or directory");
}

TEST_F(File, CreatesFoldersOnTheWay) {
    util::write_file_atomically(path("x/y/z.json"), "1");
    EXPECT_EQ(util::read_file(path("x/y/z.json"), 10, "suite"), "1");
}

TEST_F(File, HasThePermissionsThatUmaskSays) {
    const mode_t before = ::umask(027);
    util::write_file_atomically(path("a"), "1");
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0640u);
}

TEST_F(File, FullDeviceIsAnErrorThatSaysSo) {
    EXPECT_EQ(message_of([] { util::write_file_atomically("/dev/full", "x"); }),
              "cannot write /dev/full: No space left on device");
}

TEST_F(File, APipeThatNobodyReadsIsRefusedAtOnce) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(message_of([this] { util::write_file_atomically(path("pipe"), "x"); }),
              "cannot write " + path("pipe").string() + ": this pipe has no reader; name a file");
}

TEST_F(File, DeviceIsWrittenToNotReplaced) {
    fs::create_symlink("/dev/null", path("link"));
    util::write_file_atomically(path("link"), "gone");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(File, PipeOfAShellIsWrittenTo) {
    // `--json >(command)` and `--json /dev/stdout | command` are such paths.
    int ends[2] = {};
    ASSERT_EQ(::pipe(ends), 0);
    util::write_file_atomically("/dev/fd/" + std::to_string(ends[1]), "hello");
    ::close(ends[1]);
    char text[16] = {};
    EXPECT_EQ(::read(ends[0], text, sizeof text), 5);
    ::close(ends[0]);
    EXPECT_STREQ(text, "hello");
}

TEST_F(File, RedirectedStandardOutputKeepsWhatWasPrinted) {
    const int file = ::open(path("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::write(file, "printed\n", 8), 8);
    util::write_file_atomically("/dev/fd/" + std::to_string(file), "json\n");
    ::close(file);
    EXPECT_EQ(util::read_file(path("out"), 100, "suite"), "printed\njson\n");
}

TEST_F(File, AFileInSharedMemoryIsReplaced) {
    std::string folder = "/dev/shm/perfgate-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) GTEST_SKIP() << "no /dev/shm";
    for (const char* text : {"old", "new"}) util::write_file_atomically(folder + "/a", text);
    EXPECT_EQ(util::read_file(folder + "/a", 10, "suite"), "new");
    fs::remove_all(folder);
}

TEST_F(File, LinkKeepsPointingAtItsTarget) {
    util::write_file_atomically(path("target"), "old");
    fs::create_symlink("target", path("link"));
    util::write_file_atomically(path("link"), "new");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(util::read_file(path("target"), 10, "suite"), "new");
}

TEST_F(File, FolderInThePlaceOfTheFileIsAnError) {
    fs::create_directory(path("d"));
    EXPECT_EQ(message_of([&] { util::write_file_atomically(path("d"), "x"); }),
              "cannot write " + path("d").string() + ": Is a directory");
}

TEST_F(File, FileInThePlaceOfTheFolderIsAnError) {
    util::write_file_atomically(path("f"), "x");
    const std::string message = message_of([&] { util::write_file_atomically(path("f/a"), "x"); });
    EXPECT_NE(message.find("cannot write " + path("f/a").string()), std::string::npos) << message;
    EXPECT_NE(message.find("Not a directory"), std::string::npos) << message;
}

TEST_F(File, FolderThatTakesNoFilesIsAnError) {
    // /proc refuses new files even to root.
    const std::string message =
        message_of([] { util::write_file_atomically("/proc/perfgate", "x"); });
    EXPECT_NE(message.find("cannot write /proc/perfgate: "), std::string::npos) << message;
}

TEST_F(File, FailedWriteLeavesTheOldContentAndNoTemporaryFile) {
    util::write_file_atomically(path("a"), "old");
    // A limit on file size fails the write in the middle, as a full disk does.
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlimit small = limit;
    small.rlim_cur = 4096;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string message =
        message_of([&] { util::write_file_atomically(path("a"), std::string(10000, 'n')); });
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, previous);
    EXPECT_EQ(message, "cannot write " + path("a").string() + ": File too large");
    EXPECT_EQ(util::read_file(path("a"), 10, "suite"), "old");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(File, ALibraryFillsAFileThatThenReplacesTheOldOne) {
    util::write_file_atomically(path("a"), "old");
    util::make_file_atomically(path("a"), [&](const fs::path& temporary) {
        EXPECT_EQ(temporary.parent_path(), folder_);
        EXPECT_EQ(util::read_file(path("a"), 10, "suite"), "old");
        std::ofstream(temporary) << "new";
    });
    EXPECT_EQ(util::read_file(path("a"), 10, "suite"), "new");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(File, WhatALibraryDoesNotFinishIsRemoved) {
    util::write_file_atomically(path("a"), "old");
    const auto make = [](const fs::path& temporary) {
        std::ofstream(temporary) << "half";
        throw util::Error("stopped");
    };
    EXPECT_EQ(message_of([&] { util::make_file_atomically(path("a"), make); }), "stopped");
    EXPECT_EQ(util::read_file(path("a"), 10, "suite"), "old");
    EXPECT_EQ(entries(), 1u);
    for (const char* target : {"-", "/dev/null"}) {
        EXPECT_NE(message_of([&] { util::make_file_atomically(target, make); }).find("of its own"),
                  std::string::npos);
    }
}

TEST_F(File, LongestFileNameCanBeWritten) {
    const std::string name(255, 'n');
    util::write_file_atomically(folder_ / name, "x");
    EXPECT_EQ(util::read_file(folder_ / name, 10, "suite"), "x");
}

TEST_F(File, DashIsStandardOutput) {
    testing::internal::CaptureStdout();
    util::write_file_atomically("-", "hello\n");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello\n");
    EXPECT_FALSE(fs::exists("-"));
}

TEST_F(File, FullStandardOutputIsAnError) {
    std::fflush(stdout);
    const int saved = ::dup(STDOUT_FILENO);
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_GE(full, 0);
    ::dup2(full, STDOUT_FILENO);
    const std::string message = message_of([] { util::write_file_atomically("-", "x"); });
    ::dup2(saved, STDOUT_FILENO);
    ::close(saved);
    ::close(full);
    EXPECT_EQ(message, "cannot write standard output: No space left on device");
}

}  // namespace
}  // namespace perfgate::model
