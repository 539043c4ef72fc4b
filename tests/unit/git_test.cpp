// SPDX-License-Identifier: Apache-2.0
#include "runner/git.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "unit/temporary_folder.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;

/// A repository in a folder of its own, which is the current one while a test runs.
class Git : public testing::Test {
  protected:
    void SetUp() override {
        if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no git";
        before_ = fs::current_path();
        fs::current_path(folder_);
        git("init -q .");
        git("config user.name 'Ada Lovelace'");
        git("config user.email ada@example.org");
    }
    void TearDown() override {
        if (!before_.empty()) fs::current_path(before_);
    }

    static void git(const std::string& words) {
        ASSERT_EQ(std::system(("git " + words).c_str()), 0) << words;
    }
    static void write(const std::string& file, const std::string& text) {
        std::ofstream(file) << text;
    }
    static void commit() {
        git("add -A");
        git("commit -q -m one");
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path(), before_;
};

TEST_F(Git, TheRevisionIsTheCommitAndSaysWhereFilesChanged) {
    write("a.yaml", "name: a\n");
    EXPECT_EQ(git_revision(folder_), "") << "nothing is committed";
    commit();
    const std::string revision = git_revision(folder_);
    EXPECT_EQ(revision.size(), 40U) << revision;
    EXPECT_EQ(revision.find_first_not_of("0123456789abcdef"), std::string::npos) << revision;
    write("a.yaml", "name: b\n");
    EXPECT_EQ(git_revision(folder_), revision + "-dirty");
}

TEST(PullRequest, IsTheOneThatTheCiNames) {
    const std::vector<const char*> names{"GITHUB_REF", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY",
                                         "CI_MERGE_REQUEST_PROJECT_URL", "CI_MERGE_REQUEST_IID"};
    std::map<const char*, std::string> before;
    for (const char* name : names) {
        if (const char* value = std::getenv(name)) before[name] = value;
        unsetenv(name);
    }
    EXPECT_EQ(pull_request_of_ci(), "");
    setenv("GITHUB_SERVER_URL", "https://git.example", 1);
    setenv("GITHUB_REPOSITORY", "owner/kernels", 1);
    setenv("GITHUB_REF", "refs/heads/main", 1);
    EXPECT_EQ(pull_request_of_ci(), "");
    setenv("GITHUB_REF", "refs/pull/12/merge", 1);
    EXPECT_EQ(pull_request_of_ci(), "https://git.example/owner/kernels/pull/12");
    setenv("GITHUB_REF", "refs/pull/13", 1);
    EXPECT_EQ(pull_request_of_ci(), "https://git.example/owner/kernels/pull/13");
    setenv("CI_MERGE_REQUEST_PROJECT_URL", "https://lab.example/group/kernels", 1);
    setenv("CI_MERGE_REQUEST_IID", "7", 1);
    EXPECT_EQ(pull_request_of_ci(), "https://lab.example/group/kernels/-/merge_requests/7");
    for (const char* name : names) unsetenv(name);
    for (const auto& [name, value] : before) setenv(name, value.c_str(), 1);
}

TEST_F(Git, WithoutARepositoryThereIsNothing) {
    const fs::path none = folder_ / "none";
    fs::create_directory(none);
    setenv("GIT_CEILING_DIRECTORIES", folder_.c_str(), 1);
    EXPECT_EQ(git_revision(none), "");
    fs::current_path(none);
    EXPECT_FALSE(git_files("HEAD", {"."}).has_value());
    fs::current_path(folder_);
    unsetenv("GIT_CEILING_DIRECTORIES");
}

TEST_F(Git, FilesOfACommitAreListedAsTheyAreStored) {
    fs::create_directory("suites");
    fs::create_directory("other");
    write("suites/a b.yaml", "name: a\n");
    write("suites/run.sh", "#!/bin/sh\n");
    fs::permissions("suites/run.sh", fs::perms::owner_all);
    fs::create_symlink("a b.yaml", "suites/link.yaml");
    write("other/c.yaml", "name: c\n");
    commit();
    write("suites/a b.yaml", "changed since\n");

    const auto files = git_files("HEAD", {"suites"});
    ASSERT_TRUE(files.has_value());
    ASSERT_EQ(files->size(), 3U);
    EXPECT_EQ((*files)[0].path, "suites/a b.yaml");
    EXPECT_EQ((*files)[0].mode, "100644");
    EXPECT_EQ((*files)[0].size_bytes, 8U);
    EXPECT_EQ(git_content((*files)[0]), "name: a\n");
    EXPECT_EQ((*files)[1].mode, "120000");
    EXPECT_EQ(git_content((*files)[1]), "a b.yaml");
    EXPECT_EQ((*files)[2].mode, "100755");
}

TEST_F(Git, ARevisionThatIsNotThereHasNoFiles) {
    write("a.yaml", "name: a\n");
    commit();
    EXPECT_FALSE(git_files("nowhere", {"."}).has_value());
    EXPECT_FALSE(git_content(GitFile{"a.yaml", "100644", std::string(40, '0'), 8}).has_value());
    EXPECT_TRUE(git_files("HEAD", {"missing"})->empty());
}

TEST_F(Git, AWorktreeHasACommitAndIsRemovedWithAllThatIsInIt) {
    write("a.yaml", "name: a\n");
    commit();
    const std::string first = git_commit(folder_, "HEAD");
    EXPECT_EQ(first, git_revision(folder_));
    write("a.yaml", "name: b\n");
    write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n");
    fs::permissions(".git/hooks/post-checkout", fs::perms::owner_all);
    const TemporaryFolder elsewhere;
    const fs::path path = elsewhere.path() / "base";
    fs::create_directory("below");
    ASSERT_EQ(git_add_worktree(folder_ / "below", path, first), "");
    EXPECT_EQ(git_revision(path), first);
    EXPECT_FALSE(fs::exists(path / "hooked"));
    EXPECT_EQ(git_place(path).top, fs::canonical(path));
    EXPECT_EQ(git_revision(folder_), first + "-dirty");
    write((path / "a.yaml").string(), "changed\n");
    write((path / "new").string(), "untracked\n");
    EXPECT_NE(git_add_worktree(folder_, path, first), "") << "it is there already";
    EXPECT_EQ(git_remove_worktree(folder_, path), "");
    EXPECT_FALSE(fs::exists(path));
    EXPECT_FALSE(fs::exists(".git/worktrees"));
    EXPECT_NE(git_remove_worktree(folder_, path), "");
}

TEST_F(Git, AFoldersPlaceIsItsRepositoryWhateverAHookSays) {
    write("a.yaml", "name: a\n");
    commit();
    fs::create_directory("below");
    setenv("GIT_DIR", "/nowhere", 1);
    EXPECT_EQ(git_place(folder_ / "below").top, fs::canonical(folder_));
    EXPECT_EQ(git_commit(folder_, "HEAD").size(), 40U);
    unsetenv("GIT_DIR");
    EXPECT_NE(git_place(folder_ / "absent").problem, "");
    EXPECT_FALSE(git_is_shallow(folder_));
}

TEST_F(Git, WhatIsNoCommitHasNoName) {
    write("a.yaml", "name: a\n");
    commit();
    for (const char* name : {"", "-x", "--all", "nowhere", "HEAD:a.yaml", "HEAD^{tree}",
                             "HEAD HEAD", "HEAD..HEAD", "HEAD\nHEAD"}) {
        EXPECT_EQ(git_commit(folder_, name), "") << name;
    }
    const std::string head = git_commit(folder_, "HEAD");
    // Git warns of a name that is a tag's and a branch's.
    git("tag twice");
    git("branch twice");
    EXPECT_EQ(git_commit(folder_, "twice"), head);
}

TEST_F(Git, AHistoryIsOfFirstParentsAndHasTheMergesParents) {
    git("commit -q --allow-empty -m 'one  two'");
    const std::string first = git_commit(folder_, "HEAD");
    git("checkout -q -b side");
    git("commit -q --allow-empty -m side");
    const std::string side = git_commit(folder_, "HEAD");
    git("checkout -q -");
    git("commit -q --allow-empty -m main");
    const std::string before = git_commit(folder_, "HEAD");
    git("merge -q --no-ff -m merged side");
    const std::string merge = git_commit(folder_, "HEAD");

    const auto history = git_history(folder_, first, merge);
    ASSERT_TRUE(history);
    ASSERT_EQ(history->size(), 2U);
    EXPECT_EQ(history->at(0).name, before);
    EXPECT_EQ(history->at(1).name, merge);
    EXPECT_EQ(history->at(1).parents, (std::vector<std::string>{before, side}));
    EXPECT_EQ(git_merge_base(folder_, before, side), first);
    EXPECT_EQ(git_subject(folder_, first), "one  two");
    EXPECT_TRUE(git_history(folder_, merge, merge)->empty());
    EXPECT_FALSE(git_history(folder_, merge, first)) << "it is no ancestor";
    EXPECT_FALSE(git_history(folder_, "--all", first));
    EXPECT_FALSE(git_history(folder_ / "none", first, merge));
    EXPECT_EQ(git_subject(folder_, "--version"), "");
}

TEST_F(Git, ACommitHasATimeByItsWholeNameAlone) {
    git("config log.showSignature true");
    setenv("GIT_COMMITTER_DATE", "1700000000 +0100", 1);
    git("commit -q --allow-empty -m one");
    unsetenv("GIT_COMMITTER_DATE");
    const std::string head = git_commit(folder_, "HEAD");
    EXPECT_EQ(git_commit_time(folder_, head), 1'700'000'000);
    const std::string empty_tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    for (const std::string& name :
         {std::string("HEAD"), head.substr(0, 12), head + "~0", empty_tree, std::string(40, '0')}) {
        EXPECT_FALSE(git_commit_time(folder_, name)) << name;
    }
}

TEST_F(Git, TheUsersNameIsWhatCommitsHave) {
    EXPECT_EQ(git_user_name(), "Ada Lovelace");
}

}  // namespace
}  // namespace perfgate::runner
