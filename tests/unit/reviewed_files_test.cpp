// SPDX-License-Identifier: Apache-2.0
#include "runner/reviewed_files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "baseline/store.hpp"
#include "model/error.hpp"
#include "suite/yaml_reader.hpp"
#include "unit/temporary_folder.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;
using review::File;
using review::FileRole;

/// A repository with the usual folders, which is the current folder while a test runs.
class ReviewedFiles : public testing::Test {
  protected:
    void SetUp() override {
        if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no git";
        before_ = fs::current_path();
        fs::current_path(folder_);
        write("suites/a.yaml", "a");
        write("suites/deep/b.yml", "b");
        write("suites/README.md", "not read");
        write("configs/ci.yaml", "ci");
        write("baselines/d/a.json", "{}");
        write("baselines/d/a.ledger.jsonl", "ledger");
        write("baselines/d/a.yaml", "not read");
        write("other/c.yaml", "not read");
    }
    void TearDown() override {
        if (!before_.empty()) fs::current_path(before_);
    }

    static void write(const std::string& file, const std::string& text) {
        fs::create_directories(fs::path(file).parent_path());
        std::ofstream(file) << text;
    }
    static review::Files committed() {
        EXPECT_EQ(std::system("git init -q . && git add -A && git -c user.name=Ada "
                              "-c user.email=ada@example.org commit -q -m one"),
                  0);
        return files_of_revision("HEAD", {});
    }
    static std::string names(const review::Files& files) {
        std::string text;
        for (const auto& [name, file] : files) text += name + " ";
        return text;
    }

    const std::map<std::string, File> usual_ = {
        {"suites/a.yaml", {FileRole::suite, "a", ""}},
        {"suites/deep/b.yml", {FileRole::suite, "b", ""}},
        {"configs/ci.yaml", {FileRole::profile, "ci", ""}},
        {"baselines/d/a.json", {FileRole::baseline, "{}", ""}},
        {"baselines/d/a.ledger.jsonl", {FileRole::ledger, "ledger", ""}}};
    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path(), before_;
};

TEST_F(ReviewedFiles, AreThoseThatTheVerbsReadInBothStates) {
    EXPECT_EQ(files_of_working_tree({}), usual_);
    EXPECT_EQ(committed(), usual_);
    EXPECT_EQ(files_of_working_tree({"./suites//", "configs/", "baselines"}), usual_);
    EXPECT_EQ(files_of_revision("HEAD", {"./suites//", "configs/", "baselines"}), usual_);
    EXPECT_EQ(names(files_of_working_tree({"suites/a.yaml", "none", "none"})), "suites/a.yaml ");
    EXPECT_EQ(names(files_of_revision("HEAD", {"suites/a.yaml", "none", "none"})),
              "suites/a.yaml ");
}

TEST_F(ReviewedFiles, ALinkIsNamedAndNotFollowed) {
    fs::create_symlink("../other/c.yaml", "suites/link.yaml");
    fs::create_symlink("../other", "suites/folder");
    for (const review::Files& files : {files_of_working_tree({}), committed()}) {
        EXPECT_EQ(files.size(), usual_.size() + 2) << names(files);
        EXPECT_EQ(files.at("suites/link.yaml").content, "../other/c.yaml");
        EXPECT_NE(files.at("suites/link.yaml").fault.find("link"), std::string::npos);
        EXPECT_EQ(files.at("suites/folder").content, "../other");
        EXPECT_EQ(files.at("suites/folder").role, FileRole::suite);
    }
}

TEST_F(ReviewedFiles, AFileThatIsTooLargeIsNamedWithoutItsText) {
    write("suites/large.yaml", std::string(suite::most_yaml_bytes + 1, '#'));
    write("suites/limit.yaml", std::string(suite::most_yaml_bytes, '#'));
    for (const review::Files& files : {files_of_working_tree({}), committed()}) {
        EXPECT_NE(files.at("suites/large.yaml").fault, "");
        EXPECT_LT(files.at("suites/large.yaml").content.size(), 100U);
        EXPECT_EQ(files.at("suites/limit.yaml").fault, "");
        EXPECT_EQ(files.at("suites/limit.yaml").content.size(), suite::most_yaml_bytes);
    }
}

TEST_F(ReviewedFiles, WhatIsNoFileIsNamed) {
    ASSERT_EQ(std::system("mkfifo suites/pipe"), 0);
    const review::Files files = files_of_working_tree({});
    EXPECT_NE(files.at("suites/pipe").fault.find("pipe"), std::string::npos);
    EXPECT_EQ(files.size(), usual_.size() + 1);
}

TEST_F(ReviewedFiles, APlantedChangeOfBaselinesIsNamed) {
    fs::create_directories("baselines/.perfgate-change");
    write("baselines/.perfgate-change/list", "{}");
    for (const review::Files& files : {files_of_working_tree({}), committed()}) {
        EXPECT_EQ(files.size(), usual_.size() + 1) << names(files);
        EXPECT_NE(files.at("baselines/.perfgate-change/list").fault.find("interrupted"),
                  std::string::npos);
    }
}

TEST_F(ReviewedFiles, ARevisionThatIsNotThereIsRefusedByName) {
    committed();
    try {
        files_of_revision("nowhere", {});
        ADD_FAILURE() << "not refused";
    } catch (const model::InputError& error) {
        EXPECT_NE(std::string(error.what()).find("nowhere"), std::string::npos);
    }
    EXPECT_TRUE(files_of_working_tree({"a", "b", "c"}).empty());
}

}  // namespace
}  // namespace perfgate::runner
