// SPDX-License-Identifier: Apache-2.0
// What NCCL says about its calls, and samples of the GPU, with a driver and a CUPTI that are mocks.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "activity/communication.hpp"
#include "activity/recording.hpp"
#include "injected_program.hpp"

namespace perfgate::inject {
namespace {

using activity::DeviceSample;
using activity::SampledMetric;

class Samples : public Injection {
  protected:
    Samples() { settings_.level = Level::samples; }
    /// Of a program that uses a GPU for a while.
    activity::Recording sampled(const char* samples = "40") {
        run({"newcontext", "kernels", "1", "first", "samples", samples, "kernels", "1", "last"});
        return recording();
    }
};

constexpr std::uint64_t interval_ns = 200'000;

void expect_none_missing(const std::vector<DeviceSample>& samples) {
    for (std::size_t i = 1; i < samples.size(); ++i) {
        EXPECT_EQ(samples[i].start_ns, samples[i - 1].end_ns) << "none is missing, none is twice";
    }
}

TEST_F(Injection, CallsOfNcclSayWhatTheyCommunicate) {
    run({"allreduce", "4096", "allreduce", "100"});
    const activity::Recording found = recording();
    EXPECT_TRUE(found.incomplete.empty()) << found.incomplete.front();
    ASSERT_EQ(found.records.communication_calls.size(), 2u);
    ASSERT_EQ(found.records.communicators.size(), 2u);
    EXPECT_EQ(found.records.communicators[0].id, 0xabcu);
    EXPECT_EQ(found.records.communicators[0].ranks, 4u);
    EXPECT_EQ(found.records.communicators[0].rank, 1u);
    const activity::Timeline timeline(found);
    const auto collectives = activity::collectives_of(timeline);
    ASSERT_EQ(collectives.size(), 2u);
    EXPECT_EQ(collectives[0].name, "AllReduce");
    EXPECT_EQ(collectives[0].bytes, 4096u);
    EXPECT_EQ(collectives[1].bytes, 100u);
    EXPECT_EQ(collectives[0].time.begin, found.records.kernels.at(0).start_ns);
}

TEST_F(Injection, SchemasThatDoNotDeclareTheirEntriesAreNotRead) {
    run({"oddschemas", "allreduce", "100"});
    const activity::Recording found = recording();
    EXPECT_TRUE(found.incomplete.empty()) << found.incomplete.front();
    ASSERT_EQ(found.records.communication_calls.size(), 1u);
    EXPECT_EQ(found.records.communication_calls[0].bytes, 100u);
}

TEST_F(Injection, AForkWhileSchemasAreRegisteredLeavesNoLock) {
    run({"allreduce", "100", "forkschemas"});
    EXPECT_EQ(recording().records.communication_calls.size(), 1u);
}

TEST_F(Samples, OfTheGpuAreOnTheClockOfItsKernels) {
    const activity::Recording found = sampled();
    EXPECT_TRUE(found.incomplete.empty()) << found.incomplete.front();
    const auto& samples = found.records.device_samples;
    ASSERT_GT(samples.size(), 20u);
    EXPECT_LE(samples.front().start_ns, found.records.kernels.front().start_ns + interval_ns)
        << "the first launch waits for samples";
    EXPECT_GE(samples.back().end_ns, samples.front().start_ns + 30 * interval_ns);
    expect_none_missing(samples);
    EXPECT_EQ(samples.front().end_ns - samples.front().start_ns, interval_ns) << "not the set-up";
    // The mock counts two counters in one pass, and lacks the best name of the second.
    EXPECT_EQ(samples[0].value(SampledMetric::sm_active), 70);
    EXPECT_EQ(samples[0].value(SampledMetric::tensor_active), 30);
    EXPECT_EQ(samples[0].value(SampledMetric::dram_read), activity::not_sampled);
    EXPECT_EQ(samples[0].value(SampledMetric::pcie_read), activity::not_sampled);
}

TEST_F(Samples, HaveAllCountersThatFitOnePassAndRatesPerSecond) {
    environment_ = {{"MOCK_PER_PASS", "9"}};
    const activity::Recording found = sampled();
    ASSERT_FALSE(found.records.device_samples.empty());
    const DeviceSample& first = found.records.device_samples.front();
    EXPECT_EQ(first.value(SampledMetric::dram_read), 20);
    EXPECT_EQ(first.value(SampledMetric::dram_write), activity::not_sampled);
    EXPECT_EQ(first.value(SampledMetric::pcie_read), 10'000'000) << "2000 bytes in 200 us";
}

TEST_F(Samples, LeaveOutTheLastCountersWhereTheDriverTakesFewer) {
    environment_ = {{"MOCK_PER_PASS", "9"}, {"MOCK_SAMPLED_AT_MOST", "3"}, {"MOCK_NO_TIMER", "1"}};
    const activity::Recording found = sampled();
    EXPECT_TRUE(found.incomplete.empty()) << found.incomplete.front();
    ASSERT_FALSE(found.records.device_samples.empty());
    const DeviceSample& first = found.records.device_samples.front();
    EXPECT_EQ(first.value(SampledMetric::dram_read), 20);
    EXPECT_EQ(first.value(SampledMetric::pcie_read), activity::not_sampled);
}

TEST_F(Samples, ThatAreReadLateAreAllThere) {
    // More than an image holds, which is 2,048.
    environment_ = {{"MOCK_LATE_MS", "600"}};
    const activity::Recording found = sampled("3000");
    EXPECT_TRUE(found.incomplete.empty()) << found.incomplete.front();
    ASSERT_GE(found.records.device_samples.size(), 2999u);
    expect_none_missing(found.records.device_samples);
}

TEST_F(Samples, ThatDoNotEndDoNotHoldTheProgram) {
    environment_ = {{"MOCK_ENDLESS", "1"}};
    const activity::Recording found = sampled("1");
    ASSERT_EQ(found.incomplete.size(), 1u);
    EXPECT_EQ(found.incomplete[0],
              "samples of GPU 0 are missing: they were too many to be read when the program ended");
}

TEST_F(Samples, ThatAreMissingMakeTheRecordingIncomplete) {
    environment_ = {{"MOCK_OVERFLOW", "1"}};
    const activity::Recording found = sampled("1");
    ASSERT_EQ(found.incomplete.size(), 1u);
    EXPECT_EQ(found.incomplete[0],
              "samples of GPU 0 are missing: they came faster than they could be read");
}

TEST_F(Samples, OfAGpuThatCannotBeSampledAreAReasonAndTheProgramGoesOn) {
    for (const auto& [fault, code] : {std::pair{"MOCK_COUNTERS_ERROR", "35"},
                                      {"MOCK_SAMPLING_BUSY", "26"},
                                      {"MOCK_SAMPLED_AT_MOST", "0"}}) {
        environment_ = {{fault, code}};
        const activity::Recording found = sampled("0");
        ASSERT_EQ(found.incomplete.size(), 1u) << fault;
        EXPECT_TRUE(found.incomplete[0].starts_with("GPU 0 was not sampled: "))
            << found.incomplete[0];
        EXPECT_EQ(found.records.kernels.size(), 2u);
        std::filesystem::remove_all(settings_.folder);
        std::filesystem::create_directory(settings_.folder);
    }
}

TEST_F(Samples, OfAnOlderCuptiAreAReason) {
    environment_ = {{"LD_LIBRARY_PATH", PERFGATE_MOCK_FOLDER "/1204:" PERFGATE_MOCK_FOLDER}};
    settings_.cupti = PERFGATE_MOCK_FOLDER "/1204/libcupti.so.12";
    const activity::Recording found = sampled("0");
    ASSERT_FALSE(found.incomplete.empty());
    EXPECT_TRUE(found.records.device_samples.empty());
}

}  // namespace
}  // namespace perfgate::inject
