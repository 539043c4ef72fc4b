// SPDX-License-Identifier: Apache-2.0
// Two states of a baseline, read by the gate: what makes it pass a regression is listed by case, an
// honest refresh in one finding.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "document/baseline.hpp"
#include "review/review.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::review {
namespace review_baselines_test {

constexpr const char* suite_text = R"(name: gemm
defaults:
  metrics: [gpu_time, registers]
  tolerances: {gpu_time: 3%, registers: 0%}
workloads:
  - workload: gemm
    variants: [naive, tiled]
    params: {m: 64, n: 64}
    matrix: {k: [64, 128]}
)";
constexpr const char* suite_path = "suites/gemm.yaml";
constexpr const char* path = "baselines/nvidia-x/gemm.json";
constexpr const char* victim = "gemm/naive[k=128,m=64,n=64]";
const std::vector<std::string> ids{"gemm/naive[k=128,m=64,n=64]", "gemm/naive[k=64,m=64,n=64]",
                                   "gemm/tiled[k=128,m=64,n=64]", "gemm/tiled[k=64,m=64,n=64]"};

/// Processes that differ by up to 0.6 %, in an order that the number of the recording decides.
std::vector<model::Batch> times_on(const std::string& board, double centre, std::size_t count,
                                   std::size_t recording) {
    std::vector<model::Batch> batches;
    for (std::size_t i = 0; i < count; ++i) {
        model::Batch batch;
        batch.process = static_cast<std::int64_t>(i);
        batch.device = board;
        batch.seed = 1;
        batch.sm_clock_mhz = 1980;
        const std::size_t step = (7 * i + 3 * recording) % 13;
        const double noise = static_cast<double>(step) / 13 - 0.5;
        batch.samples = {centre * (1 + 0.006 * noise) + static_cast<double>(recording)};
        batches.push_back(batch);
    }
    return batches;
}

void append(const std::vector<model::Batch>& more, model::MetricSeries& series) {
    series.batches.insert(series.batches.end(), more.begin(), more.end());
}

model::MetricSeries counted(double value, const std::string& unit) {
    model::MetricSeries series{unit, value, "kernel-record", {}};
    series.batches.resize(2);
    for (model::Batch& batch : series.batches) {
        batch.device = "a";
        batch.seed = 1;
        batch.samples = {value};
    }
    series.batches.back().process = 1;
    return series;
}

model::Baseline baseline(std::size_t recording = 0) {
    model::Baseline result;
    result.suite = "gemm";
    result.device.key = "nvidia-x";
    double centre = 100000;
    for (const std::string& id : ids) {
        model::BaselineCase& expected = result.cases[id];
        expected.provenance.board = "a";
        expected.provenance.driver = "570";
        expected.metrics["gpu_time"] = {"ns", centre, "activity/cold",
                                        times_on("a", centre, 20, recording)};
        expected.metrics["registers"] = counted(32, "registers");
        expected.metrics["cycles"] = counted(200000, "count");
        expected.metrics["cycles"].method = "counter/cold";
        model::Kernel kernel;
        kernel.name = "gemm";
        kernel.code = "c0de";
        kernel.arguments = "a2";
        expected.kernels = {kernel};
        expected.host_code = "4057";
        expected.anchors["gpu_time"] = 100000;
        centre += 50000;
    }
    return result;
}

Files files(const model::Baseline& state) {
    return {{suite_path, {FileRole::suite, suite_text, ""}},
            {path, {FileRole::baseline, document::write_baseline(state), ""}}};
}

std::vector<Finding> reviewed(const model::Baseline& before, const model::Baseline& after) {
    return review(files(before), files(after), suite::test::workloads()).findings;
}

/// "baseline edited SM clock: 1980 MHz → 3000 MHz (1); …".
std::string in_words(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        if (!text.empty()) text += "; ";
        text += std::string(to_text(finding.kind)) + ' ' + finding.subject + ": " + finding.before +
                " → " + finding.after + " (" + std::to_string(finding.cases.size()) + ')';
    }
    return text;
}

using Edit = std::function<void(model::BaselineCase&)>;

/// What is found where the victim alone is edited.
std::vector<Finding> found(const Edit& edit, model::Baseline after = baseline()) {
    edit(after.cases.at(victim));
    return reviewed(baseline(), after);
}

bool lists(const std::vector<Finding>& findings, Loosening kind, const std::string& subject) {
    for (const Finding& finding : findings) {
        if (finding.kind == kind && finding.subject == subject &&
            finding.cases == std::vector<std::string>{victim}) {
            return true;
        }
    }
    return false;
}

