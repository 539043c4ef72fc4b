// SPDX-License-Identifier: Apache-2.0
#include "runner/builds.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "unit/temporary_folder.hpp"
#include "util/file.hpp"
#include "util/sha256.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;

std::string fingerprint_of(const std::string& text) {
    util::Sha256 hash;
    hash.add(text);
    return hash.fingerprint();
}

/// A plugin of two modules, "first" and "second", with a library beside it.
class Builds : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::create_directory(source_);
        put(source_ / "p.so", "first");
        put(source_ / "p_cuda.so", "second");
        put(source_ / "libhelper.so.1", "helper");
    }
    static void put(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
    static std::string text(const fs::path& file) { return util::read_file(file, 1000, "file"); }

    Build build() const {
        return {code_, {source_ / "p.so", source_ / "p_cuda.so", source_ / "libhelper.so.1"}};
    }
    void keep() { ASSERT_EQ(kept_.keep(build()), ""); }
    KeptBuilds::Taken take() {
        fs::remove_all(to_);
        return kept_.take(code_, libraries_, to_);
    }
    void expect_refused(const std::string& what) {
        const KeptBuilds::Taken taken = take();
        EXPECT_TRUE(taken.files.empty()) << what;
        EXPECT_NE(taken.problem, "") << what;
        EXPECT_EQ(taken.problem.find('\n'), std::string::npos) << what;
        EXPECT_FALSE(fs::exists(to_ / "p.so")) << what;
    }
    std::vector<std::string> entries() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            const std::string name = entry.path().filename().string();
            if (name != ".gitignore") names.push_back(name);
        }
        return names;
    }

    TemporaryFolder temporary_;
    fs::path source_ = temporary_.path() / "source";
    fs::path folder_ = temporary_.path() / "builds";
    fs::path to_ = temporary_.path() / "to";
    std::string code_ = fingerprint_of(fingerprint_of("first") + fingerprint_of("second"));
    model::Libraries libraries_{{"libhelper.so.1", fingerprint_of("helper")}};
    KeptBuilds kept_{folder_};
    fs::path entry_ = folder_ / code_;
};

TEST_F(Builds, WhatIsKeptIsTakenAsItWas) {
    keep();
    const KeptBuilds::Taken taken = take();
    EXPECT_EQ(taken.problem, "");
    EXPECT_EQ(taken.files, (std::vector<fs::path>{to_ / "p.so"}));
    EXPECT_EQ(text(to_ / "p.so"), "first");
    EXPECT_EQ(text(to_ / "p_cuda.so"), "second");
    EXPECT_EQ(text(to_ / "libhelper.so.1"), "helper");
    EXPECT_EQ(entries(), std::vector<std::string>{code_}) << "nothing unfinished is left";
}

TEST_F(Builds, WhatAKilledProcessHasLeftIsRemovedLater) {
    keep();
    const fs::path old = folder_ / ".new-aaaaaa";
    const fs::path fresh = folder_ / ".new-bbbbbb";
    for (const fs::path& each : {old, fresh}) {
        fs::create_directory(each);
        put(each / "p.so", "half");
    }
    fs::create_directory_symlink(source_, folder_ / ".new-link");
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
    fs::remove_all(entry_);
    keep();
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(fresh)) << "another process may be writing it";
    EXPECT_TRUE(fs::exists(source_ / "p.so"));
}

TEST_F(Builds, APluginOfOneModuleIsKnownByIt) {
    code_ = fingerprint_of("first");
    ASSERT_EQ(kept_.keep({code_, {source_ / "p.so"}}), "");
    EXPECT_EQ(take().files, (std::vector<fs::path>{to_ / "p.so"}));
    put(folder_ / code_ / "p_cuda.so", "second");
    expect_refused("a second module that the fingerprint does not cover");
}

TEST_F(Builds, MachineCodeIsKnownByItsContent) {
    put(source_ / "kernel.bin", "sass");
    const std::string code = fingerprint_of("of the kernel in it");
    ASSERT_EQ(kept_.keep({code, {source_ / "kernel.bin"}}), "");
    const std::string name = fingerprint_of("sass") + ".cubin";
    EXPECT_EQ(kept_.take(code, {}, to_).files, (std::vector<fs::path>{to_ / name}));
    put(folder_ / code / name, "sas");
    fs::remove_all(to_);
    EXPECT_TRUE(kept_.take(code, {}, to_).files.empty());
}

