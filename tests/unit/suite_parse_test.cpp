// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "suite/suite.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace suite_parse_test {

using Texts = std::vector<std::string>;

Suite parse(const std::string& yaml) {
    return parse_suite(yaml, "s.yaml", test::workloads());
}

std::string refusal_of(const std::string& yaml) {
    return test::refusal([&] { parse(yaml); });
}

Texts ids(const Suite& suite) {
    Texts texts;
    for (const SuiteCase& suite_case : suite.cases) texts.push_back(suite_case.id);
    return texts;
}

/// A suite whose `workloads` are these lines.
std::string with_workloads(const std::string& lines) {
    return "name: s\n"
           "defaults:\n"
           "  metrics: [gpu_time, host_time]\n"
           "  tolerances: {gpu_time: 3%, host_time: 50%}\n"
           "workloads:\n" +
           lines;
}

TEST(SuiteParse, KeepsNameFileAndDescription) {
    const Suite suite = parse(
        "name: my_suite-1\n"
        "description: |\n"
        "  First line\n"
        "  second\n"
        "workloads: [{workload: copy, variants: [plain], metrics: [gpu_time], "
        "tolerances: {gpu_time: 1%}}]\n");
    EXPECT_EQ(suite.name, "my_suite-1");
    EXPECT_EQ(suite.file, "s.yaml");
    EXPECT_EQ(suite.description, "First line\nsecond");
}

TEST(SuiteParse, ADescriptionHasUpToFourThousandBytes) {
    const auto described = [](std::size_t bytes) {
        return with_workloads("  - workload: copy\n    variants: [plain]\n") +
               "description: " + std::string(bytes, 'd') + "\n";
    };
    EXPECT_EQ(parse(described(4000)).description.size(), 4000U);
    EXPECT_NE(refusal_of(described(4001)).find("description"), std::string::npos);
}

TEST(SuiteParse, ListsCasesVariantsFirstThenCacheThenMatrix) {
    const Suite suite = parse(with_workloads(
        "  - workload: gemm\n"
        "    variants: [tiled, naive]\n"
        "    cache: [hot, cold]\n"
        "    params: {k: 8}\n"
        "    matrix:\n"
        "      size: [{m: 1, n: 2}, {m: 3, n: 4}]\n"
        "      dtype: [f32, f16]\n"
        "      exclude: [{variant: naive, dtype: f16}, {variant: naive, cache: hot}]\n"
        "      include: [{variant: naive, cache: cold, m: 9, n: 9}]\n"));
    EXPECT_EQ(
        ids(suite),
        (Texts{"gemm/tiled[dtype=f32,k=8,m=1,n=2]@hot", "gemm/tiled[dtype=f16,k=8,m=1,n=2]@hot",
               "gemm/tiled[dtype=f32,k=8,m=3,n=4]@hot", "gemm/tiled[dtype=f16,k=8,m=3,n=4]@hot",
               "gemm/tiled[dtype=f32,k=8,m=1,n=2]", "gemm/tiled[dtype=f16,k=8,m=1,n=2]",
               "gemm/tiled[dtype=f32,k=8,m=3,n=4]", "gemm/tiled[dtype=f16,k=8,m=3,n=4]",
               "gemm/naive[dtype=f32,k=8,m=1,n=2]", "gemm/naive[dtype=f32,k=8,m=3,n=4]",
               "gemm/naive[k=8,m=9,n=9]"}));
}

TEST(SuiteParse, GivesEveryTypeOfParameterItsType) {
    const Suite suite = parse(
        with_workloads("  - workload: copy\n"
                       "    variants: [plain]\n"
                       "    params: {bytes: 0x10, alpha: 2, aligned: false, label: \"true\"}\n"));
    ASSERT_EQ(suite.cases.size(), 1U);
    const model::Params expected{{"bytes", std::int64_t{16}},
                                 {"alpha", 2.0},
                                 {"aligned", false},
                                 {"label", std::string("true")}};
    EXPECT_EQ(suite.cases[0].spec.params, expected);
}