std::vector<model::Batch>& times(model::BaselineCase& expected) {
    return expected.metrics.at("gpu_time").batches;
}

TEST(ReviewBaselines, ARefreshIsOneFindingOfItsSuite) {
    const std::vector<Finding> findings = reviewed(baseline(), baseline(2));
    ASSERT_EQ(findings.size(), 1U) << in_words(findings);
    EXPECT_EQ(findings.front().kind, Loosening::baseline_refreshed);
    EXPECT_EQ(findings.front().subject, "gemm");
    EXPECT_EQ(findings.front().cases, ids);
}

TEST(ReviewBaselines, ARefreshWithBetterTimesIsNotListed) {
    model::Baseline better = baseline(2);
    for (auto& [id, expected] : better.cases) {
        for (model::Batch& batch : times(expected)) batch.samples.front() *= 0.9;
        expected.metrics.at("gpu_time").value *= 0.9;
    }
    EXPECT_EQ(in_words(reviewed(baseline(), better)), "");
}

TEST(ReviewBaselines, OfEqualRaisesTheFirstIsNamed) {
    model::Baseline after = baseline();
    model::BaselineCase& slower = after.cases.at(victim);
    slower.metrics.at("gpu_time").value *= 1.0625;
    for (model::Batch& batch : times(slower)) batch.samples.front() *= 1.0625;
    slower.metrics.at("registers") = counted(34, "registers");
    slower.anchors["registers"] = 32;
    Files before = files(baseline()), now = files(after);
    for (Files* state : {&before, &now}) {
        state->at(suite_path)
            .content.replace(std::string(suite_text).find("3%, registers: 0%"), 17,
                             "9%, registers: 9%");
    }
    const auto findings = review(before, now, suite::test::workloads()).findings;
    EXPECT_NE(in_words(findings).find("2 values worse by up to +6.2 % (gpu_time)"),
              std::string::npos)
        << in_words(findings);
}

TEST(ReviewBaselines, ProcessesThatDisagreeAreListed) {
    const std::vector<Finding> findings = found([](model::BaselineCase& expected) {
        std::vector<model::Batch>& batches = times(expected);
        for (std::size_t i = 0; i < batches.size(); ++i) {
            batches[i].samples.front() = i % 2 == 0 ? 100000 : 160000;
        }
        batches[1].samples.front() = 100000;
    });
    EXPECT_TRUE(lists(findings, Loosening::baseline_weakened, "gpu_time")) << in_words(findings);
}

TEST(ReviewBaselines, AClockThatExcusesASlowerTimeIsListed) {
    const auto at = [](double clock_mhz) {
        return [=](model::BaselineCase& expected) {
            for (model::Batch& batch : times(expected)) batch.sm_clock_mhz = clock_mhz;
        };
    };
    std::vector<Finding> findings = found(at(3000));
    EXPECT_TRUE(lists(findings, Loosening::baseline_weakened, "gpu_time")) << in_words(findings);
    EXPECT_TRUE(lists(findings, Loosening::baseline_edited, "SM clock")) << in_words(findings);
    // Also with times that were measured again.
    findings = found(at(3000), baseline(2));
    EXPECT_TRUE(lists(findings, Loosening::baseline_weakened, "gpu_time")) << in_words(findings);
    // A lower one excuses nothing, but is not what was measured with these times.
    findings = found(at(1900));
    EXPECT_TRUE(lists(findings, Loosening::baseline_edited, "SM clock")) << in_words(findings);
}

TEST(ReviewBaselines, AClockThatIsNotKnownAnyMoreIsListed) {
    const Edit forget = [](model::BaselineCase& expected) {
        times(expected).front().sm_clock_mhz.reset();
    };
    EXPECT_EQ(in_words(found(forget)), "baseline edited SM clock: 1980 MHz → not known (1)");
    const std::vector<Finding> findings = found(forget, baseline(2));
    ASSERT_EQ(findings.size(), 1U) << in_words(findings);
    EXPECT_NE(findings.front().after.find("another SM clock in 1"), std::string::npos);
}

TEST(ReviewBaselines, AnotherCodeOfTheSameTimesIsListedByCase) {
    const Edit edit = [](model::BaselineCase& expected) {
        expected.kernels.front().code = "feed";
        expected.host_code = "f00d";
    };
    EXPECT_EQ(in_words(found(edit)),
              "baseline edited code:  → machine code changed: kernel gemm (1)");
    // With times that were measured again it is a refresh.
    const std::vector<Finding> findings = found(edit, baseline(2));
    ASSERT_EQ(findings.size(), 1U) << in_words(findings);
    EXPECT_EQ(findings.front().kind, Loosening::baseline_refreshed);
    EXPECT_NE(findings.front().after.find("another code in 1"), std::string::npos);
}