TEST_F(Builds, WhatIsNotTheBaselinesBuildIsRefused) {
    keep();
    put(entry_ / "p.so", "poisoned");
    expect_refused("another plugin under its name");
    keep();
    fs::resize_file(entry_ / "p_cuda.so", 3);
    expect_refused("a cut file");
    keep();
    put(entry_ / "libhelper.so.1", "poisoned");
    expect_refused("another library");
    keep();
    put(entry_ / "libmore.so", "poisoned");
    expect_refused("a library that the baseline does not name");
    keep();
    fs::remove(entry_ / "p_cuda.so");
    expect_refused("a missing module");
    keep();
    fs::remove(entry_ / "p.so");
    fs::create_symlink(source_ / "p.so", entry_ / "p.so");
    expect_refused("a link, though it leads to the same content");
    keep();
    fs::create_directory(entry_ / "folder");
    expect_refused("a folder in it");
    keep();
    libraries_.clear();
    expect_refused("a library of another case");
}

TEST_F(Builds, AnAbsentBuildNamesTheRemedy) {
    EXPECT_NE(take().problem.find("baseline refresh"), std::string::npos);
    keep();
    code_ = "../" + code_;
    expect_refused("a path in place of a fingerprint");
    fs::create_directory_symlink(entry_, folder_ / std::string(32, 'a'));
    code_ = std::string(32, 'a');
    expect_refused("a link to another build");
}

TEST_F(Builds, KeepingMendsWhatIsNotAsItWas) {
    keep();
    put(entry_ / "p.so", "cut");
    keep();
    EXPECT_EQ(take().problem, "");
    EXPECT_EQ(entries(), std::vector<std::string>{code_});
}

TEST_F(Builds, BeyondTheBoundTheBuildsKeptFirstAreRemoved) {
    const KeptBuilds small(folder_, 16);
    put(source_ / "old", "ten bytes!");
    put(source_ / "new", "10 bytes !");
    const std::string old = fingerprint_of("old");
    ASSERT_EQ(small.keep({old, {source_ / "old"}}), "");
    fs::last_write_time(folder_ / old, fs::file_time_type::clock::now() - std::chrono::hours(1));
    const std::string recent = fingerprint_of("new");
    ASSERT_EQ(small.keep({recent, {source_ / "new"}}), "");
    EXPECT_EQ(entries(), std::vector<std::string>{recent});
    EXPECT_NE(small.keep(build()), "") << "17 bytes";
    EXPECT_EQ(entries(), std::vector<std::string>{recent}) << "what does not fit removes nothing";
}

TEST_F(Builds, AFullDiskKeepsNothingAndSaysSo) {
    put(source_ / "p_cuda.so", std::string(100'000, 'x'));
    code_ = fingerprint_of(fingerprint_of("first") + fingerprint_of(std::string(100'000, 'x')));
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit usual{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
    const rlimit full{50'000, usual.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
    const std::string problem = kept_.keep(build());
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &usual), 0);
    EXPECT_NE(problem, "");
    EXPECT_TRUE(entries().empty()) << "nothing cut stays";
}

TEST_F(Builds, SeveralRunsKeepOneBuildAtOnce) {
    std::vector<std::thread> runs;
    std::vector<std::string> problems(8);
    for (std::string& problem : problems) {
        runs.emplace_back([&] { problem = kept_.keep(build()); });
    }
    for (std::thread& run : runs) run.join();
    EXPECT_EQ(problems, std::vector<std::string>(8));
    EXPECT_EQ(take().problem, "");
    EXPECT_EQ(entries(), std::vector<std::string>{code_});
}

TEST_F(Builds, WhatIsNoFileIsNotKept) {
    EXPECT_NE(kept_.keep({code_, {source_ / "absent.so"}}), "");
    EXPECT_NE(kept_.keep({"", {source_ / "p.so"}}), "");
    EXPECT_NE(KeptBuilds(source_ / "p.so").keep(build()), "") << "a file has the folder's name";
}

}  // namespace
}  // namespace perfgate::runner
