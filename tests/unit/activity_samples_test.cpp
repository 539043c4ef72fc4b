// SPDX-License-Identifier: Apache-2.0
// What the GPU measured over time, in recordings that are made here.
#include "activity/samples.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/outputs.hpp"
#include "activity/recording.hpp"
#include "activity/writer.hpp"
#include "recorded_program.hpp"
#include "temporary_folder.hpp"
#include "util/file.hpp"

namespace perfgate::activity {
namespace {

/// A GPU that works in [100, 300), with samples of 50 ns: SMs, tensor pipe, DRAM read and written.
Program sampled() {
    Program program;
    program.range("first", {90, 120}).kernel("a", 100, {100, 200});
    program.range("second", {190, 220}).kernel("b", 200, {200, 300});
    program.sample({50, 100}, {0, 0, 0, 0});
    program.sample({100, 150}, {100, 80, 10, 20}).sample({150, 200}, {60, 0, 30, 30});
    program.sample({200, 250}, {40, 0, 50, 40}).sample({250, 300}, {20, 0, 5, 5});
    return program;
}

const SampledRow& row(std::string_view name) {
    for (const SampledRow& each : sampled_rows()) {
        if (each.name == name) return each;
    }
    throw std::out_of_range("no such row");
}

TEST(Samples, AMeanIsOverTheTimeOfTheWindows) {
    const Program program = sampled();
    const Timeline timeline(program.recording());
    const DeviceSamples samples(timeline);
    const auto mean = [&](const char* name, std::vector<Interval> windows) {
        return samples.over(row(name), windows);
    };
    EXPECT_DOUBLE_EQ(mean("sm_active", {{100, 200}})->value, 80);
    EXPECT_DOUBLE_EQ(mean("sm_active", {{125, 250}})->value, 50)
        << "of the first one half lies before the window";
    EXPECT_FALSE(mean("sm_active", {{110, 190}})) << "none lies in it";
    EXPECT_DOUBLE_EQ(mean("sm_active", {{100, 150}, {250, 300}})->value, 60);
    EXPECT_DOUBLE_EQ(mean("dram_bandwidth", {{100, 200}})->value, 45) << "read and written";
    EXPECT_DOUBLE_EQ(mean("tensor_active", {{100, 300}})->low_share, 0.75);
    EXPECT_FALSE(mean("pcie_bytes", {{100, 200}})) << "not sampled";
    EXPECT_FALSE(mean("sm_active", {{200, 500}})) << "sampled in a third of the time";
    EXPECT_FALSE(mean("sm_active", {}));
}

TEST(Samples, SharesAreMeansOfTheDevicesAndRatesAreAdded) {
    Program program;
    program.kernel("a", 10, {0, 100});
    program.sample({0, 100}, {80, 0, 0, 0, 0, 1000, 500}).sample({0, 100}, {10}, 3);
    const auto over = [&](const char* name) {
        const Timeline timeline(program.recording());
        return DeviceSamples(timeline).over(row(name), std::vector<Interval>{{0, 100}})->value;
    };
    EXPECT_DOUBLE_EQ(over("sm_active"), 80) << "the process did not work on device 3";
    EXPECT_DOUBLE_EQ(over("pcie_bytes"), 1500);
}

TEST(Samples, AProfileHasThemForTheProgramAndForEachRange) {
    const Profile profile = sampled().profile();
    EXPECT_DOUBLE_EQ(profile.sampled.at("sm_active").value, 55);
    ASSERT_EQ(profile.ranges.size(), 2u);
    for (const RangeSummary& range : profile.ranges) {
        const bool first = range.name == "first";
        EXPECT_DOUBLE_EQ(range.sampled.at("sm_active").value, first ? 80 : 30) << range.name;
    }
    const Profile read = parse_profiles(write_profiles({profile}), "test").at(0);
    EXPECT_DOUBLE_EQ(read.ranges[0].sampled.at("sm_active").low_share,
                     profile.ranges[0].sampled.at("sm_active").low_share);
    EXPECT_TRUE(Program().kernel("a", 1, {2, 3}).profile().sampled.empty());
}

TEST(Samples, APageTellsWhatWasNotSampledFromAnIdleGpu) {
    Program program;
    program.range("first", {0, 100'000}).kernel("a", 0, {0, 600'000});
    program.sample({0, 50'000}, {80, 0, 0, 0, 0, 1000, 500})
        .sample({50'000, 100'000}, {0, 0, 0, 0, 0, 0, 0});
    std::vector<Timeline> timelines;
    timelines.emplace_back(program.recording());
    const Profile profile = profile_of(timelines[0]);
    EXPECT_TRUE(profile.sampled.empty()) << "a sixth of it was sampled";
    const auto page = nlohmann::json::parse(page_data(timelines, {profile}));
    const auto& process = page["processes"][0];
    const auto& values = process["samples"][0]["values"];
    EXPECT_EQ(values.front(), 800);
    EXPECT_EQ(values[60], 0);
    EXPECT_EQ(values.back(), -1);
    EXPECT_EQ(process["samples"].back()["name"], "pcie_bytes_per_s");
}

TEST(Samples, ATraceHasACounterTrackForEachRow) {
    const Program program = sampled();
    std::vector<Timeline> timelines;
    timelines.emplace_back(program.recording());
    std::vector<double> dram;
    const auto trace = nlohmann::json::parse(write_trace(timelines));
    for (const auto& event : trace["traceEvents"]) {
        if (event["ph"] == "C" && event["name"] == "DRAM bandwidth (%)") {
            dram.push_back(event["args"]["value"]);
        }
    }
    EXPECT_EQ(dram, (std::vector<double>{0, 30, 60, 90, 10}));
}

std::string stored(const DeviceSample& sample) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "one.activity").native();
    Writer writer;
    EXPECT_EQ(0, writer.open(file.c_str(), {{"pid", "1"}}, 1 << 20));
    Records records;
    records.device_samples.push_back(sample);
    writer.append(records);
    writer.end("exit");
    return util::read_file(file, 1 << 20, "recording");
}

TEST(Samples, AreReadAsFromAnEnemy) {
    DeviceSample sample{10, 20, 0, {}};
    EXPECT_TRUE(parse_recording(stored(sample), "test").incomplete.empty());
    sample.bits[3] = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
    const Recording without_number = parse_recording(stored(sample), "test");
    EXPECT_TRUE(without_number.records.device_samples.empty());
    EXPECT_NE(without_number.incomplete.at(0).find("a sample is no number"), std::string::npos);
    const Recording reversed = parse_recording(stored({20, 10, 0, {}}), "test");
    EXPECT_NE(reversed.incomplete.at(0).find("a sample ends before it starts"), std::string::npos);
}

}  // namespace
}  // namespace perfgate::activity
