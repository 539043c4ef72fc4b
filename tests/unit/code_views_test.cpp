// SPDX-License-Identifier: Apache-2.0
// What the report's page shows of machine code, and whose text it may show.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runner/code_file.hpp"
#include "runner/git.hpp"
#include "runner/source_lines.hpp"
#include "unit/temporary_folder.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;

class CodeViews : public testing::Test {
  protected:
    void SetUp() override {
        if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no git";
        before_ = fs::current_path();
        fs::create_directory(temporary_.path() / "repository");
        fs::current_path(temporary_.path() / "repository");
        write("k.cu", "one\ntwo\nthree\n");
        write("../secret.txt", "secret\n");
        fs::create_symlink("../secret.txt", "link.cu");
        fs::create_directory("real");
        write("real/in.cu", "inside\n");
        fs::create_directory_symlink("real", "folder");
        ASSERT_EQ(std::system("git init -q . && git config user.name A && git config user.email "
                              "a@b.c && git add -A && git commit -q -m one"),
                  0);
        run_.git_revision = git_revision(".");
        write("untracked.cu", "untracked\n");
        write("k.cu", "changed\nchanged\n");
    }
    void TearDown() override {
        if (!before_.empty()) fs::current_path(before_);
    }
    static void write(const std::string& file, const std::string& text) {
        std::ofstream(file) << text;
    }
    static model::CaseCode code(const std::string& load, const model::SourcePlace& place,
                                std::int64_t samples) {
        model::CaseCode made;
        made.suite = "s";
        made.id = "k/a";
        model::Instruction instruction{0, load, place, {{{"barrier", samples}}, samples / 2}};
        made.kernels = {{"k", load, {{instruction}, {}}, 10}};
        return made;
    }
    /// The text that is shown for a place.
    std::string text_at(const model::SourcePlace& place) const {
        model::KeptCode kept{{code("LDG.E R2", place, 900)}, {code("LDG.E.64 R2", place, 100)}};
        kept.source = source_lines(kept.head, [&](const auto&) { return run_.git_revision; });
        return code_views({}, kept).cases.at({"s", "k/a"}).at(0).lines.at(0).text;
    }

    TemporaryFolder temporary_;
    fs::path before_;
    model::Run run_;
};

TEST_F(CodeViews, TextIsThatOfTheCommit) {
    EXPECT_EQ(text_at({"k.cu", 2}), "two");
    EXPECT_EQ(text_at({"k.cu", 4}), "");
    EXPECT_EQ(text_at({"real/in.cu", 1}), "inside");
    for (const char* file :
         {"untracked.cu", "link.cu", "folder/in.cu", "../secret.txt", "real/../../secret.txt",
          "real", ".", "./k.cu", ":(glob)*.cu", "*.cu", "-r", ".git/config", ""}) {
        EXPECT_EQ(text_at({file, 1}), "") << file;
    }
    EXPECT_EQ(text_at({fs::absolute("k.cu").string(), 1}), "");
    for (const char* revision : {"", "--all", "0000000000000000000000000000000000000000"}) {
        run_.git_revision = revision;
        EXPECT_EQ(text_at({"k.cu", 2}), "") << revision;
    }
}

TEST_F(CodeViews, TextOfAChangedTreeIsThatOfItsTrackedFiles) {
    run_.git_revision += "-dirty";
    EXPECT_EQ(text_at({"k.cu", 2}), "changed");
    EXPECT_EQ(text_at({"k.cu", 3}), "");
    EXPECT_EQ(text_at({"real/in.cu", 1}), "inside");
    for (const char* file : {"untracked.cu", "link.cu", "folder/in.cu", "../secret.txt",
                             "real/../../secret.txt", "real", "./k.cu", "*.cu", ".git/config"}) {
        EXPECT_EQ(text_at({file, 1}), "") << file;
    }
    // What was a file became a link.
    fs::remove("k.cu");
    fs::create_symlink("../secret.txt", "k.cu");
    EXPECT_EQ(text_at({"k.cu", 1}), "");
    fs::rename("real", "moved");
    fs::create_directory_symlink("moved", "real");
    EXPECT_EQ(text_at({"real/in.cu", 1}), "");
}

TEST_F(CodeViews, ALineThatOnlyTheBaseHasIsThatOfTheBasesCommit) {
    const std::string commit = run_.git_revision;
    ASSERT_EQ(std::system("git commit -q -a -m two"), 0);
    run_.git_revision = git_revision(".");
    const auto text = [&](const std::string& base_revision) {
        const model::KeptCode kept{{code("LDG.E R2", {"k.cu", 1}, 900)},
                                   {code("LDG.E.64 R2", {"k.cu", 3}, 100)}};
        keep_code(
            kept, temporary_.path(), [&](const auto&) { return run_.git_revision; },
            [&](const auto&) { return base_revision; }, run_);
        const auto kernels = code_views({}, read_code(temporary_.path())).cases.at({"s", "k/a"});
        EXPECT_EQ(kernels.at(0).lines.at(0).text, "changed");
        EXPECT_EQ(kernels.at(0).lines.at(1).was, "k.cu:3");
        return kernels.at(0).lines.at(1).text;
    };
    EXPECT_EQ(text(commit), "three");
    EXPECT_EQ(text(run_.git_revision), "") << "it has no such line";
    EXPECT_EQ(text(commit + "-dirty"), "") << "the tree has changed since";
    EXPECT_EQ(text(""), "");
}

