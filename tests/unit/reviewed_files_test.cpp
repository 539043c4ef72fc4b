// SPDX-License-Identifier: Apache-2.0
#include "runner/reviewed_files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "baseline/store.hpp"
#include "suite/yaml_reader.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"

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
    static review::Files committed(const ReviewedPlaces& places = usual_places()) {
        EXPECT_EQ(std::system("git init -q . && git add -A && git -c user.name=Ada "
                              "-c user.email=ada@example.org commit -q -m one"),
                  0);
        return files_of_revision("HEAD", places);
    }
    /// Folders.
    static ReviewedPlaces usual_places() { return {{"suites"}, {"configs"}, {"baselines"}}; }
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
    EXPECT_EQ(files_of_working_tree(usual_places()), usual_);
    EXPECT_EQ(committed(), usual_);
    EXPECT_EQ(files_of_working_tree({{"./suites//"}, {"configs/"}, {"baselines"}}), usual_);
    EXPECT_EQ(files_of_revision("HEAD", {{"./suites//"}, {"configs/"}, {"baselines"}}), usual_);
    EXPECT_EQ(names(files_of_working_tree({{"suites/a.yaml"}, {"none"}, {"none"}})),
              "suites/a.yaml ");
    EXPECT_EQ(names(files_of_revision("HEAD", {{"suites/a.yaml"}, {"none"}, {"none"}})),
              "suites/a.yaml ");
}

/// Of the suites alone.
ReviewedPlaces suites_in(const std::string& place) {
    return {{place}, {}, {}};
}

TEST_F(ReviewedFiles, APatternFindsInBothStatesWhatTheActionMeasures) {
    write("suites/.hidden.yaml", "not read");
    write("suites/b.yml", "b");
    write("suites/c.txt", "read if a pattern names it");
    committed();
    const auto found = [](const std::string& place) {
        const review::Files files = files_of_working_tree(suites_in(place));
        EXPECT_EQ(files, files_of_revision("HEAD", suites_in(place))) << place;
        return names(files);
    };
    EXPECT_EQ(found("suites/*.yaml"), "suites/a.yaml ");
    EXPECT_EQ(found("./suites//*.yaml"), "suites/a.yaml ");
    EXPECT_EQ(found(folder_.string() + "/suites/*.yaml"), "suites/a.yaml ");
    EXPECT_EQ(found("suites/?.y*"), "suites/a.yaml suites/b.yml ");
    EXPECT_EQ(found("suites/[!a].*"), "suites/b.yml suites/c.txt ");
    EXPECT_EQ(found("suites/.*.yaml"), "suites/.hidden.yaml ");
    EXPECT_EQ(found("*/*.yaml"), "configs/ci.yaml other/c.yaml suites/a.yaml ");
    EXPECT_EQ(found("suites/*/*.yml"), "suites/deep/b.yml ");
    EXPECT_EQ(found("suites/**"), "suites/README.md suites/a.yaml suites/b.yml suites/c.txt ");
    EXPECT_EQ(found("suites/c.txt"), "suites/c.txt ");
    EXPECT_EQ(found("suites"), "suites/a.yaml suites/b.yml suites/deep/b.yml ");
    EXPECT_EQ(found("*.yaml"), "");
    fs::current_path("suites");
    EXPECT_EQ(found("*.yaml"), "a.yaml ");
    EXPECT_EQ(found("../other/*.yaml"), "../other/c.yaml ");
}

TEST_F(ReviewedFiles, ALinkOnTheWayToAPlaceIsNamed) {
    fs::rename("suites", "elsewhere");
    fs::create_directory_symlink("elsewhere", "suites");
    for (const char* place : {"suites", "suites/*.yaml", "suites/a.yaml", "s*/a.yaml"}) {
        for (const review::Files& files :
             {files_of_working_tree(suites_in(place)), committed(suites_in(place))}) {
            EXPECT_EQ(names(files), "suites ") << place;
            EXPECT_NE(files.at("suites").fault.find("link"), std::string::npos);
            EXPECT_EQ(empty_places({place}, FileRole::suite, files, files).size(), 1U);
        }
        fs::remove_all(".git");
    }
}