TEST(SuiteParse, KnowsOfEachCaseWhatTheCatalogueSays) {
    const Suite suite =
        parse(with_workloads("  - workload: copy\n"
                             "    variants: [plain, memcpy, tma]\n"));
    ASSERT_EQ(suite.cases.size(), 3U);
    EXPECT_EQ(suite.cases[0].target, model::Target::cuda);
    EXPECT_EQ(suite.cases[1].target, model::Target::host);
    EXPECT_EQ(suite.cases[2].min_compute_capability, 90);
    EXPECT_EQ(suite.cases[0].not_built, "");
    EXPECT_NE(suite.cases[2].not_built, "");
}

TEST(SuiteParse, PlacesACaseAtItsEntryOrAtTheIncludeThatMadeIt) {
    const Suite suite =
        parse(with_workloads("  - workload: copy\n"
                             "    variants: [plain]\n"
                             "    matrix:\n"
                             "      bytes: [1]\n"
                             "      include:\n"
                             "        - alpha: 2\n"
                             "        - bytes: 7\n"));
    EXPECT_EQ(ids(suite), (Texts{"copy/plain[alpha=2,bytes=1]", "copy/plain[bytes=7]"}));
    EXPECT_EQ(suite.cases[0].at.line, 6);
    EXPECT_EQ(suite.cases[1].at.line, 12);
}

TEST(SuiteParse, TakesAnchorsAndAliases) {
    const Suite suite =
        parse(with_workloads("  - workload: copy\n"
                             "    variants: [plain]\n"
                             "    matrix: &sizes\n"
                             "      bytes: [1, 2]\n"
                             "  - workload: copy\n"
                             "    variants: [memcpy]\n"
                             "    matrix: *sizes\n"));
    EXPECT_EQ(suite.cases.size(), 4U);
}

TEST(SuiteParse, IsTheSameEveryTime) {
    const std::string yaml = with_workloads(
        "  - workload: copy\n"
        "    variants: [plain, memcpy]\n"
        "    matrix: {bytes: [3, 1, 2], alpha: [2, 1]}\n");
    EXPECT_EQ(ids(parse(yaml)), ids(parse(yaml)));
}

TEST(SuiteParse, TellsAllProblemsAtOnceInTheFilesOrder) {
    EXPECT_EQ(
        refusal_of("name: A\n"
                   "defaults:\n"
                   "  metrics: [gpu_time, gpu_tim]\n"
                   "  tolerances: {gpu_time: -3%}\n"
                   "  cache: warm\n"
                   "workloads:\n"
                   "  - workload: copy\n"
                   "    variants: [plain]\n"
                   "    params: {bytes: 0, alpa: 1}\n"
                   "    matrix: {aligned: [1]}\n"
                   "    tag: [x]\n"
                   "  - workload: gem\n"
                   "workload: []\n"),
        "s.yaml:1:7: wrong value for 'name'; expected 1 to 64 of the characters a-z, 0-9, "
        "'_' and '-', found text 'A'\n"
        "s.yaml:3:23: unknown metric 'gpu_tim'; expected a metric or set that `perfgate "
        "list --metrics` lists, or a CUPTI name; did you mean 'gpu_time'?\n"
        "s.yaml:4:26: wrong value for 'gpu_time'; expected a number that is zero or more, "
        "with or without unit, found text '-3%'\n"
        "s.yaml:5:10: unknown value for 'cache': 'warm'; expected one of cold, hot\n"
        "s.yaml:9:21: wrong value for 'bytes'; expected an integer from 1 to 1099511627776, "
        "found 0\n"
        "s.yaml:9:24: unknown parameter 'alpa'; expected one of bytes, alpha, aligned, label; "
        "did you mean 'alpha'?\n"
        "s.yaml:10:24: wrong value for 'aligned'; expected true or false, found 1\n"
        "s.yaml:11:5: unknown key 'tag'; expected one of workload, variants, params, matrix, "
        "tags, overrides, metrics, tolerances, cross_board_tolerance, cache, precision, "
        "time_budget, seed, deterministic; did you mean 'tags'?\n"
        "s.yaml:12:5: a workload entry has no 'variants'; expected that key\n"
        "s.yaml:12:15: unknown workload 'gem'; expected gemm, copy, or one of a plugin that "
        "--plugin or 'plugins' names; did you mean 'gemm'?\n"
        "s.yaml:13:1: unknown key 'workload'; expected one of name, description, plugins, "
        "defaults, workloads, overrides, expect; did you mean 'workloads'?");
}

