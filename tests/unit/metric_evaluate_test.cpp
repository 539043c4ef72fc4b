// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "metrics/catalogue.hpp"

namespace perfgate::metrics {
namespace {

using model::Fold;
using Counters = std::map<std::string, double>;

Metric counter_metric(Fold fold, std::vector<Term> numerator, std::vector<Term> denominator = {},
                      double scale = 1) {
    Metric metric;
    metric.definition.name = "m";
    metric.definition.fold = fold;
    metric.numerator = std::move(numerator);
    metric.denominator = std::move(denominator);
    metric.scale = scale;
    return metric;
}

CounterExists has(std::set<std::string> counters) {
    return [counters = std::move(counters)](const std::string& name) {
        return counters.count(name) != 0;
    };
}

const Term a{1, {"a"}, false};
const Term b{1, {"b"}, false};

TEST(Evaluate, AddsWeightedTermsAndDivides) {
    const Metric metric = counter_metric(Fold::ratio, {a, {2, {"c"}, false}}, {b}, 100);
    EXPECT_EQ(evaluate(metric, {{"a", 1}, {"b", 8}, {"c", 3}}), 87.5);
}

TEST(Evaluate, IsNothingWhereACounterIsAbsentOrTheDenominatorIsZero) {
    const Metric metric = counter_metric(Fold::ratio, {a}, {b});
    EXPECT_EQ(evaluate(metric, {{"a", 1}}), std::nullopt);
    EXPECT_EQ(evaluate(metric, {{"b", 1}}), std::nullopt);
    EXPECT_EQ(evaluate(metric, {{"a", 1}, {"b", 0}}), std::nullopt);
    EXPECT_EQ(evaluate(Metric(), {{"a", 1}}), std::nullopt);
}

TEST(Evaluate, TakesTheFirstAlternativeAndLeavesOutOptionalTerms) {
    const Metric metric =
        counter_metric(Fold::sum, {{1, {"new", "old"}, false}, {1, {"extra"}, true}});
    EXPECT_EQ(evaluate(metric, {{"old", 3}}), 3);
    EXPECT_EQ(evaluate(metric, {{"new", 5}, {"old", 3}}), 5);
    EXPECT_EQ(evaluate(metric, {{"old", 3}, {"extra", 4}}), 7);
    EXPECT_EQ(evaluate(metric, {{"extra", 4}}), std::nullopt);
}

TEST(Evaluate, GivesWhatCuptiGivesForItsOwnRatios) {
    // Counters and ratios of a saxpy of 4096² floats, recorded on an H100.
    const Counters saxpy = {{"lts__t_sectors_lookup_hit.sum", 3197595},
                            {"lts__t_sectors.sum", 9495420},
                            {"l1tex__t_sectors_lookup_hit.sum", 2070480},
                            {"l1tex__t_sectors.sum", 6291456},
                            {"smsp__issue_active.sum", 13115148},
                            {"smsp__cycles_active.sum", 75561118},
                            {"smsp__warps_issue_stalled_long_scoreboard.sum", 818954224},
                            {"smsp__thread_inst_executed.sum", 419430400},
                            {"smsp__inst_executed.sum", 13107200}};
    EXPECT_NEAR(*evaluate(*find_metric("l2_hit_rate"), saxpy), 33.6751296941, 1e-9);
    EXPECT_NEAR(*evaluate(*find_metric("l1_hit_rate"), saxpy), 32.9093933105, 1e-9);
    EXPECT_NEAR(*evaluate(*find_metric("issue_active"), saxpy), 17.3570062846, 1e-9);
    EXPECT_NEAR(*evaluate(*find_metric("stall_long_scoreboard"), saxpy), 62.443384093, 1e-8);
    EXPECT_EQ(*evaluate(*find_metric("warp_efficiency"), saxpy), 100);
}

/// The counters of a kernel that did so many operations of one kind and nothing else.
std::optional<double> flops_of(const std::string& counter, double count) {
    const auto exists = [&](const std::string& name) {
        return name == counter || (name.find("_sass_") != std::string::npos &&
                                   name.find("2_pred") == std::string::npos &&
                                   name.find("4_pred") == std::string::npos);
    };
    const auto metric = on_chip(*find_metric("flops"), exists);
    if (!metric) return std::nullopt;
    Counters counters;
    for (const std::string& name : counters_of(*metric)) counters[name] = 0;
    counters[counter] = count;
    return evaluate(*metric, counters);
}

TEST(Evaluate, FlopsCountMultiplyAdditionsTwiceAndHalvesInPairs) {
    const std::string sass = "smsp__sass_thread_inst_executed_op_";
    EXPECT_EQ(flops_of(sass + "fadd_pred_on.sum", 10), 10);
    EXPECT_EQ(flops_of(sass + "fmul_pred_on.sum", 10), 10);
    EXPECT_EQ(flops_of(sass + "ffma_pred_on.sum", 10), 20);
    EXPECT_EQ(flops_of(sass + "dadd_pred_on.sum", 10), 10);
    EXPECT_EQ(flops_of(sass + "dfma_pred_on.sum", 10), 20);
    EXPECT_EQ(flops_of(sass + "hadd_pred_on.sum", 10), 20);
    EXPECT_EQ(flops_of(sass + "hmul_pred_on.sum", 10), 20);
    EXPECT_EQ(flops_of(sass + "hfma_pred_on.sum", 10), 40);
    EXPECT_EQ(flops_of(sass + "ffma2_pred_on.sum", 10), 40);
    EXPECT_EQ(flops_of("sm__ops_path_tensor_src_bf16_dst_fp32.sum", 10), 10);
    EXPECT_EQ(flops_of("sm__ops_path_tensor_src_fp8.sum", 10), 10);
}

TEST(OnChip, NarrowsEachTermToTheNameThatTheChipHas) {
    const Metric metric =
        counter_metric(Fold::sum, {{1, {"new", "old"}, false}, {2, {"x"}, true}, {3, {"y"}, true}});
    const auto narrowed = on_chip(metric, has({"old", "y"}));
    ASSERT_TRUE(narrowed);
    EXPECT_EQ(counters_of(*narrowed), (std::set<std::string>{"old", "y"}));
    // What the chip has must be collected: without it there is no value, not a smaller one.
    EXPECT_EQ(evaluate(*narrowed, {{"old", 1}, {"y", 1}}), 4);
    EXPECT_EQ(evaluate(*narrowed, {{"old", 1}}), std::nullopt);
}

TEST(OnChip, IsNothingWhereATermOrAllOptionalOnesAreMissing) {
    EXPECT_FALSE(on_chip(counter_metric(Fold::sum, {a, b}), has({"a"})));
    EXPECT_FALSE(on_chip(counter_metric(Fold::ratio, {a}, {b}), has({"a"})));
    EXPECT_FALSE(on_chip(counter_metric(Fold::sum, {{1, {"x"}, true}}), has({"a"})));
}

TEST(CountersOf, AddTheWeightThatAMeanNeeds) {
    EXPECT_EQ(counters_of(counter_metric(Fold::weighted_mean, {a})),
              (std::set<std::string>{"a", weight_counter}));
    EXPECT_EQ(counters_of(counter_metric(Fold::sum, {a})), (std::set<std::string>{"a"}));
    EXPECT_TRUE(counters_of(*find_metric("gpu_time")).empty());
}

TEST(SelectCounters, SharesCountersAndTellsWhatTheChipLacks) {
    Metric present = counter_metric(Fold::ratio, {a}, {b});
    present.definition.name = "present";
    Metric mean = counter_metric(Fold::weighted_mean, {a});
    mean.definition.name = "mean";
    Metric missing = counter_metric(Fold::sum, {{1, {"x", "y"}, false}});
    missing.definition.name = "missing";
    Metric lacking = missing;
    lacking.definition.name = "lacking";
    lacking.absent_on = {"GB1*", "GA10B"};

    const std::vector<Metric> wanted = {present, mean, missing, lacking, *find_metric("registers")};
    const Selection selection = select_counters(wanted, has({"a", "b"}), "GB100");
    EXPECT_EQ(selection.counters, (std::set<std::string>{"a", "b", weight_counter}));
    ASSERT_EQ(selection.metrics.size(), 2u);
    EXPECT_EQ(selection.metrics[0].definition.name, "present");
    ASSERT_EQ(selection.unavailable.size(), 1u);
    EXPECT_EQ(selection.unavailable[0].metric, "missing");
    EXPECT_EQ(
        selection.unavailable[0].reason,
        "GB100 has no counter x or y, or this machine does not offer it; leave the metric out for "
        "this device");
    EXPECT_EQ(selection.not_applicable, (std::vector<std::string>{"lacking"}));

    // On another chip, or one that is not told, it should have been there.
    EXPECT_EQ(select_counters(wanted, has({"a", "b"}), "GH100").unavailable.size(), 2u);
    EXPECT_EQ(select_counters(wanted, has({"a", "b"})).unavailable.size(), 2u);
}

TEST(FoldCounters, SumAndMaxAreOverTheKernels) {
    const std::vector<Counters> kernels = {{{"a", 3}}, {{"a", 5}}, {{"a", 1}}};
    EXPECT_EQ(fold_counters(counter_metric(Fold::sum, {a}, {}, 2), kernels), 18);
    EXPECT_EQ(fold_counters(counter_metric(Fold::max, {a}), kernels), 5);
    const std::vector<Counters> negative = {{{"a", -3}}, {{"a", -5}}};
    EXPECT_EQ(fold_counters(counter_metric(Fold::max, {a}), negative), -3);
}

TEST(FoldCounters, RatioDividesTheSums) {
    // 1 of 1 and 0 of 9 hit: 10 %, not the mean of 100 % and 0 %.
    const std::vector<Counters> kernels = {{{"a", 1}, {"b", 1}}, {{"a", 0}, {"b", 9}}};
    EXPECT_EQ(fold_counters(counter_metric(Fold::ratio, {a}, {b}, 100), kernels), 10);
}

TEST(FoldCounters, RatioWithoutAnyRequestIsZero) {
    const std::vector<Counters> kernels = {{{"a", 0}, {"b", 0}}, {{"a", 0}, {"b", 0}}};
    EXPECT_EQ(fold_counters(counter_metric(Fold::ratio, {a}, {b}), kernels), 0);
}

TEST(FoldCounters, MeanIsWeightedByTime) {
    const Metric metric = counter_metric(Fold::weighted_mean, {a});
    const std::vector<Counters> kernels = {{{"a", 10}, {weight_counter, 300}},
                                           {{"a", 50}, {weight_counter, 100}}};
    EXPECT_EQ(fold_counters(metric, kernels), 20);
    const std::vector<Counters> timeless = {{{"a", 10}, {weight_counter, 0}},
                                            {{"a", 50}, {weight_counter, 0}}};
    EXPECT_EQ(fold_counters(metric, timeless), 30);
    const std::vector<Counters> unweighted = {{{"a", 10}}};
    EXPECT_EQ(fold_counters(metric, unweighted), std::nullopt);
}

TEST(FoldCounters, MeanOfEqualValuesIsThatValueToTheDigit) {
    const Metric metric = counter_metric(Fold::weighted_mean, {a});
    const std::vector<Counters> kernels = {{{"a", 0.1}, {weight_counter, 7}},
                                           {{"a", 0.1}, {weight_counter, 3}},
                                           {{"a", 0.1}, {weight_counter, 11}}};
    EXPECT_EQ(fold_counters(metric, kernels), 0.1);
}

TEST(FoldCounters, PartOfTheKernelsIsNoValue) {
    const std::vector<Counters> kernels = {{{"a", 3}, {"b", 1}}, {{"b", 1}}};
    EXPECT_EQ(fold_counters(counter_metric(Fold::sum, {a}), kernels), std::nullopt);
    EXPECT_EQ(fold_counters(counter_metric(Fold::max, {a}), kernels), std::nullopt);
    EXPECT_EQ(fold_counters(counter_metric(Fold::ratio, {a}, {b}), kernels), std::nullopt);
    EXPECT_EQ(fold_counters(counter_metric(Fold::sum, {a}), {}), std::nullopt);
}

model::Kernel kernel(std::int64_t registers, double occupancy, double duration_ns) {
    model::Kernel kernel;
    kernel.registers = registers;
    kernel.static_smem = 10 * registers;
    kernel.dynamic_smem = 100 * registers;
    kernel.local_bytes = 1000 * registers;
    kernel.theoretical_occupancy = occupancy;
    kernel.duration_ns = duration_ns;
    return kernel;
}

TEST(FoldRecords, LaunchFactsAreTheLargestAndLaunchesAreCounted) {
    const std::vector<model::Kernel> kernels = {kernel(32, 50, 300), kernel(64, 25, 100)};
    EXPECT_EQ(fold_records(*find_metric("registers"), kernels), 64);
    EXPECT_EQ(fold_records(*find_metric("static_smem"), kernels), 640);
    EXPECT_EQ(fold_records(*find_metric("dynamic_smem"), kernels), 6400);
    EXPECT_EQ(fold_records(*find_metric("local_bytes"), kernels), 64000);
    EXPECT_EQ(fold_records(*find_metric("launches"), kernels), 2);
    EXPECT_EQ(fold_records(*find_metric("theoretical_occupancy"), kernels), 43.75);
}

TEST(FoldRecords, SizesOfCodeAndStackAreTheLargestIfAllAreKnown) {
    std::vector<model::Kernel> kernels = {kernel(32, 50, 300), kernel(64, 25, 100)};
    const Metric code_size = *find_metric("code_size");
    const Metric stack = *find_metric("stack");
    kernels[0].code_bytes = 384;
    kernels[0].stack_bytes = 0;
    EXPECT_EQ(fold_records(code_size, kernels), std::nullopt);
    EXPECT_EQ(fold_records(stack, kernels), std::nullopt);
    kernels[1].code_bytes = 2048;
    kernels[1].stack_bytes = 256;
    EXPECT_EQ(fold_records(code_size, kernels), 2048);
    EXPECT_EQ(fold_records(stack, kernels), 256);
}

TEST(FoldRecords, AreNothingWithoutKernelsOrForOtherMetrics) {
    const std::vector<model::Kernel> kernels = {kernel(32, 50, 300)};
    EXPECT_EQ(fold_records(*find_metric("registers"), {}), std::nullopt);
    EXPECT_EQ(fold_records(*find_metric("cycles"), kernels), std::nullopt);
    EXPECT_EQ(fold_records(*find_metric("waves"), kernels), std::nullopt) << "not in the record";
}

}  // namespace
}  // namespace perfgate::metrics
