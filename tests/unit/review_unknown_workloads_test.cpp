// SPDX-License-Identifier: Apache-2.0
// Suites with workloads of plugins that are not at hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/review_fixture.hpp"

namespace perfgate::review {
namespace review_unknown_workloads_test {

using namespace review_fixture;

TEST(Review, SaysWhichEntriesHaveAWorkloadThatIsNotKnown) {
    const Files more = edited(suite_path, "workloads:\n",
                              "workloads:\n  - workload: brand_new\n    variants: [fast]\n");
    EXPECT_EQ(in_words(reviewed(files(), more)), "");
    const std::vector<std::string> notes =
        review(files(), more, suite::test::workloads()).not_reviewed;
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes.front().find("suites/gemm.yaml:6:15: unknown workload 'brand_new'"),
              std::string::npos)
        << notes.front();
    // The other variants of the entry are compared.
    const auto with = [](const std::string& tolerance) {
        Files result = edited(suite_path, "variants: [naive, tiled]", "variants: [naive, new_one]");
        std::string& text = result.at(suite_path).content;
        text.replace(text.find("gpu_time: 3%"), 12, "gpu_time: " + tolerance);
        text.resize(text.find("expect:"));
        return result;
    };
    EXPECT_EQ(in_words(reviewed(with("3%"), with("4%"))),
              "tolerance raised gpu_time: 3 % → 4 % (4)");
}

constexpr const char* unknown_suite = R"(name: mine
defaults:
  tolerances: {gpu_time: 3%, host_time: 10%}
workloads:
  - workload: scale
    variants: [fast, plain]
    tags: [quick]
    params: {mode: exact, factor: 0.5}
    matrix:
      n: [1024, 4096]
      shape: [{w: 1, h: 2}, {w: 3, h: 4}]
      exclude: [{variant: plain, n: 4096}]
    overrides:
      - {match: '*n=4096*', device: 'nvidia-*', tolerances: {gpu_time: 2%}}
  - workload: scale
    variants: [wide]
    precision: 0.1%
expect:
  scale/fast.gpu_time: "<= 0.5 * scale/plain.gpu_time"
  scale/fast.host_time: "<= 0.5 * scale/plain.host_time"
)";

TEST(Review, ComparesEntriesOfAnUnknownWorkload) {
    const auto found = [](const std::string& was, const std::string& is) {
        return found_in(unknown_suite, was, is);
    };
    EXPECT_EQ(found("gpu_time: 3%", "gpu_time: 5000%"),
              "tolerance raised gpu_time: 3 % → 5000 % (6); "
              "tolerance raised gpu_time: 3 % → 5000 % (1)");
    EXPECT_EQ(found("host_time: 10%", "host_time: 90%"),
              "tolerance raised host_time: 10 % → 90 % (6); "
              "tolerance raised host_time: 10 % → 90 % (1)");
    EXPECT_EQ(found(", host_time: 10%", ""),
              "gate removed host_time: 10 % → none (6); gate removed host_time: 10 % → none (1)");
    EXPECT_EQ(found("gpu_time: 2%", "gpu_time: 2.5%"),
              "tolerance raised gpu_time: 2 % → 2.5 % (2)");
    EXPECT_EQ(found("{gpu_time: 2%}", "{gpu_time: {worse: 2%, severity: warn}}"),
              "severity lowered gpu_time: as the config says → warn (2)");
    EXPECT_EQ(found("'*n=4096*', device: 'nvidia-*'", "'*n=1024*', skip: slow"),
              "case skipped skip: measured → slow (4); tolerance raised gpu_time: 2 % → 3 % (2)");
    EXPECT_EQ(found("variants: [fast, plain]", "variants: [plain]").rfind("case removed", 0), 0U);
    EXPECT_EQ(found("[1024, 4096]", "[2048, 4096]"),
              "case removed mine: in the suite → not in it (4)");
    EXPECT_EQ(found("mode: exact", "mode: loose"),
              "case removed mine: in the suite → not in it (6)");
    EXPECT_EQ(found("  - workload: scale\n    variants: [wide]\n    precision: 0.1%\n", ""),
              "case removed mine: in the suite → not in it (1)");
    EXPECT_EQ(found("0.1%", "1%"), "measured less precision: 0.1 % → 1 % (1)");
    EXPECT_EQ(found("[quick]", "[slow]"), "tag removed quick: tagged → not tagged (6)");
    const std::string relation = "scale/fast.gpu_time <= 0.5 * scale/plain.gpu_time";
    EXPECT_EQ(found("0.5 * scale/plain.gpu", "0.9 * scale/plain.gpu"),
              "relation removed " + relation + ": " + relation +
                  " → scale/fast.gpu_time <= 0.9 * scale/plain.gpu_time");
    // Stricter or new.
    EXPECT_EQ(found("gpu_time: 3%", "gpu_time: 1%"), "");
    EXPECT_EQ(found("0.5 * scale/plain.gpu", "0.4 * scale/plain.gpu"), "");
    EXPECT_EQ(found("[1024, 4096]", "[1024, 4096, 8192]"), "");
}

TEST(Review, ComparesTheTextOfRelationsThatCannotBeRead) {
    // Whether a variant of an unknown workload runs on the host is not known.
    const auto found = [](const std::string& was, const std::string& is) {
        return found_in(unknown_suite, was, is);
    };
    const std::string relation = "scale/fast.host_time <= 0.5 * scale/plain.host_time";
    EXPECT_EQ(found("0.5 * scale/plain.host", "0.9 * scale/plain.host"),
              "relation removed " + relation + ": " + relation + " → none");
    EXPECT_EQ(found("  scale/fast.host_time: \"<= 0.5 * scale/plain.host_time\"\n", ""),
              "relation removed " + relation + ": " + relation + " → none");
    EXPECT_EQ(found("name: mine\n", "name: mine\ndescription: d\n"), "");
}

TEST(Review, FindsAnEntryOfAnUnknownWorkloadThatCannotBeRead) {
    EXPECT_EQ(found_in(unknown_suite, "precision: 0.1%", "precision: much")
                  .rfind("unreadable suites/mine.yaml", 0),
              0U);
}

}  // namespace review_unknown_workloads_test
}  // namespace perfgate::review