TEST(ReviewBaselines, AnAcceptedMetricBringsItsCode) {
    const std::vector<Finding> findings = found([](model::BaselineCase& expected) {
        expected.kernels.front().code = "feed";
        expected.metrics.at("registers") = counted(30, "registers");
    });
    ASSERT_EQ(findings.size(), 1U) << in_words(findings);
    EXPECT_EQ(findings.front().kind, Loosening::baseline_refreshed) << in_words(findings);
}

TEST(ReviewBaselines, ASlowerBoardThatWasAddedIsListedAndAnEqualOneIsNot) {
    const auto added = [](double factor) {
        model::Baseline after = baseline();
        for (auto& [id, expected] : after.cases) {
            const double centre = expected.metrics.at("gpu_time").value;
            // So few that the middle of all stays.
            append(times_on("c", id == victim ? factor * centre : centre, 8, 0),
                   expected.metrics.at("gpu_time"));
        }
        return reviewed(baseline(), after);
    };
    EXPECT_TRUE(lists(added(1.5), Loosening::baseline_weakened, "gpu_time"))
        << in_words(added(1.5));
    const std::vector<Finding> findings = added(1.01);
    ASSERT_EQ(findings.size(), 1U) << in_words(findings);
    EXPECT_EQ(findings.front().kind, Loosening::baseline_refreshed);
    EXPECT_NE(findings.front().after.find("another board beside these"), std::string::npos);
}

TEST(ReviewBaselines, TheBoardThatGotWorstIsListed) {
    const auto state = [](double first, double second, double third) {
        model::Baseline result = baseline();
        model::MetricSeries& time = result.cases.at(victim).metrics.at("gpu_time");
        time.batches = times_on("a", first * 100000, 20, 0);
        append(times_on("b", second * 100000, 4, 0), time);
        append(times_on("c", third * 100000, 4, 0), time);
        return result;
    };
    // The middle of all is better.
    for (const auto& [second, third] : {std::pair(1.5, 1.1), std::pair(1.1, 1.5)}) {
        const std::vector<Finding> findings = reviewed(state(1, 1, 1), state(0.98, second, third));
        EXPECT_TRUE(lists(findings, Loosening::baseline_raised, "gpu_time")) << in_words(findings);
        EXPECT_NE(in_words(findings).find("+50.0 %"), std::string::npos) << in_words(findings);
    }
}

TEST(ReviewBaselines, MoreBoardsThanAreTriedAreListed) {
    model::Baseline after = baseline();
    for (int i = 0; i < 40; ++i) {
        append(times_on("board" + std::to_string(i), 100000, 1, 0),
               after.cases.at(victim).metrics.at("gpu_time"));
    }
    EXPECT_NE(in_words(reviewed(baseline(), after)).find("not compared boards:  → 41"),
              std::string::npos);
}

TEST(ReviewBaselines, ABoardThatWasRenamedIsListedByCase) {
    const Edit rename = [](model::BaselineCase& expected) {
        for (model::Batch& batch : times(expected)) batch.device = "z";
        expected.provenance.board = "z";
    };
    EXPECT_TRUE(lists(found(rename), Loosening::baseline_edited, "board"))
        << in_words(found(rename));
    // Measured again on another board it is a refresh.
    const std::vector<Finding> findings = found(rename, baseline(2));
    ASSERT_EQ(findings.size(), 1U) << in_words(findings);
    EXPECT_NE(findings.front().after.find("another board in 1"), std::string::npos);
}

TEST(ReviewBaselines, ProvenanceOfTheSameTimesIsListedByCase) {
    const Edit driver = [](model::BaselineCase& expected) { expected.provenance.driver = "590"; };
    EXPECT_EQ(in_words(found(driver)),
              "baseline edited code:  → driver changed: 570 → 590 (1); "
              "baseline edited driver: 570 → 590 (1)");
    EXPECT_EQ(found(driver, baseline(2)).size(), 1U);
    const Edit command = [](model::BaselineCase& expected) {
        expected.measured_as = {{"command", "./less"}};
    };
    model::Baseline before = baseline();
    model::Baseline after = baseline();
    before.cases.at(victim).measured_as = {{"command", "./app"}};
    command(after.cases.at(victim));
    EXPECT_EQ(in_words(reviewed(before, after)), "baseline edited command: ./app → ./less (1)");
    after.cases.at(victim).measured_as.clear();
    EXPECT_EQ(in_words(reviewed(before, after)),
              "baseline edited measured as: known → not known (1)");
}

