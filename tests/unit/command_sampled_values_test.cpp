// SPDX-License-Identifier: Apache-2.0
// What samples of the whole GPU say of a program's pieces.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "recorded_pieces.hpp"

namespace perfgate::command {
namespace command_sampled_values_test {

using namespace recorded_pieces;

TEST(SampledValues, AreMeansOfEachInstanceAndBytesOfLinks) {
    activity::Program program;
    program.range("step", {100, 200}).kernel("a", 110, {120, 300});
    program.range("step", {400, 450}).kernel("a", 410, {420, 500});
    program.sample({100, 200}, {50, 10, 1, 2, 0, 1e9F, 0})
        .sample({200, 300}, {100, 30, 3, 4, 0, 0, 0});
    program.sample({400, 500}, {20, 0, 0, 0, 0, 1e9F, 1e9F});
    const auto recorded = recorded_of({program});
    const SampledValues found = sampled_values_of(*recorded, step);
    EXPECT_EQ(found.problem, "");
    EXPECT_EQ(found.samples.at("sm_active"), (std::vector<double>{75, 20}));
    EXPECT_EQ(found.samples.at("dram_bandwidth"), (std::vector<double>{5, 0}));
    EXPECT_EQ(found.samples.at("pcie_bytes"), (std::vector<double>{100, 200}));
    EXPECT_FALSE(found.samples.contains("nvlink_bytes"));
    EXPECT_EQ(sampled_values_of(*recorded, {}).samples.at("sm_active").size(), 1U);
}

TEST(SampledValues, AreAbsentWhereAnInstanceWasNotSampledEnough) {
    const auto sampled = [](std::uint64_t first, std::uint64_t last) {
        activity::Program program;
        program.range("step", {1000, 2000}).kernel("a", 1000, {1000, 2000});
        program.range("step", {3000, 4000}).kernel("b", 3000, {3000, 4000});
        activity::Program loader;
        loader.range("step", {5000, 5100});
        program.sample({first, 2000}, {50, 10, 1, 2, 0, 1e9F, 0});
        program.sample({3000, last}, {50, 10, 1, 2, 0, 1e9F, 0});
        return sampled_values_of(*recorded_of({program, loader}), step);
    };
    const SampledValues most = sampled(1040, 4000);
    EXPECT_EQ(most.samples.at("pcie_bytes"), (std::vector<double>{1000, 1000}));
    EXPECT_EQ(most.samples.at("sm_active").size(), 2U);
    EXPECT_TRUE(most.details.empty());
    const SampledValues some = sampled(1000, 3940);
    EXPECT_FALSE(some.samples.contains("pcie_bytes")) << "a 17th was not sampled";
    EXPECT_EQ(some.samples.at("sm_active").size(), 2U);
    EXPECT_NE(some.absent, "");
    EXPECT_TRUE(sampled(1000, 3400).samples.empty()) << "one of two instances is not known";
    const SampledValues late = sampled(1900, 4000);
    EXPECT_EQ(late.samples.at("pcie_bytes"), std::vector<double>{1000});
    EXPECT_EQ(late.details.at("pcie_bytes"),
              "1 of 2 instances; the others began before the GPU was sampled");
}

TEST(SampledValues, BytesOfAProgramWhoseBeginWasNotSampledAreAbsent) {
    activity::Program program;
    program.kernel("a", 1000, {1000, 2000}).sample({1300, 2000}, {50, 10, 1, 2, 0, 1e9F, 0});
    const SampledValues found = sampled_values_of(*recorded_of({program}), {});
    EXPECT_FALSE(found.samples.contains("pcie_bytes"));
    EXPECT_EQ(found.samples.at("sm_active"), std::vector<double>{50});
}

TEST(SampledValues, BytesAtAnEndOfTheRangeCount) {
    const auto bytes = [](std::uint64_t last) {
        activity::Program program;
        program.range("step", {1000, 2000}).kernel("a", 1000, {1000, 2000});
        program.sample({1000, last}, {50, 10, 1, 2, 0, 0, 0});
        program.sample({last, 2100}, {50, 10, 1, 2, 0, 1e9F, 0});
        return sampled_values_of(*recorded_of({program}), step).samples;
    };
    EXPECT_EQ(bytes(1900).at("pcie_bytes"), std::vector<double>{100});
    EXPECT_FALSE(bytes(1400).contains("pcie_bytes"))
        << "most of it is of one sample across its end";
}

TEST(SampledValues, BytesAreOfAllDevicesThatWorked) {
    activity::Program program;
    program.range("step", {100, 300}).kernel("a", 110, {120, 300});
    program.kernel("b", 115, {120, 300}).sample({100, 300}, {50, 10, 1, 2, 0, 1e9F, 0});
    std::vector<activity::Recording> recordings(1, program.recording());
    recordings[0].records.kernels[1].place.device = 1;
    const SampledValues found = sampled_values_of(Recorded(std::move(recordings)), step);
    EXPECT_FALSE(found.samples.contains("pcie_bytes"));
    EXPECT_TRUE(found.samples.contains("sm_active"));
}

TEST(SampledValues, AreAbsentWithAReason) {
    EXPECT_EQ(sampled_values_of(*recorded_of({two_steps()}), step).problem,
              "the GPU was not sampled while the program used it");
    activity::Program before = two_steps();
    before.sample({0, 1}, {50});
    const SampledValues found = sampled_values_of(*recorded_of({before}), step);
    EXPECT_TRUE(found.samples.empty());
    EXPECT_NE(found.absent, "");
    Piece other = step;
    other.pattern = "nothing";
    EXPECT_EQ(sampled_values_of(*recorded_of({before}), other).problem,
              "nothing matches 'nothing' in the run in which the GPU was sampled");
}

}  // namespace command_sampled_values_test
}  // namespace perfgate::command
