// SPDX-License-Identifier: Apache-2.0
#include "baseline/diff.hpp"

#include <gtest/gtest.h>

#include "unit/gate_documents.hpp"

namespace perfgate::baseline {
namespace {

using namespace gate;

using documents::baseline_of;
using documents::measured_case;
using documents::run_of;
using documents::series;

const model::Baseline& one_case() {
    static const model::Baseline baseline = baseline_of(run_of({measured_case()}));
    return baseline;
}

TEST(Diff, OfEqualBaselinesIsEmpty) {
    const BaselineDiff result = diff(one_case(), one_case());
    EXPECT_TRUE(result.changes.empty());
    EXPECT_TRUE(result.added.empty());
    EXPECT_TRUE(result.removed.empty());
    EXPECT_EQ(result.unchanged, 2U);
}

TEST(Diff, OtherProvenanceIsNoChange) {
    model::Baseline after = one_case();
    after.cases.begin()->second.provenance.driver = "1";
    EXPECT_TRUE(diff(one_case(), after).changes.empty());
}

TEST(Diff, NamesWhatMoved) {
    model::Baseline after = one_case();
    after.cases.begin()->second.metrics["gpu_time"] = series({1100});
    const BaselineDiff result = diff(one_case(), after);
    ASSERT_EQ(result.changes.size(), 1U);
    const MetricChange expected{"gemm/tiled[m=1]", "gpu_time", 1000, 1100, "ns", "ns", 0.1, ""};
    EXPECT_EQ(result.changes[0], expected);
    EXPECT_EQ(result.unchanged, 1U);
}

TEST(Diff, AMetricOnOneSideHasNoOtherValue) {
    model::Baseline after = one_case();
    after.cases.begin()->second.metrics.erase("gpu_time");
    after.cases.begin()->second.metrics["l2_hit_rate"] = series({50}, "%");
    const BaselineDiff result = diff(one_case(), after);
    ASSERT_EQ(result.changes.size(), 2U);
    EXPECT_EQ(result.changes[0].metric, "gpu_time");
    EXPECT_EQ(result.changes[0].before, 1000);
    EXPECT_EQ(result.changes[0].after, std::nullopt);
    EXPECT_EQ(result.changes[1].metric, "l2_hit_rate");
    EXPECT_EQ(result.changes[1].before, std::nullopt);
    EXPECT_EQ(result.changes[1].after, 50);
    EXPECT_EQ(result.changes[1].after_unit, "%");
}

TEST(Diff, ValuesOfAnotherMethodOrUnitHaveNoChangeInPercent) {
    model::Baseline after = one_case();
    after.cases.begin()->second.metrics["gpu_time"] = series({1100}, "ns", "activity/cold");
    after.cases.begin()->second.metrics["registers"] = series({64}, "count", "record");
    const BaselineDiff result = diff(one_case(), after);
    ASSERT_EQ(result.changes.size(), 2U);
    EXPECT_EQ(result.changes[0].note, "method changed: event/cold → activity/cold");
    EXPECT_EQ(result.changes[0].change, std::nullopt);
    EXPECT_EQ(result.changes[1].before_unit, "registers");
    EXPECT_EQ(result.changes[1].after_unit, "count");
    EXPECT_EQ(result.changes[1].note, "unit changed: registers → count");
    EXPECT_EQ(result.changes[1].change, std::nullopt);
}

TEST(Diff, FromZeroThereIsNoPercentage) {
    model::Baseline before = one_case();
    before.cases.begin()->second.metrics["gpu_time"] = series({0});
    const BaselineDiff result = diff(before, one_case());
    ASSERT_EQ(result.changes.size(), 1U);
    EXPECT_EQ(result.changes[0].change, std::nullopt);
}

TEST(Diff, NamesCasesThatOneSideHas) {
    const model::Baseline before = baseline_of(run_of({measured_case(1), measured_case(2)}));
    const model::Baseline after = baseline_of(run_of({measured_case(2), measured_case(3)}));
    const BaselineDiff result = diff(before, after);
    EXPECT_EQ(result.removed, std::vector<std::string>{"gemm/tiled[m=1]"});
    EXPECT_EQ(result.added, std::vector<std::string>{"gemm/tiled[m=3]"});
    EXPECT_EQ(result.unchanged, 2U);
}

TEST(Diff, TakesTheMeasuredCasesOfARun) {
    model::Run run = run_of({measured_case(1), measured_case(2), measured_case(3)});
    run.suites[0].cases[1].status = model::CaseStatus::error;
    run.suites[0].cases[2].not_collected = {{"l2_hit_rate", "no permission"}};
    const model::Baseline values = measured_values(run, run.suites[0]);
    EXPECT_EQ(values.suite, "s");
    EXPECT_EQ(values.device.board, "");
    ASSERT_EQ(values.cases.size(), 2U);
    EXPECT_TRUE(values.cases.contains("gemm/tiled[m=1]"));
    EXPECT_TRUE(values.cases.contains("gemm/tiled[m=3]"));
    EXPECT_EQ(values.cases.begin()->second.metrics, run.suites[0].cases[0].metrics);
}

}  // namespace
}  // namespace perfgate::baseline
