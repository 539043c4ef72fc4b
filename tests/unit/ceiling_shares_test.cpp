// SPDX-License-Identifier: Apache-2.0
// ceiling_share, with figures computed by hand, and every reason for which a case has none.
#include "measure/ceiling_shares.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace perfgate::measure {
namespace {

constexpr const char* share = "ceiling_share";

/// A device that copies 1 byte and computes 10 bf16 operations per nanosecond.
const model::Ceilings machine{1e9, {{"bf16", 1e10}}, ""};

/// 9000 operations take 900 ns, 800 bytes take 800 ns: the operations bound it.
const model::Work product{9000, 800, "bf16"};

model::Run run_of(std::optional<model::Work> work, std::vector<model::Batch> batches) {
    model::Run run;
    run.environment.ceilings = machine;
    model::CaseResult& result = run.suites.emplace_back().cases.emplace_back();
    result.status = model::CaseStatus::measured;
    result.work = std::move(work);
    result.metrics["gpu_time"] = {"ns", 1000, "activity/cold", std::move(batches)};
    ask_for_ceiling_share(result);
    return run;
}

model::Run two_processes() {
    model::Batch second{1, "board-a", 7, {1800}};
    second.round = 2;
    second.sm_clock_mhz = 1700;
    return run_of(product, {{0, "board-a", 7, {900, 1000, 1200}}, second});
}

model::CaseResult& only(model::Run& run) {
    return run.suites[0].cases[0];
}

std::string why_not(model::Run run) {
    add_ceiling_shares(run);
    const model::CaseResult& result = only(run);
    EXPECT_FALSE(result.metrics.contains(share));
    EXPECT_EQ(result.not_collected.size(), 1U);
    return result.not_collected.at(0).metric == share ? result.not_collected[0].reason : "";
}

TEST(CeilingShares, HaveTheBatchesOfTheTime) {
    model::Run run = two_processes();
    EXPECT_TRUE(asks_for_ceilings(run));
    add_ceiling_shares(run);
    EXPECT_FALSE(asks_for_ceilings(run));
    EXPECT_TRUE(only(run).not_collected.empty());

    const model::MetricSeries& found = only(run).metrics.at(share);
    EXPECT_EQ(found.unit, "%");
    EXPECT_EQ(found.method, "activity/cold/ceiling");
    ASSERT_EQ(found.batches.size(), 2U);
    // 900 ns over 900, 1000, 1200 and 1800 ns.
    EXPECT_DOUBLE_EQ(found.batches[0].samples.at(0), 100);
    EXPECT_DOUBLE_EQ(found.batches[0].samples.at(1), 90);
    EXPECT_DOUBLE_EQ(found.batches[0].samples.at(2), 75);
    EXPECT_DOUBLE_EQ(found.batches[1].samples.at(0), 50);
    EXPECT_DOUBLE_EQ(found.value, 82.5) << "the median of 50, 75, 90 and 100";
    EXPECT_EQ(found.batches[1].process, 1);
    EXPECT_EQ(found.batches[1].round, 2);
    EXPECT_EQ(found.batches[1].device, "board-a");
    EXPECT_EQ(found.batches[1].seed, 7U);
    EXPECT_EQ(found.batches[1].sm_clock_mhz, 1700);
}

TEST(CeilingShares, TheMemoryBoundsWhatHasFewOperations) {
    model::Run run = run_of(model::Work{1000, 800, "bf16"}, {{0, "b", 1, {1000}}});
    add_ceiling_shares(run);
    EXPECT_DOUBLE_EQ(only(run).metrics.at(share).value, 80);
    // Work without operations needs no rate.
    run = run_of(model::Work{0, 500, ""}, {{0, "b", 1, {1000}}});
    add_ceiling_shares(run);
    EXPECT_DOUBLE_EQ(only(run).metrics.at(share).value, 50);
}

TEST(CeilingShares, ExcludedBatchesStayExcluded) {
    model::Run run = two_processes();
    only(run).metrics.at("gpu_time").batches[1].excluded = "throttled";
    add_ceiling_shares(run);
    const model::MetricSeries& found = only(run).metrics.at(share);
    EXPECT_EQ(found.batches[1].excluded, "throttled");
    EXPECT_DOUBLE_EQ(found.value, 90);
}

TEST(CeilingShares, AreOfTheSpanWithoutKernelRecords) {
    model::Run run = two_processes();
    auto& metrics = only(run).metrics;
    metrics["gpu_span"] = {"ns", 1800, "event/cold", {{0, "b", 1, {1800}}}};
    metrics.erase("gpu_time");
    add_ceiling_shares(run);
    EXPECT_DOUBLE_EQ(metrics.at(share).value, 50);
    EXPECT_EQ(metrics.at(share).method, "event/cold/ceiling");
}

TEST(CeilingShares, OfProgramsACeilingBoundsOnlyGatedBusBandwidths) {
    model::Run run = two_processes();
    EXPECT_TRUE(ceilings_bound_any(run));
    only(run).command = {"./app"};
    EXPECT_FALSE(ceilings_bound_any(run));
    only(run).metrics["bus_bandwidth"] = {"bytes/s", 3e11, "activity", {}};
    EXPECT_FALSE(ceilings_bound_any(run));
    only(run).gates.emplace_back().metric = "bus_bandwidth";
    EXPECT_TRUE(ceilings_bound_any(run));
}

TEST(CeilingShares, AreOnlyOfCasesThatAskForThem) {
    model::Run run = two_processes();
    only(run).not_collected = {{"dram_bytes", "no permission"}};
    EXPECT_FALSE(asks_for_ceilings(run));
    add_ceiling_shares(run);
    EXPECT_FALSE(only(run).metrics.contains(share));

    run = two_processes();
    only(run).status = model::CaseStatus::error;
    EXPECT_FALSE(asks_for_ceilings(run));
    add_ceiling_shares(run);
    EXPECT_FALSE(only(run).metrics.contains(share));
}

TEST(CeilingShares, WithoutAReasonToBelieveThemAreNotCollected) {
    EXPECT_EQ(
        why_not(run_of(std::nullopt, {{0, "b", 1, {1000}}})),
        "the workload states no work: state it in the plugin, or of a source as 'work' in the "
        "suite, or leave ceiling_share out of 'metrics' for it");
    EXPECT_EQ(why_not(run_of(product, {{0, "b", 1, {1000, 0}}})), "the case has a time of 0");
    EXPECT_EQ(why_not(run_of(product, {{0, "b", 1, {1000, -5}}})), "the case has a time of 0");

    model::Run run = two_processes();
    only(run).metrics.clear();
    EXPECT_EQ(why_not(run), "the case has neither gpu_time nor gpu_span");

    run = two_processes();
    run.environment.ceilings = {};
    run.environment.ceilings.problem = "out of memory";
    EXPECT_EQ(why_not(run), "the run has no copy bandwidth: out of memory");

    run = two_processes();
    run.environment.ceilings.matrix_flops_per_s.clear();
    EXPECT_EQ(why_not(run), "the run has no matrix rate of bf16");

    run = two_processes();
    only(run).work->arithmetic.clear();
    EXPECT_NE(why_not(run).find("not their type"), std::string::npos);
}

TEST(CeilingShares, AreNotCollectedUntilTheCeilingsAreKnown) {
    model::CaseResult result;
    ask_for_ceiling_share(result);
    ASSERT_EQ(result.not_collected.size(), 1U);
    EXPECT_NE(result.not_collected[0].reason.find("ceilings"), std::string::npos);
}

}  // namespace
}  // namespace perfgate::measure