TEST(SuiteParse, AnIntegerReachesItsMaximum) {
    const auto sized = [](const std::string& m) {
        return with_workloads("  - workload: gemm\n    variants: [naive]\n    params: {m: " + m +
                              ", n: 1, k: 1}\n");
    };
    EXPECT_EQ(parse(sized("16384")).cases.size(), 1U);
    EXPECT_NE(refusal_of(sized("16385")).find("an integer from 1 to 16384"), std::string::npos);
}

TEST(SuiteParse, TellsFiftyProblemsAndCountsTheRest) {
    std::string yaml = with_workloads("  - workload: copy\n    variants: [plain]\n");
    for (int i = 0; i < 60; ++i) yaml += "unknown" + std::to_string(i) + ": 1\n";
    const std::string message = refusal_of(yaml);
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 50);
    EXPECT_TRUE(message.ends_with("\ns.yaml: 10 more problems")) << message;
}

TEST(SuiteParse, SaysThatThereIsNoPluginWhereThereIsNone) {
    EXPECT_EQ(test::refusal([] {
                  parse_suite("name: s\nworkloads: [{workload: gemm, variants: [naive]}]\n",
                              "s.yaml", {});
              }),
              "s.yaml:2:24: unknown workload 'gemm'; expected one of a plugin that --plugin or "
              "'plugins' names");
}

TEST(SuiteParse, KeepsControlCharactersOutOfMessages) {
    const std::string message = refusal_of("name: \"a\\e[31m\\n\"\nworkloads: []\n");
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
    EXPECT_NE(message.find("found text 'a?[31m?'"), std::string::npos) << message;
}

/// The message, which must come soon.
std::string quick_refusal(const std::string& yaml) {
    std::string message;
    EXPECT_LT(test::cpu_seconds([&] { message = refusal_of(yaml); }), test::patience_s);
    return message;
}

std::string numbers(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i) text += (i == 1 ? "" : ",") + std::to_string(i);
    return text;
}

TEST(SuiteParse, RefusesACombinationExplosionWithItsCount) {
    const std::string message =
        quick_refusal(with_workloads("  - workload: copy\n"
                                     "    variants: [plain, memcpy]\n"
                                     "    matrix: {bytes: [" +
                                     numbers(8000) + "], alpha: [" + numbers(8000) + "]}\n"));
    EXPECT_EQ(message,
              "s.yaml:6:5: 128000000 combinations before 'exclude', over all variants and cache "
              "temperatures; expected at most 10000");
}

TEST(SuiteParse, CountsTheCombinationsOfAllEntries) {
    std::string lines;
    for (int i = 0; i < 11; ++i) {
        lines +=
            "  - workload: copy\n    variants: [plain]\n    params: {alpha: " + std::to_string(i) +
            "}\n    matrix: {bytes: [" + numbers(1000) + "]}\n";
    }
    EXPECT_EQ(quick_refusal(with_workloads(lines)),
              "s.yaml:46:5: 11000 combinations before 'exclude', over all variants and cache "
              "temperatures; expected at most 10000");
}

