// SPDX-License-Identifier: Apache-2.0
#include "model/roofline.hpp"

#include <gtest/gtest.h>

#include "model/unit.hpp"

namespace perfgate::model {
namespace roofline_test {

/// A device that copies 1 byte and computes 10 bf16 operations per nanosecond.
const Ceilings machine{1e9, {{"bf16", 1e10}}, ""};

CaseResult case_of(Work work, double time_ns) {
    CaseResult result;
    result.work = std::move(work);
    result.metrics["gpu_time"] = {"ns", time_ns, "activity/cold", {}};
    return result;
}

void expect_share(const CaseResult& result, Bound bound, const std::string& ceiling, double share) {
    const std::optional<CeilingShare> found = ceiling_share(result, machine);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->bound, bound);
    EXPECT_EQ(found->ceiling, ceiling);
    EXPECT_DOUBLE_EQ(found->share, share);
}

TEST(Roofline, TheLargerLeastTimeSetsTheBound) {
    expect_share(case_of({1000, 800, "bf16"}, 1000), Bound::memory, "copy", 0.8);
    expect_share(case_of({9000, 800, "bf16"}, 1000), Bound::compute, "bf16", 0.9);
}

TEST(Roofline, FarFromItsCeilingACaseIsBoundByNeither) {
    expect_share(case_of({0, 100, ""}, 1000), Bound::neither, "copy", 0.1);
}

TEST(Roofline, WithoutAReasonToBelieveItNothingIsSaid) {
    EXPECT_FALSE(ceiling_share(case_of({0, 0, ""}, 1000), machine));
    EXPECT_FALSE(ceiling_share(case_of({0, 100, ""}, 0), machine));
    EXPECT_FALSE(ceiling_share(case_of({0, 100, ""}, 1000), {}));
    // The type of its operations is not stated, or was not measured: they may be the bound.
    EXPECT_FALSE(ceiling_share(case_of({9000, 800, ""}, 1000), machine));
    EXPECT_FALSE(ceiling_share(case_of({9000, 800, "f16"}, 1000), machine));
    CaseResult no_work = case_of({}, 1000);
    no_work.work.reset();
    EXPECT_FALSE(ceiling_share(no_work, machine));
}

TEST(Roofline, NamesTheCeilingThatIsMissing) {
    EXPECT_EQ(missing_ceiling({9000, 800, "bf16"}, machine), "");
    EXPECT_EQ(missing_ceiling({0, 800, "f64"}, machine), "") << "no operations, no rate";
    EXPECT_EQ(missing_ceiling({0, 800, ""}, {}), "the run has no copy bandwidth");
    EXPECT_EQ(missing_ceiling({9000, 800, "f16"}, {1e9, {}, "cuBLAS was not found"}),
              "the run has no matrix rate of f16: cuBLAS was not found");
    EXPECT_EQ(
        missing_ceiling({9000, 800, ""}, machine),
        "the workload states operations but not their type: state it in the plugin, or of a source "
        "as 'work' in the suite");
}

TEST(Roofline, TheSpanStandsInForAMissingTime) {
    CaseResult result = case_of({0, 500, ""}, 1000);
    result.metrics["gpu_span"] = result.metrics["gpu_time"];
    result.metrics.erase("gpu_time");
    EXPECT_DOUBLE_EQ(ceiling_share(result, machine).value().share, 0.5);
}

TEST(Roofline, IsToldInWords) {
    EXPECT_EQ(in_words(CeilingShare{Bound::memory, "copy", 0.874}),
              "87 % of copy bandwidth, memory-bound");
    EXPECT_EQ(in_words(CeilingShare{Bound::compute, "bf16", 0.6}),
              "60 % of bf16 matrix rate, compute-bound");
    EXPECT_EQ(in_words(CeilingShare{Bound::neither, "f32", 0.03}),
              "3 % of f32 matrix rate, far from both ceilings");
    EXPECT_EQ(in_words(machine), "copy 1.000 GB/s, bf16 10.00 Gflop/s");
    EXPECT_EQ(in_words(Ceilings{}), "");
}

TEST(Dimension, UnitsOfMetricsComeBackFromTheirDimension) {
    for (const char* unit : {"ns", "Hz", "bytes", "bytes/s", "flop", "flop/s", "flop/byte", ""}) {
        EXPECT_EQ(unit_of(meaning_of(unit).dimension), unit);
    }
}

TEST(Dimension, BytesOverATimeAreABandwidth) {
    const UnitMeaning bytes = meaning_of("bytes");
    const UnitMeaning time = meaning_of("ns");
    EXPECT_EQ(unit_of(bytes.dimension / time.dimension), "bytes/s");
    EXPECT_DOUBLE_EQ(3 * bytes.scale / (1 * time.scale), 3e9);
    EXPECT_EQ(unit_of(time.dimension / bytes.dimension), "s*bytes^-1");
}

TEST(Dimension, CountsAndPercentagesArePlainNumbers) {
    for (const char* unit : {"%", "count", "ratio", "registers", "bytes/cycle"}) {
        EXPECT_EQ(meaning_of(unit).dimension, Dimension{}) << unit;
    }
    EXPECT_DOUBLE_EQ(meaning_of("%").scale, 0.01);
}

TEST(Roofline, AQuarterOfTheCeilingIsNear) {
    const auto share = [](Work work, double seconds) {
        return ceiling_share(work, seconds, {4, {{"bf16", 8}}, ""}).value();
    };
    EXPECT_EQ(share({0, 1, ""}, 1).share, 0.25);
    EXPECT_EQ(share({0, 1, ""}, 1).bound, Bound::memory);
    EXPECT_EQ(share({0, 1, ""}, 1.001).bound, Bound::neither);
    EXPECT_EQ(share({2, 0, "bf16"}, 1).bound, Bound::compute);
    EXPECT_EQ(share({2, 1, "bf16"}, 1).bound, Bound::memory) << "of equal times the copy's";
    EXPECT_EQ(share({2, 1, "bf16"}, 1).ceiling, "copy");
}

TEST(Roofline, TheTimeIsTheDevicesInNanoseconds) {
    CaseResult result = case_of({0, 500, ""}, 1000);
    result.metrics["gpu_span"] = {"ns", 2000, "event/cold", {}};
    EXPECT_DOUBLE_EQ(ceiling_share(result, machine).value().share, 0.5);
    result.metrics["gpu_time"].unit = "s";
    EXPECT_DOUBLE_EQ(ceiling_share(result, machine).value().share, 0.25);
    result.metrics["gpu_span"].unit = "s";
    EXPECT_FALSE(ceiling_share(result, machine));
}

TEST(Roofline, CeilingsThatAreNoRateAreNone) {
    Ceilings broken = machine;
    broken.matrix_flops_per_s["bf16"] = 0;
    EXPECT_FALSE(ceiling_share(case_of({9000, 800, "bf16"}, 1000), broken));
    EXPECT_EQ(in_words(broken), "copy 1.000 GB/s");
    broken = machine;
    broken.copy_bytes_per_s = 0;
    EXPECT_FALSE(ceiling_share(case_of({9000, 800, "bf16"}, 1000), broken));
    EXPECT_EQ(in_words(broken), "bf16 10.00 Gflop/s");
    EXPECT_FALSE(ceiling_share(Work{0, 1e300, ""}, 1e-300, machine));
    EXPECT_FALSE(ceiling_share(Work{0, 800, ""}, -1, machine));
}

TEST(Roofline, ABusBandwidthIsAShareOfTheLinks) {
    CaseResult result;
    result.metrics["bus_bandwidth"] = {"bytes/s", 3e11, "activity/callbacks", {}};
    EXPECT_FALSE(ceiling_share(result, machine)) << "a device without links";
    Ceilings linked = machine;
    linked.link_bytes_per_s = 4e11;
    EXPECT_EQ(in_words(ceiling_share(result, linked).value()), "75 % of the links' bandwidth");
    EXPECT_EQ(ceiling_share(result, linked)->bound, Bound::link) << "not latency";
    result.metrics["bus_bandwidth"].value = 8e10;
    EXPECT_EQ(ceiling_share(result, linked)->bound, Bound::neither);
    EXPECT_EQ(in_words(linked), "copy 1.000 GB/s, bf16 10.00 Gflop/s, link 400.0 GB/s");
    result.metrics["bus_bandwidth"].value = 0;
    EXPECT_FALSE(ceiling_share(result, linked));
}

TEST(Dimension, IsNamedInWords) {
    EXPECT_EQ(in_words(meaning_of("ns").dimension), "a time");
    EXPECT_EQ(in_words(meaning_of("%").dimension), "a plain number");
    EXPECT_EQ(in_words(meaning_of("bytes").dimension / meaning_of("ns").dimension),
              "bytes per time");
    EXPECT_EQ(in_words(Dimension{0, 2, 0}), "bytes^2");
}

}  // namespace roofline_test
}  // namespace perfgate::model