TEST(ReviewBaselines, SessionsThatDifferInOtherCasesAreListedForAll) {
    model::Baseline after = baseline();
    for (auto& [id, expected] : after.cases) {
        std::vector<model::Batch>& batches = times(expected);
        for (std::size_t i = 0; i < batches.size(); ++i) {
            batches[i].run = i % 2 == 0 ? 0 : 1;
            if (id != victim && i % 2 == 1) batches[i].samples.front() *= 0.8;
        }
    }
    const std::vector<Finding> findings = reviewed(baseline(), after);
    bool listed = false;
    for (const Finding& finding : findings) {
        listed = listed ||
                 (finding.kind == Loosening::baseline_weakened && finding.cases.front() == victim);
    }
    EXPECT_TRUE(listed) << in_words(findings);
}

TEST(ReviewBaselines, NewCasesWhoseSessionsDifferAreListedForAll) {
    constexpr std::int64_t sessions = 10;
    model::Baseline before = baseline();
    for (auto& [id, expected] : before.cases) {
        for (model::Batch& batch : times(expected)) batch.run = batch.process % sessions;
    }
    const auto with_new = [&](double factor) {
        model::Baseline after = before;
        for (int i = 0; i < 8; ++i) {
            model::BaselineCase added = after.cases.at(victim);
            for (model::Batch& batch : times(added)) {
                if (batch.run % 2 == 1) batch.samples.front() *= factor;
            }
            after.cases.emplace("gemm/new" + std::to_string(i), added);
        }
        return reviewed(before, after);
    };
    EXPECT_EQ(in_words(with_new(1.0)), "");
    EXPECT_NE(in_words(with_new(0.6)).find("baseline weakened gpu_time"), std::string::npos);
}

TEST(ReviewBaselines, CodeThatNeitherKnowsIsNoDifference) {
    model::Baseline before = baseline();
    for (auto& [id, expected] : before.cases) expected.host_code.clear();
    model::Baseline after = before;
    after.cases.at(victim).metrics.at("gpu_time").value -= 1;
    EXPECT_EQ(in_words(reviewed(before, after)), "");
}

TEST(ReviewBaselines, OtherCyclesOfTheSameTimesAreListed) {
    const std::vector<Finding> findings = found([](model::BaselineCase& expected) {
        expected.metrics.at("cycles") = counted(300000, "count");
        expected.metrics.at("cycles").method = "counter/cold";
    });
    EXPECT_TRUE(lists(findings, Loosening::baseline_edited, "number of cycles"))
        << in_words(findings);
}

TEST(ReviewBaselines, ACountThatVariesIsListed) {
    const std::vector<Finding> findings = found([](model::BaselineCase& expected) {
        model::MetricSeries& registers = expected.metrics.at("registers");
        registers.batches.front().samples = {16};
        registers.batches.back().samples = {48};
    });
    EXPECT_TRUE(lists(findings, Loosening::baseline_weakened, "registers")) << in_words(findings);
}

TEST(ReviewBaselines, ATagThatABaselineLostIsListed) {
    model::Baseline before = baseline();
    before.cases.at(victim).tags = {{"quick"}};
    EXPECT_EQ(in_words(reviewed(before, baseline())), "tag removed quick: tagged → not tagged (1)");
    EXPECT_EQ(in_words(reviewed(baseline(), before)), "");
}

TEST(ReviewBaselines, ValuesOfABenchmarkAreReadAsItsSuiteReadsThem) {
    const auto state = [](double value) {
        model::Baseline result;
        result.suite = "mine";
        result.device.key = "nvidia-x";
        model::MetricSeries& series = result.cases["bench/sort[n=1]"].metrics["hits"];
        series = {"count", value, "benchmark", times_on("a", value, 20, 0)};
        Files all = files(result);
        all[suite_path].content =
            "name: mine\nworkloads:\n"
            "  - benchmark: [./bench]\n    name: bench\n    format: json\n    rows: /rows/*\n"
            "    case: /name\n    axes: {n: /n}\n"
            "    values: {hits: {from: /hits, better: higher}}\n"
            "    tolerances: {hits: 10%}\n";
        return all;
    };
    const auto words = [&](double before, double after) {
        return in_words(review(state(before), state(after), suite::test::workloads()).findings);
    };
    EXPECT_EQ(words(1000, 2000), "") << "more is better";
    EXPECT_EQ(words(1000, 500),
              "baseline raised hits: 1000 → 500 (-50.0 %) (1); anchor raised hits: 1000 → 500 (1)");
}

}  // namespace review_baselines_test
}  // namespace perfgate::review