TEST(SuiteParse, BearsTenThousandCases) {
    const std::string yaml = with_workloads(
        "  - workload: copy\n"
        "    variants: [plain]\n"
        "    matrix: {bytes: [" +
        numbers(10'000) + "]}\n");
    Suite suite;
    EXPECT_LT(test::cpu_seconds([&] { suite = parse(yaml); }), test::patience_s);
    EXPECT_EQ(suite.cases.size(), 10'000U);
}

TEST(SuiteParse, RefusesRulesAndOverridesThatCostTooMuch) {
    const std::string big =
        "  - workload: copy\n    variants: [plain]\n    matrix:\n"
        "      bytes: [" +
        numbers(9000) + "]\n";
    std::string excludes;
    for (int i = 0; i < 999; ++i) excludes += (i == 0 ? "{bytes: 1}" : ",{alpha: 1}");
    const std::string too_much =
        ": too many overrides, metrics, relations or matrix rules for this many cases; expected a "
        "smaller "
        "suite: split it";
    EXPECT_EQ(quick_refusal(with_workloads(big + "      exclude: [" + excludes + "]\n")),
              "s.yaml:6:5" + too_much);

    std::string overrides = "overrides:\n";
    for (int i = 0; i < 1000; ++i) {
        overrides += "  - {match: \"*a*a*a*a*a*a*a*a*a*a*b\", tolerances: {gpu_time: 1%}}\n";
    }
    EXPECT_NE(quick_refusal(with_workloads(big) + overrides).find(too_much), std::string::npos);

    std::string distinct = "overrides:\n";
    for (int i = 0; i < 900; ++i) {
        distinct +=
            "  - {match: \"*\", device: d" + std::to_string(i) + ", tolerances: {gpu_time: 1%}}\n";
    }
    EXPECT_NE(quick_refusal(with_workloads(big) + distinct).find(too_much), std::string::npos);
}

TEST(SuiteParse, BearsMessagesForEveryKeyOfALargeFile) {
    std::string yaml = "name: s\n";
    for (int i = 0; yaml.size() < 250'000; ++i) yaml += "worklod" + std::to_string(i) + ": 1\n";
    EXPECT_NE(quick_refusal(yaml).find("more problems"), std::string::npos);

    std::string params;
    for (int i = 0; params.size() < 200'000; ++i) params += "p" + std::to_string(i) + ": 1, ";
    EXPECT_NE(quick_refusal(with_workloads("  - workload: copy\n    variants: [plain]\n"
                                           "    params: {" +
                                           params + "}\n"))
                  .find("more problems"),
              std::string::npos);
}

class SuiteLoad : public testing::Test {
  protected:
    void SetUp() override {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ =
            std::filesystem::path(testing::TempDir()) / (std::string("suite_") + info->name());
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text) {
        const std::filesystem::path path = folder_ / name;
        std::ofstream(path) << text;
        return path.string();
    }

    std::filesystem::path folder_;
};

constexpr const char* good_workloads =
    "workloads: [{workload: copy, variants: [plain], metrics: [gpu_time], "
    "tolerances: {gpu_time: 1%}}]\n";

TEST_F(SuiteLoad, ReadsSeveralFiles) {
    const std::string a = write("a.yaml", std::string("name: a\n") + good_workloads);
    const std::string b = write("b.yaml", std::string("name: b\n") + good_workloads);
    const std::vector<Suite> suites = load_suites({b, a}, test::workloads());
    ASSERT_EQ(suites.size(), 2U);
    EXPECT_EQ(suites[0].name, "b");
    EXPECT_EQ(suites[1].file, a);
}

TEST_F(SuiteLoad, RefusesTwoSuitesOfOneName) {
    const std::string a = write("a.yaml", std::string("name: x\n") + good_workloads);
    const std::string b = write("b.yaml", std::string("name: x\n") + good_workloads);
    EXPECT_EQ(test::refusal([&] {
                  load_suites({a, b}, test::workloads());
              }),
              b + ": suite 'x' is in " + a + " too; expected every suite's name once");
}

TEST_F(SuiteLoad, TellsTheProblemsOfAllFiles) {
    const std::string a = write("a.yaml", std::string("nam: x\n") + good_workloads);
    const std::string b = write("b.yaml", "[");
    const std::string none = (folder_ / "none.yaml").string();
    EXPECT_EQ(test::refusal([&] {
                  load_suites({a, b, none, folder_}, test::workloads());
              }),
              a + ":1:1: a suite has no 'name'; expected that key\n" + a +
                  ":1:1: unknown key 'nam'; expected one of name, description, plugins, "
                  "defaults, workloads, overrides, expect; did you mean 'name'?\n" +
                  b + ":1:2: no valid YAML: end of sequence flow not found\n" + "suite " + none +
                  ": No such file or directory\n" + folder_.string() +
                  ": expected suite files, found a folder; name those in it: " +
                  (folder_ / "*.yaml").string());
}

TEST_F(SuiteLoad, RefusesAHugeFileByItsSize) {
    const std::string huge = write("huge.yaml", "");
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 30);
    EXPECT_EQ(test::refusal([&] { load_suites({huge}, test::workloads()); }),
              "suite " + huge + ": larger than 256 KiB, the most a suite may have");
}

}  // namespace suite_parse_test
}  // namespace perfgate::suite