TEST_F(ReviewedFiles, AProfileThatIsNamedIsNoSuite) {
    write("suites/ci.yaml", "ci");
    const review::Files files = files_of_working_tree({{"suites/*.yaml"}, {"suites/ci.yaml"}, {}});
    EXPECT_EQ(files.at("suites/ci.yaml").role, FileRole::profile);
    EXPECT_EQ(files.at("suites/a.yaml").role, FileRole::suite);
    EXPECT_THROW(files_of_working_tree({{"suites/*.yaml"}, {"suites"}, {}}), util::InputError);
}

TEST_F(ReviewedFiles, BaselinesAreWhereTheProfilesOfEitherStateSay) {
    write("configs/ci.yaml", "baselines: before");
    committed();
    write("configs/ci.yaml", "baselines: after");
    const auto with = [](const ReviewedPlaces& places) {
        return with_baselines_of_profiles("HEAD", places).baselines;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(with({{"suites"}, {"configs"}, {}}), (Names{"after", "before"}));
    EXPECT_EQ(with({{"suites"}, {"none"}, {}}), Names{"baselines"});
    EXPECT_EQ(with({{"suites"}, {"configs"}, {"mine"}}), Names{"mine"});
    write("configs/ci.yaml", "baselines: /elsewhere");
    const ReviewedPlaces places = with_baselines_of_profiles("HEAD", {{"suites"}, {"configs"}, {}});
    EXPECT_EQ(places.baselines, Names{"before"});
    EXPECT_EQ(places.outside, Names{"/elsewhere"});
    write("configs/ci.yaml", "{}");
    EXPECT_EQ(with({{"suites"}, {"configs"}, {}}), (Names{"baselines", "before"}));
}

TEST_F(ReviewedFiles, APlaceIsEmptyIfNeitherStateHasAFileInIt) {
    const review::Files files = files_of_working_tree(usual_places());
    using Names = std::vector<std::string>;
    EXPECT_EQ(empty_places({"suites", "typo", "suites/*.yaml", "suites/*.yam"}, FileRole::suite, {},
                           files),
              (Names{"typo", "suites/*.yam"}));
    EXPECT_EQ(empty_places({"baselines", "suites"}, FileRole::baseline, files, {}),
              Names{"suites"});
}

TEST_F(ReviewedFiles, ALinkIsNamedAndNotFollowed) {
    fs::create_symlink("../other/c.yaml", "suites/link.yaml");
    fs::create_symlink("../other", "suites/folder");
    for (const review::Files& files : {files_of_working_tree(usual_places()), committed()}) {
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
    for (const review::Files& files : {files_of_working_tree(usual_places()), committed()}) {
        EXPECT_NE(files.at("suites/large.yaml").fault, "");
        EXPECT_LT(files.at("suites/large.yaml").content.size(), 100U);
        EXPECT_EQ(files.at("suites/limit.yaml").fault, "");
        EXPECT_EQ(files.at("suites/limit.yaml").content.size(), suite::most_yaml_bytes);
    }
}

TEST_F(ReviewedFiles, WhatIsNoFileIsNamed) {
    ASSERT_EQ(std::system("mkfifo suites/pipe"), 0);
    const review::Files files = files_of_working_tree(usual_places());
    EXPECT_NE(files.at("suites/pipe").fault.find("pipe"), std::string::npos);
    EXPECT_EQ(files.size(), usual_.size() + 1);
}

TEST_F(ReviewedFiles, APlantedChangeOfBaselinesIsNamed) {
    fs::create_directories("baselines/.perfgate-change");
    write("baselines/.perfgate-change/list", "{}");
    for (const review::Files& files : {files_of_working_tree(usual_places()), committed()}) {
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
    } catch (const util::InputError& error) {
        EXPECT_NE(std::string(error.what()).find("nowhere"), std::string::npos);
    }
    try {
        files_of_revision("HEAD", suites_in("../../elsewhere/*.yaml"));
        ADD_FAILURE() << "not refused";
    } catch (const util::InputError& error) {
        EXPECT_NE(std::string(error.what()).find("../../elsewhere"), std::string::npos);
    }
    EXPECT_TRUE(files_of_working_tree({{"a"}, {"b"}, {"c"}}).empty());
}

}  // namespace
}  // namespace perfgate::runner
