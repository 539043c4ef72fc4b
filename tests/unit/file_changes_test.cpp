// SPDX-License-Identifier: Apache-2.0
#include "baseline/file_changes.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "unit/temporary_folder.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::baseline {
namespace {

namespace fs = std::filesystem;

class FileChanges : public ::testing::Test {
  protected:
    void SetUp() override {
        put("key/s.json", "old");
        put("key/gone.json", "old");
    }
    void put(const fs::path& name, const std::string& text) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text;
    }
    std::string text(const fs::path& name) const {
        if (!fs::exists(folder_ / name)) return "";
        return util::read_file(folder_ / name, 100000, "file");
    }
    bool is_old() const {
        return text("key/s.json") == "old" && text("key/s.ledger.jsonl").empty() &&
               text("key/gone.json") == "old";
    }
    bool is_new() const {
        return text("key/s.json") == "new" && text("key/s.ledger.jsonl") == "why" &&
               text("key/gone.json").empty();
    }
    template <typename Act>
    static std::string message_of(const Act& act) {
        try {
            act();
        } catch (const util::Error& error) {
            return error.what();
        }
        return "nothing was thrown";
    }
    /// The change as a killed process leaves it: `moved` of the staged files are in their places.
    void interrupt(std::size_t moved) const {
        change_files(folder_, {{"other/x.json", "x"}});
        fs::create_directories(staging_);
        put(staging_.filename() / "0", "new");
        put(staging_.filename() / "1", "why");
        struct stat status {};
        ASSERT_EQ(::stat(staging_.c_str(), &status), 0);
        put(staging_.filename() / "list",
            R"({"schema":"perfgate.change","version":1,"folder":)" + std::to_string(status.st_ino) +
                R"(,"steps":[{"file":"key/s.json","digest":"11507a0e2f5e69d5dfa40a62a1bd7b6e"},)"
                R"({"file":"key/s.ledger.jsonl","digest":"2be23c585f15e5fd3279d0663036dd9f"},)"
                R"({"file":"key/gone.json","digest":""}]})");
        if (moved > 0) fs::rename(staging_ / "0", folder_ / "key/s.json");
        if (moved > 1) fs::rename(staging_ / "1", folder_ / "key/s.ledger.jsonl");
        if (moved > 2) fs::remove(folder_ / "key/gone.json");
    }

    const std::vector<FileChange> changes_{
        {"key/s.json", "new"}, {"key/s.ledger.jsonl", "why"}, {"key/gone.json", std::nullopt}};
    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
    fs::path staging_ = folder_ / staging_name;
};

TEST_F(FileChanges, ChangeAllFilesAndLeaveNothingElse) {
    change_files(folder_, changes_);
    EXPECT_TRUE(is_new());
    EXPECT_FALSE(fs::exists(staging_));
    EXPECT_EQ(finish_interrupted_change(folder_), "");
    EXPECT_EQ(interrupted_change(folder_), "");
}

TEST_F(FileChanges, AChangeThatCannotBeMadeLeavesAllFiles) {
    fs::create_directories(folder_ / "key/folder.json");
    auto changes = changes_;
    changes.push_back({"key/folder.json", "new"});
    EXPECT_NE(message_of([&] { change_files(folder_, changes); }).find("Is a directory"),
              std::string::npos);
    EXPECT_TRUE(is_old());
    EXPECT_FALSE(fs::exists(staging_));
}

TEST_F(FileChanges, AFullDiskChangesNoFile) {
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    auto changes = changes_;
    changes.push_back({"key/large.json", std::string(10000, 'x')});
    rlimit small = limit;
    small.rlim_cur = 4096;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string message = message_of([&] { change_files(folder_, changes); });
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, previous);
    EXPECT_NE(message.find("key/large.json: File too large"), std::string::npos) << message;
    EXPECT_TRUE(is_old());
    EXPECT_FALSE(fs::exists(staging_));
}

TEST_F(FileChanges, AKilledOneIsFinishedWhereverItStood) {
    for (std::size_t moved = 0; moved <= 3; ++moved) {
        fs::remove_all(folder_ / "key");
        SetUp();
        interrupt(moved);
        EXPECT_NE(interrupted_change(folder_).find(staging_.string()), std::string::npos);
        EXPECT_NE(finish_interrupted_change(folder_).find("finished the change of 3 files"),
                  std::string::npos);
        EXPECT_TRUE(is_new()) << moved;
        EXPECT_FALSE(fs::exists(staging_));
    }
}

TEST_F(FileChanges, AChangeWithoutAListIsUndone) {
    interrupt(0);
    fs::remove(staging_ / "list");
    EXPECT_NE(finish_interrupted_change(folder_).find("removed the temporary files"),
              std::string::npos);
    EXPECT_TRUE(is_old());
    EXPECT_FALSE(fs::exists(staging_));
}

TEST_F(FileChanges, OneThatCameWithACheckoutIsNotMade) {
    interrupt(0);
    fs::rename(staging_, folder_ / "kept");
    fs::create_directories(staging_);
    for (const char* name : {"0", "1", "list"}) fs::copy(folder_ / "kept" / name, staging_ / name);
    const std::string message = message_of([&] { finish_interrupted_change(folder_); });
    EXPECT_NE(message.find("begun in another folder"), std::string::npos) << message;
    EXPECT_NE(message.find("version control"), std::string::npos) << message;
    EXPECT_TRUE(is_old());
    EXPECT_TRUE(fs::exists(staging_)) << "it is the user's decision";
}

TEST_F(FileChanges, ADamagedChangeIsRefused) {
    interrupt(0);
    put(staging_.filename() / "1", "other");
    EXPECT_THROW(finish_interrupted_change(folder_), util::InputError);
    fs::remove_all(staging_);
    interrupt(0);
    put(staging_.filename() / "list", "{");
    EXPECT_THROW(finish_interrupted_change(folder_), util::InputError);
    fs::remove_all(staging_);
    for (const char* evil : {"../x.json", "/etc/x.json", "a/../x.json", "x.json", ".git/x.json"}) {
        fs::create_directories(staging_);
        put(staging_.filename() / "list",
            std::string(
                R"({"schema":"perfgate.change","version":1,"folder":1,"steps":[{"file":")") +
                evil + R"(","digest":""}]})");
        EXPECT_NE(message_of([&] { finish_interrupted_change(folder_); }).find("no file of a"),
                  std::string::npos)
            << evil;
    }
}

TEST_F(FileChanges, ALinkInPlaceOfTheStagingFolderIsRefused) {
    fs::create_directories(folder_ / "elsewhere");
    fs::create_symlink("elsewhere", staging_);
    EXPECT_THROW(change_files(folder_, changes_), util::InputError);
    EXPECT_THROW(finish_interrupted_change(folder_), util::InputError);
    EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
    EXPECT_TRUE(is_old());
}

}  // namespace
}  // namespace perfgate::baseline
