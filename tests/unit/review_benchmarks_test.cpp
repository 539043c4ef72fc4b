// SPDX-License-Identifier: Apache-2.0
// What weakens the gate in a suite of benchmarks, whose cases are not in it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/review_fixture.hpp"

namespace perfgate::review {
namespace review_benchmarks_test {

using namespace review_fixture;

TEST(Review, ListsHowABenchmarkIsReadOtherwise) {
    const std::string benchmark =
        "name: mine\nworkloads:\n"
        "  - benchmark: [./bench]\n    name: bench\n    format: json\n    rows: /rows/*\n"
        "    case: /name\n    axes: {n: /n}\n"
        "    values: {misses: {from: /misses, better: lower}}\n"
        "    tolerances: {misses: 0}\n";
    const auto found = [&](const std::string& was, const std::string& is) {
        return found_in(benchmark, was, is);
    };
    EXPECT_NE(found("better: lower", "better: higher").find("case changed values.misses"),
              std::string::npos);
    EXPECT_NE(found("/misses", "/runs").find("case changed values.misses"), std::string::npos);
    EXPECT_NE(found("/rows/*", "/few/*").find("case changed rows"), std::string::npos);
    EXPECT_NE(found("{n: /n}", "{n: /m}").find("case changed axes"), std::string::npos);
    EXPECT_NE(found("case: /name", "case: /title").find("case changed case"), std::string::npos);
    EXPECT_EQ(found("values: {", "values: {runs: {from: /runs, better: none}, "), "");
}

TEST(Review, ReadsAToleranceOfEverythingAsItWas) {
    const std::string rate =
        "name: mine\nworkloads:\n"
        "  - benchmark: [./bench]\n    name: bench\n    format: json\n    rows: /rows/*\n"
        "    case: /name\n    values: {rate: {from: /rate, better: higher}}\n"
        "    tolerances: {rate: ";
    EXPECT_EQ(found_in(rate + "100%}\n", "100%", "50%"), "");
    EXPECT_EQ(found_in(rate + "50%}\n", "50%", "100%"), "tolerance raised rate: 50 % → 100 % (1)");
}

TEST(Review, ListsOverridesOfResultsThatNoSuiteHas) {
    const std::string head =
        "name: mine\nworkloads:\n"
        "  - benchmark: [./bench]\n    name: bench\n    format: google-benchmark\n"
        "    tolerances: {real_time: 5%, cpu_time: 5%}\n";
    const auto found = [&](const std::string& was, const std::string& is) {
        const std::string none = "overrides: []\n";
        return found_in(head + "overrides:\n" + was, "overrides:\n" + was,
                        is.empty() ? none : "overrides:\n" + is);
    };
    const auto over = [](const std::string& match, const std::string& more) {
        return "  - {match: '" + match + "', " + more + "}\n";
    };
    const auto time = [&](const std::string& match, const std::string& tolerance) {
        return over(match, "tolerances: {real_time: " + tolerance + "}");
    };
    const std::string other = time("bench/copy*", "4%");
    EXPECT_EQ(found(other, other + time("bench/sort*", "50%")),
              "tolerance raised real_time: 5 % → 50 % (1)");
    EXPECT_EQ(found(time("bench/sort*", "3%"), time("bench/sort*", "4%")),
              "tolerance raised real_time: 3 % → 4 % (1)");
    EXPECT_EQ(found(time("bench/sort*", "3%") + other, other),
              "tolerance raised real_time: 3 % → 5 % (1)");
    EXPECT_EQ(found(other, other + over("bench/sort*", "skip: too noisy")),
              "case skipped skip: measured → too noisy (1)");
    EXPECT_EQ(found(other, other + over("bench/sort*",
                                        "tolerances: {real_time: {worse: 5%, severity: warn}}")),
              "severity lowered real_time: as the config says → warn (1)");
    EXPECT_EQ(found(other, other + over("bench/sort*",
                                        "device: 'nvidia-h100*', tolerances: "
                                        "{real_time: 9%}")),
              "tolerance raised real_time: 5 % → 9 % (1)");
    // Stricter, or the same in another order.
    EXPECT_EQ(found(other, other + time("bench/sort*", "4%")), "");
    EXPECT_EQ(found(time("bench/sort*", "6%") + other, other + time("bench/sort*", "6%")), "");
}

TEST(Review, ComparesWhatTwoOverridesOfABenchmarkMakeOfACase) {
    const std::string head =
        "name: mine\nworkloads:\n"
        "  - benchmark: [./bench]\n    name: bench\n    format: google-benchmark\n"
        "    tolerances: {real_time: 5%}\noverrides:\n";
    const auto time = [&](const std::string& match, const std::string& tolerance) {
        return "  - {match: '" + match + "', tolerances: {real_time: " + tolerance + "}}\n";
    };
    const auto found = [&](const std::string& was, const std::string& is) {
        return found_in(head + was, was, is);
    };
    // A wider one was stricter than the benchmark.
    const std::string strict = time("bench/*", "1%");
    EXPECT_EQ(found(strict, strict + time("bench/sort*", "4%")),
              "tolerance raised real_time: 1 % → 4 % (1)");
    // The last one decides.
    const std::string loose = time("bench/sort*", "10%");
    const std::string last = time("*n=8*", "3%");
    EXPECT_EQ(found(loose + last, last + loose), "tolerance raised real_time: 3 % → 10 % (1)");
    Files before;
    before["suites/mine.yaml"] = {FileRole::suite, head + loose + last, ""};
    Files after;
    after["suites/mine.yaml"] = {FileRole::suite, head + last + loose, ""};
    EXPECT_EQ(reviewed(before, after).front().cases,
              std::vector<std::string>{"*n=8* and bench/sort*"});
    EXPECT_EQ(found(last + loose, loose + last), "");
    // Without an override of its own, the benchmark is the place.
    after["suites/mine.yaml"] = {FileRole::suite, head + loose, ""};
    EXPECT_EQ(reviewed(before, after).front().place, (model::SourcePlace{"suites/mine.yaml", 3}));
    // No case matches both.
    const std::string apart = time("bench/copy*", "3%");
    EXPECT_EQ(found(loose + apart, apart + loose), "");
}

TEST(Review, ListsWhatIsNotRecordedOfABenchmarkAnyMore) {
    const std::string benchmark =
        "name: mine\nworkloads:\n"
        "  - benchmark: [./bench]\n    name: bench\n    format: google-benchmark\n"
        "    max_overhead: 5%\n"
        "    measure: {flash: {kernel: '*flash*'}, step: {nvtx: step}}\n"
        "    tolerances: {real_time: 5%, flash.gpu_time: 2%}\n"
        "    expect: {step.syncs: '== 0'}\n";
    const auto found = [&](const std::string& was, const std::string& is) {
        return found_in(benchmark, was, is);
    };
    EXPECT_EQ(found("flash.gpu_time: 2%", "flash.gpu_time: 3%"),
              "tolerance raised gpu_time: 2 % → 3 % (1)");
    EXPECT_EQ(found("flash.gpu_time: 2%", "flash.gpu_time: 1%"), "");
    EXPECT_EQ(found("'*flash*'", "'*flash_fwd*'"),
              "case changed measure: kernel '*flash*' → kernel '*flash_fwd*' (1)");
    EXPECT_EQ(found("'== 0'", "'<= 1'"),
              "relation removed bench/step.syncs == 0: bench/step.syncs == 0 → bench/step.syncs <= "
              "1");
    EXPECT_EQ(found("max_overhead: 5%", "max_overhead: 50%"),
              "case changed max_overhead: 5 % → 50 % (2)");
    EXPECT_EQ(found("flash: {kernel: '*flash*'}, step: {nvtx: step}}\n"
                    "    tolerances: {real_time: 5%, flash.gpu_time: 2%}",
                    "step: {nvtx: step}}\n    tolerances: {real_time: 5%}"),
              "case removed mine: in the suite → not in it (1)");
}

}  // namespace review_benchmarks_test
}  // namespace perfgate::review