TEST_F(CodeViews, ALineThatDiffersBetweenTwoBasesHasNoText) {
    const std::string commit = run_.git_revision;
    ASSERT_EQ(std::system("git commit -q -a -m two"), 0);
    std::vector<model::CaseCode> both(2, code("LDG.E R2", {"k.cu", 2}, 900));
    both[1].id = "k/b";
    const auto lines = [&](const std::string& of_second) {
        return source_lines(both, [&](const model::CaseCode& each) {
            return each.id == "k/b" ? of_second : commit;
        });
    };
    const std::vector<model::SourceLine> two{{{"k.cu", 2}, "two"}};
    EXPECT_EQ(lines(commit), two);
    EXPECT_TRUE(lines(git_revision(".")).empty());
    EXPECT_TRUE(lines("").empty());
}

TEST_F(CodeViews, SidesAreAsLongAsTheirTimes) {
    const model::SourcePlace place{"k.cu", 2};
    const model::KeptCode kept{{code("LDG.E R2", place, 900)}, {code("LDG.E.64 R2", place, 300)}};
    const auto by_samples = code_views({}, kept).cases.at({"s", "k/a"}).at(0);
    EXPECT_FALSE(by_samples.timed);
    EXPECT_EQ(by_samples.length_before, 30);
    EXPECT_EQ(by_samples.length_after, 90);
    model::VerdictDocument verdict;
    verdict.suites.emplace_back().name = "s";
    model::CaseVerdict& judged = verdict.suites[0].cases.emplace_back();
    judged.id = "k/a";
    model::MetricVerdict& time = judged.metrics.emplace_back();
    time.metric = "gpu_time";
    time.baseline = 1000;
    time.measured = 2500;
    const auto by_time = code_views(verdict, kept).cases.at({"s", "k/a"}).at(0);
    EXPECT_TRUE(by_time.timed);
    EXPECT_EQ(by_time.length_before, 1000);
    EXPECT_EQ(by_time.length_after, 2500);
    // A kernel has its samples' share of the case.
    model::KeptCode two = kept;
    for (auto* side : {&two.head, &two.base}) {
        side->front().kernels.push_back(side->front().kernels.front());
        side->front().kernels.back().name = "other";
    }
    const auto half = code_views(verdict, two).cases.at({"s", "k/a"}).at(0);
    EXPECT_EQ(half.length_before, 500);
    EXPECT_EQ(half.length_after, 1250);
}

TEST_F(CodeViews, ALineHasTheSharesOfBothSidesAndWhatItWaitedFor) {
    const model::CaseCode base = code("LDG.E.64 R2", {"k.cu", 2}, 100),
                          head = code("LDG.E R2", {"k.cu", 3}, 900);
    const auto kernels = code_views({}, {{head}, {base}}).cases.at({"s", "k/a"});
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_TRUE(kernels[0].compared);
    EXPECT_EQ(kernels[0].sentence, "LDG.E 0 → 1 at k.cu:3, LDG.E.64 1 → 0");
    EXPECT_EQ(kernels[0].rows.size(), 2U);
    ASSERT_FALSE(kernels[0].lines.empty());
    const report::page::CodeLine& line = kernels[0].lines[0];
    EXPECT_EQ(line.before + line.after, 100);
    EXPECT_EQ(line.place, "k.cu:3");
    EXPECT_EQ(kernels[0].lines.at(1).place, "") << "only the base has it";
    EXPECT_EQ(kernels[0].lines.at(1).was, "k.cu:2");
    ASSERT_EQ(line.stalls.size(), 1U);
    EXPECT_EQ(line.stalls[0].words, "waiting at a barrier");
    const auto alone = code_views({}, {{head}, {}}).cases.at({"s", "k/a"});
    EXPECT_FALSE(alone.at(0).compared);
    EXPECT_EQ(alone.at(0).sentence, "the base's code is not at hand");
    EXPECT_EQ(alone.at(0).lines.at(0).after, 100);
    model::CaseCode two = base;
    two.kernels.push_back(head.kernels[0]);
    two.kernels[1].name = "added";
    const auto added = code_views({}, {{two}, {base}}).cases.at({"s", "k/a"});
    EXPECT_EQ(added.at(0).sentence, "new: the base has no such kernel");
    // The same code is not shown.
    EXPECT_TRUE(code_views({}, {{head}, {head}}).cases.empty());
}

}  // namespace
}  // namespace perfgate::runner
