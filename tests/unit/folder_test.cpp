// SPDX-License-Identifier: Apache-2.0
#include "util/folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "unit/temporary_folder.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::util {
namespace {

namespace fs = std::filesystem;

class Folders : public ::testing::Test {
  protected:
    void SetUp() override { put(victim_, "precious"); }
    static void put(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
    static std::string text(const fs::path& file) { return read_file(file, 1000, "file"); }
    template <typename Act>
    static std::string message_of(const Act& act) {
        try {
            act();
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing was thrown";
    }
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(out_), fs::directory_iterator()));
    }

    TemporaryFolder temporary_;
    fs::path victim_ = temporary_.path() / "victim";
    fs::path out_ = temporary_.path() / "out";
};

TEST_F(Folders, AFileTakesThePlaceOfALinkAndWhatItPointsToStays) {
    const Folder folder(out_);
    for (const fs::path& target : {victim_, fs::path("nowhere"), temporary_.path()}) {
        fs::create_symlink(target, out_ / "written");
        fs::create_symlink(target, out_ / "created");
        folder.write("written", "new");
        ASSERT_EQ(::write(folder.create("created").get(), "new", 3), 3);
        for (const char* name : {"written", "created"}) {
            EXPECT_EQ(fs::symlink_status(out_ / name).type(), fs::file_type::regular);
            EXPECT_EQ(text(out_ / name), "new");
            fs::remove(out_ / name);
        }
    }
    EXPECT_EQ(text(victim_), "precious");
    EXPECT_FALSE(fs::exists(out_ / "nowhere"));
}

TEST_F(Folders, AFileTakesThePlaceOfAPipeAndOfAnotherNameOfAFile) {
    const Folder folder(out_);
    ASSERT_EQ(::mkfifo((out_ / "written").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((out_ / "created").c_str(), 0600), 0);
    folder.write("written", "new");
    EXPECT_GE(folder.create("created").get(), 0);
    fs::remove(out_ / "written");
    fs::create_hard_link(victim_, out_ / "written");
    fs::remove(out_ / "created");
    fs::create_hard_link(victim_, out_ / "created");
    folder.write("written", "new");
    EXPECT_GE(folder.create("created").get(), 0);
    EXPECT_EQ(text(victim_), "precious");
}

TEST_F(Folders, ALinkInThePlaceOfAFolderBelowIsRefusedWithTheRemedy) {
    const Folder folder(out_);
    fs::create_directory(temporary_.path() / "elsewhere");
    fs::create_symlink("../elsewhere", out_ / "a");
    EXPECT_EQ(message_of([&] { folder.below("a/b").write("c", "x"); }),
              (out_ / "a").string() + ": expected a folder, found a link; remove it");
    EXPECT_THROW(static_cast<void>(folder.below("a")), InputError);
    EXPECT_FALSE(folder.find_below("a"));
    remove_below(out_, "a/c");
    EXPECT_TRUE(fs::is_empty(temporary_.path() / "elsewhere"));
    put(out_ / "file", "x");
    EXPECT_NE(message_of([&] { static_cast<void>(folder.below("file")); }).find("found a file"),
              std::string::npos);
    for (const char* outside : {"..", "a/../..", "/tmp"}) {
        EXPECT_THROW(static_cast<void>(folder.below(outside)), InputError) << outside;
        EXPECT_FALSE(folder.find_below(outside)) << outside;
    }
}

TEST_F(Folders, TheFolderThatTheUserNamesMayBeALink) {
    fs::create_directory(out_);
    fs::create_directory_symlink("out", temporary_.path() / "link");
    Folder(temporary_.path() / "link").below("x").write("y", "new");
    EXPECT_EQ(text(out_ / "x/y"), "new");
}

TEST_F(Folders, OnlyAPlainFileOfOneNameIsAddedTo) {
    const Folder folder(out_);
    EXPECT_THROW(static_cast<void>(folder.append("a")), Error) << "there is none";
    put(out_ / "a", "old");
    ASSERT_EQ(::write(folder.append("a").get(), "er", 2), 2);
    EXPECT_EQ(text(out_ / "a"), "older");
    fs::create_symlink(victim_, out_ / "link");
    EXPECT_NE(message_of([&] { static_cast<void>(folder.append("link")); }).find("found a link"),
              std::string::npos);
    fs::create_hard_link(victim_, out_ / "hard");
    EXPECT_NE(message_of([&] { static_cast<void>(folder.append("hard")); }).find("2 names"),
              std::string::npos);
    ASSERT_EQ(::mkfifo((out_ / "pipe").c_str(), 0600), 0);
    EXPECT_NE(message_of([&] { static_cast<void>(folder.append("pipe")); }).find("a pipe"),
              std::string::npos);
}

TEST_F(Folders, RemovingALinkLeavesWhatItPointsTo) {
    const Folder folder(out_);
    fs::create_symlink(victim_, out_ / "a");
    folder.remove("a");
    EXPECT_TRUE(fs::is_empty(out_));
    EXPECT_EQ(text(victim_), "precious");
    remove_below(temporary_.path() / "nowhere", "a");
}

TEST_F(Folders, WhatAKilledWriterLeftIsRemovedByTheNextOneOfTheSameFile) {
    const Folder folder(out_);
    put(out_ / ".a.0123abcd.tmp", "half");
    put(out_ / ".b.0123abcd.tmp", "of another file");
    put(out_ / ".a.notes.tmp", "not ours");
    folder.write("a", "new");
    EXPECT_EQ(entries(), 3U);
    EXPECT_FALSE(fs::exists(out_ / ".a.0123abcd.tmp"));
    folder.remove("b");
    EXPECT_EQ(entries(), 2U);
}

TEST_F(Folders, WhatALivingWriterHasIsNotRemoved) {
    const Folder folder(out_);
    put(out_ / ".a.0123abcd.tmp", "half");
    const int alive = ::open((out_ / ".a.0123abcd.tmp").c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(::flock(alive, LOCK_EX), 0);
    folder.write("a", "new");
    EXPECT_TRUE(fs::exists(out_ / ".a.0123abcd.tmp"));
    ::close(alive);
}

}  // namespace
}  // namespace perfgate::util
