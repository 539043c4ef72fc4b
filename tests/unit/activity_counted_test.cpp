// SPDX-License-Identifier: Apache-2.0
// Counters in the recorded stream: read back as written; what refers to nothing is damage.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "activity/recording.hpp"
#include "activity/writer.hpp"
#include "unit/temporary_folder.hpp"

namespace perfgate::activity {
namespace {

class Counted : public testing::Test {
  protected:
    /// Two launches, the second of them counted.
    static Records records(Writer& writer) {
        LaunchConfiguration configuration;
        configuration.symbol = writer.string("gemm");
        configuration.grid = {8, 1, 1};
        Records records;
        const std::uint32_t id = writer.configuration(configuration);
        records.launches = {{id}, {id}};
        records.counter_passes = {{0, 2, writer.string("GH100"), 0}};
        records.planned_counters = {{writer.string("dram__bytes.sum"), CounterFate::counted, 0, 0}};
        records.counted_launches = {{1, 0, 0}};
        records.counter_values = {
            {1, std::bit_cast<std::uint64_t>(4096.5), writer.string("dram__bytes.sum"), 0}};
        records.counter_refusals = {{3, writer.string("in a graph")}};
        return records;
    }

    /// The recording's bytes, with the records changed before they are written.
    std::string written(const std::function<void(Records&)>& change = {}) {
        const std::string file = folder_.path() / ("r" + std::to_string(++files_));
        Writer writer;
        EXPECT_EQ(0, writer.open(file.c_str(), {{"level", "counters"}}, 1U << 20));
        Records all = records(writer);
        if (change) change(all);
        EXPECT_TRUE(writer.append(all));
        writer.end("exit");
        std::ifstream stream(file, std::ios::binary);
        return (std::stringstream() << stream.rdbuf()).str();
    }

    /// What is wrong with the recording.
    std::string damage(const std::function<void(Records&)>& change) {
        const Recording recording = parse_recording(written(change), "r");
        return recording.incomplete.empty() ? "" : recording.incomplete.front();
    }

    TemporaryFolder folder_;
    int files_ = 0;
};

TEST_F(Counted, what_was_written_is_read) {
    const Recording recording = parse_recording(written(), "r");
    EXPECT_EQ(std::vector<std::string>{}, recording.incomplete);
    const Records& read = recording.records;
    ASSERT_EQ(2u, read.launches.size());
    EXPECT_EQ("gemm",
              recording.text(recording.configurations[read.launches[1].configuration].symbol));
    ASSERT_EQ(1u, read.counter_passes.size());
    EXPECT_EQ(2u, read.counter_passes[0].passes);
    EXPECT_EQ("GH100", recording.text(read.counter_passes[0].chip));
    ASSERT_EQ(1u, read.planned_counters.size());
    ASSERT_EQ(1u, read.counted_launches.size());
    EXPECT_EQ(1u, read.counted_launches[0].launch);
    ASSERT_EQ(1u, read.counter_values.size());
    EXPECT_EQ(4096.5, std::bit_cast<double>(read.counter_values[0].bits));
    ASSERT_EQ(1u, read.counter_refusals.size());
    EXPECT_EQ("in a graph", recording.text(read.counter_refusals[0].reason));
}

TEST_F(Counted, what_refers_to_nothing_is_damage) {
    EXPECT_NE(std::string::npos, damage([](Records& r) {
                                     r.launches[1].configuration = 9;
                                 }).find("a launch refers to no launch configuration"));
    EXPECT_NE(std::string::npos, damage([](Records& r) {
                                     r.counted_launches[0].launch = 2;
                                 }).find("a counter refers to no launch"));
    EXPECT_NE(std::string::npos, damage([](Records& r) {
                                     r.counter_values[0].launch = ~std::uint64_t{0};
                                 }).find("a counter refers to no launch"));
    EXPECT_NE(std::string::npos, damage([](Records& r) {
                                     r.counter_values[0].counter = 99;
                                 }).find("a record refers to no text"));
    EXPECT_NE(std::string::npos, damage([](Records& r) {
                                     r.counter_refusals[0].reason = 99;
                                 }).find("a record refers to no text"));
    EXPECT_NE(std::string::npos, damage([](Records& r) {
                                     r.counter_passes[0].chip = 99;
                                 }).find("a record refers to no text"));
    EXPECT_NE(std::string::npos, damage([](Records& r) {
                                     r.planned_counters[0].fate = CounterFate{3};
                                 }).find("what becomes of a counter is not known"));
}

TEST_F(Counted, a_recording_that_is_cut_or_changed_anywhere_is_incomplete) {
    const std::string whole = written();
    for (std::size_t size = 24; size < whole.size(); ++size) {
        EXPECT_FALSE(parse_recording(whole.substr(0, size), "r").incomplete.empty()) << size;
    }
    for (std::size_t place = 24; place < whole.size(); ++place) {
        std::string changed = whole;
        changed[place] = static_cast<char>(changed[place] ^ 0x10);
        EXPECT_FALSE(parse_recording(changed, "r").incomplete.empty()) << place;
    }
}

}  // namespace
}  // namespace perfgate::activity
