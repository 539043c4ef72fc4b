// SPDX-License-Identifier: Apache-2.0
#include "gate/invalid.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "baseline/refresh.hpp"
#include "gate/batch_rule.hpp"
#include "unit/gate_documents.hpp"

namespace perfgate::gate {
namespace overhead_test {

using model::CaseResult;
using model::Verdict;

/// One batch for each value.
model::MetricSeries batches(const std::vector<double>& values, const std::string& unit) {
    model::MetricSeries series{unit, values.front(), "activity/callbacks", {}};
    for (std::size_t i = 0; i < values.size(); ++i) {
        series.batches.push_back({static_cast<std::int64_t>(i), "board-a", 1, {values[i]}});
    }
    return series;
}

/// What recording distorts.
constexpr const char* of_the_host[] = {"span",
                                       "idle_share",
                                       "longest_idle",
                                       "exposed_copy_share",
                                       "communication_share",
                                       "exposed_communication_share",
                                       "communication_skew",
                                       "own_span"};

/// A range of a program that gates what depends on the host and what does not. `overheads` in %.
CaseResult program(const std::vector<double>& overheads) {
    CaseResult result = documents::measured_case();
    result.command = {"./app"};
    result.max_overhead = 0.05;
    result.gates.clear();
    result.metrics.clear();
    const std::vector<double> same(overheads.size(), 1000);
    std::vector<std::string> gated{"gpu_time", "copy_time", "kernels", "wall_time"};
    gated.insert(gated.end(), std::begin(of_the_host), std::end(of_the_host));
    for (const std::string& metric : gated) {
        result.gates.push_back({metric, {0.5, std::nullopt, 1}, 0});
        result.metrics[metric] = batches(same, metric == "kernels" ? "count" : "ns");
    }
    result.metrics["tracing_overhead"] = batches(overheads, "%");
    return result;
}

model::Run run_of(const CaseResult& result) {
    model::Run run = documents::run_of({result});
    std::vector<std::string> times{"copy_time", "wall_time", "tracing_overhead"};
    times.insert(times.end(), std::begin(of_the_host), std::end(of_the_host));
    for (const std::string& metric : times) {
        run.metric_definitions[metric] =
            documents::definition(metric, "ns", model::MetricClass::timing);
    }
    run.metric_definitions["kernels"] =
        documents::definition("kernels", "count", model::MetricClass::exact);
    return run;
}

model::VerdictDocument judged(const model::Run& run, bool with_baseline) {
    BaselineSet baselines;
    if (with_baseline) {
        // A run with much overhead becomes no baseline.
        model::Run undisturbed = run;
        model::MetricSeries& overhead =
            undisturbed.suites[0].cases[0].metrics.at("tracing_overhead");
        for (model::Batch& batch : overhead.batches) batch.samples = {1};
        baselines["s"] = {
            "b.json",
            baseline::refresh(undisturbed, undisturbed.suites[0], std::nullopt, {}).baseline};
    }
    return judge(run, baselines, {}, BatchRule({}));
}

/// Three processes against three show nothing of a time.
constexpr Verdict not_shown = Verdict::inconclusive;

const model::MetricVerdict& find(const model::CaseVerdict& verdict, std::string_view metric) {
    for (const model::MetricVerdict& each : verdict.metrics) {
        if (each.metric == metric) return each;
    }
    throw std::out_of_range(std::string(metric));
}

TEST(Overhead, IsAnIntervalOverTheBatches) {
    const auto overhead = overhead_of(program({1, 2, 3}).metrics);
    ASSERT_TRUE(overhead && overhead->low && overhead->high);
    EXPECT_NEAR(overhead->mean, 0.02, 1e-4);
    // Student: t(97.5 %, 2 df) = 4.303; deviation about 1 %.
    EXPECT_NEAR(*overhead->low, 0.02 - 4.303 * 0.01 / 1.7320, 5e-4);
    EXPECT_NEAR(*overhead->high, 0.02 + 4.303 * 0.01 / 1.7320, 5e-4);
    EXPECT_EQ(to_text({0.012, 0.004, 0.021}), "+1.2 % (+0.4 to +2.1 %)");
    EXPECT_EQ(to_text({-0.004, -0.021, 0.013}), "-0.4 % (-2.1 to +1.3 %)");
}

TEST(Overhead, OfOneBatchThereIsNoIntervalAndNothingIsInvalid) {
    const CaseResult one = program({300});
    EXPECT_EQ(to_text(*overhead_of(one.metrics)), "+300.0 % (one batch: no interval)");
    EXPECT_EQ(distortion(one.metrics, 0.05, "span"), "");
}

TEST(Overhead, WithoutTheMetricThereIsNone) {
    CaseResult without = program({10, 11, 12});
    without.metrics.erase("tracing_overhead");
    EXPECT_FALSE(overhead_of(without.metrics));
    EXPECT_EQ(distortion(without.metrics, 0.05, "span"), "");
}

TEST(Overhead, ValuesThatAreNoRatioAreLeftOut) {
    EXPECT_FALSE(overhead_of(program({-100}).metrics));
    EXPECT_NEAR(overhead_of(program({-200, 1, 1}).metrics)->mean, 0.01, 1e-9);
}

TEST(Overhead, AboveTheBoundWhatDependsOnTheHostIsInvalid) {
    for (const bool with_baseline : {true, false}) {
        const auto document = judged(run_of(program({10, 10.5, 11})), with_baseline);
        const model::CaseVerdict& verdict = document.suites[0].cases[0];
        EXPECT_EQ(verdict.verdict, Verdict::invalid);
        EXPECT_EQ(document.exit_code, 3);
        for (const char* metric : of_the_host) {
            const model::MetricVerdict& invalid = find(verdict, metric);
            EXPECT_EQ(invalid.verdict, Verdict::invalid);
            EXPECT_NE(invalid.sentence.find("recording overhead of the program is +10.5 % (+9.3 to "
                                            "+11.7 %), above 'max_overhead' (5 %)"),
                      std::string::npos)
                << invalid.sentence;
        }
        const Verdict others = with_baseline ? not_shown : Verdict::no_baseline;
        EXPECT_EQ(find(verdict, "gpu_time").verdict, others);
        EXPECT_EQ(find(verdict, "copy_time").verdict, others);
        EXPECT_EQ(find(verdict, "wall_time").verdict, others);
        EXPECT_EQ(find(verdict, "kernels").verdict,
                  with_baseline ? Verdict::pass : Verdict::no_baseline);
    }
}

TEST(Overhead, OfTheBaselineMakesTheSameMetricsInvalid) {
    const model::Run slow = run_of(program({10, 10.5, 11}));
    EXPECT_NE(baseline::objection(slow, slow.suites[0].cases[0]).find("max_overhead"),
              std::string::npos);
    EXPECT_EQ(baseline::objection(slow, run_of(program({1, 1, 1})).suites[0].cases[0]), "");
    // As `ab` has it, or a baseline from before it was refused.
    model::Run now = run_of(program({1, 1, 1}));
    BaselineSet baselines;
    baselines["s"] = {"b.json", baseline::refresh(now, now.suites[0], std::nullopt, {}).baseline};
    for (auto& [id, expected] : baselines["s"].baseline.cases) {
        expected.metrics["tracing_overhead"] = batches({10, 10.5, 11}, "%");
    }
    const auto document = judge(now, baselines, {}, BatchRule({}));
    EXPECT_EQ(document.exit_code, 3);
    const model::CaseVerdict& verdict = document.suites[0].cases[0];
    EXPECT_EQ(find(verdict, "span").verdict, Verdict::invalid);
    EXPECT_NE(find(verdict, "span").sentence.find("in the baseline"), std::string::npos);
    EXPECT_EQ(find(verdict, "gpu_time").verdict, not_shown);
}

TEST(Overhead, BelowTheBoundOrTooUncertainNothingIs) {
    // 5.2 % on the average, and as well 3 %; and exactly at the bound.
    for (const std::vector<double>& overheads :
         {std::vector<double>{1, 1.1, 1.2}, {3, 5, 7.6}, {-2, -1, 0}, {5, 5, 5}}) {
        const auto document = judged(run_of(program(overheads)), true);
        EXPECT_EQ(document.suites[0].cases[0].verdict, not_shown);
        EXPECT_EQ(document.exit_code, 0);
    }
    CaseResult unbounded = program({50, 50.1, 50.2});
    unbounded.max_overhead = 0.6;
    EXPECT_EQ(judged(run_of(unbounded), true).exit_code, 0);
    unbounded.max_overhead.reset();
    EXPECT_EQ(judged(run_of(unbounded), true).exit_code, 0);
}

TEST(Overhead, IsANoteOfTheCase) {
    const auto document = judged(run_of(program({1, 1, 1})), true);
    const auto& notes = document.suites[0].cases[0].notes;
    EXPECT_NE(std::find(notes.begin(), notes.end(), "recording overhead: +1.0 % (+1.0 to +1.0 %)"),
              notes.end());
}

TEST(Overhead, IsANoteOfTheSuiteForEachProgram) {
    const auto notes_of = [](const std::vector<CaseResult>& cases) {
        model::Run run = run_of(cases.front());
        run.suites[0].cases = cases;
        return judged(run, false).suites[0].notes;
    };
    const auto contains = [](const std::vector<std::string>& notes, const std::string& note) {
        return std::find(notes.begin(), notes.end(), note) != notes.end();
    };
    CaseResult first = program({1, 1, 1}), second = program({1, 1, 1});
    first.spec.workload = second.spec.workload = "train";
    first.spec.variant = "step";
    second.spec.variant = "eval";
    CaseResult other = program({3});
    other.spec.workload = "infer";
    const auto alike = notes_of({first, second, other});
    EXPECT_TRUE(contains(alike, "recording overhead of train: +1.0 % (+1.0 to +1.0 %)"));
    EXPECT_TRUE(contains(alike, "recording overhead of infer: +3.0 % (one batch: no interval)"));
    second.metrics["tracing_overhead"] = batches({2, 2, 2}, "%");
    EXPECT_TRUE(contains(notes_of({first, second}),
                         "recording overhead of train: from +1.0 % (+1.0 to +1.0 %) for " +
                             case_id(first.spec) + " to +2.0 % (+2.0 to +2.0 %) for " +
                             case_id(second.spec)));
    first.metrics.erase("tracing_overhead");
    for (const std::string& note : notes_of({first})) {
        EXPECT_EQ(note.find("overhead"), std::string::npos) << note;
    }
}

TEST(Overhead, AnExpectationOnWhatIsInvalidCannotBeJudged) {
    CaseResult result = program({10, 10.5, 11});
    result.gates.clear();
    for (const std::string metric : {"span", "gpu_time"}) {
        model::Run run = run_of(result);
        model::Relation relation;
        relation.operands = {"gemm/tiled"};
        relation.left = {model::OperandMetric{0, metric}};
        relation.left_text = "gemm/tiled." + metric;
        relation.right = {10.0};
        relation.right_text = "10 s";
        relation.comparator = model::Comparator::less_equal;
        relation.unit = "ns";
        relation.instances = {{model::case_id(result.spec)}};
        run.suites[0].relations = {relation};
        const auto document = judged(run, false);
        const model::RelationVerdict& verdict = document.suites[0].relations.at(0);
        EXPECT_EQ(verdict.verdict, metric == "span" ? Verdict::error : Verdict::pass)
            << verdict.sentence;
        EXPECT_EQ(document.exit_code, metric == "span" ? 3 : 0);
    }
}

}  // namespace overhead_test
}  // namespace perfgate::gate
