// SPDX-License-Identifier: Apache-2.0
// What readings of free memory say: of the variant, and where other processes took part.
#include <gtest/gtest.h>

#include "backend/cuda/memory_use.hpp"

namespace perfgate::backend::cuda {
namespace {

constexpr double mib = 1024.0 * 1024;

/// Of a variant that holds 64 MiB from its set-up on, 96 MiB while a launch is queued.
MemoryReadings readings(int launches = 1000) {
    return {{{1000 * mib, 400 * mib},
             {936 * mib, 464 * mib},
             {904 * mib, 496 * mib},
             {936 * mib, 464 * mib},     // early
             {904 * mib, std::nullopt},  // no lower than before: not asked
             {936 * mib, 464 * mib}},
            3,
            5,
            launches};
}

TEST(MemoryReadings, ThePeakIsTheLargestDrop) {
    const measure::Reading sample = memory_values(readings());
    EXPECT_EQ(sample.problem, "");
    EXPECT_EQ(sample.note, "");
    EXPECT_EQ(sample.values.at("leak").problem, "");
    EXPECT_EQ(sample.method, "driver/free");
    EXPECT_EQ(sample.values.at("memory_peak").value, 96 * mib);
    EXPECT_EQ(sample.values.at("leak").value, 0);
    EXPECT_EQ(sample.values.at("leak").detail, "over 1000 launches");
}

TEST(MemoryReadings, TheLeakIsOver1000LaunchesHoweverManyWereMade) {
    for (const int launches : {1000, 500, 100}) {
        MemoryReadings leaking = readings(launches);
        const double leaked = 64 * 1024.0 * launches;
        leaking.all[5] = {936 * mib - leaked, 464 * mib + leaked};
        const measure::Reading sample = memory_values(leaking);
        EXPECT_EQ(sample.problem, "");
        EXPECT_DOUBLE_EQ(sample.values.at("leak").value, 64 * 1024.0 * 1000) << launches;
        EXPECT_EQ(sample.values.at("leak").detail, "over " + std::to_string(launches) +
                                                       " launches" +
                                                       (launches < 1000 ? ", scaled to 1000" : ""));
    }
    MemoryReadings shrinking = readings();
    shrinking.all[5] = {1000 * mib, 400 * mib};
    EXPECT_EQ(memory_values(shrinking).values.at("leak").value, 0);
    const measure::Reading few = memory_values(readings(99));
    EXPECT_NE(few.values.at("leak").problem.find("99 launches"), std::string::npos);
    EXPECT_EQ(few.values.at("memory_peak").value, 96 * mib);
}

// It had 200 MiB at the lowest reading alone, and has given them back since.
TEST(MemoryReadings, AnotherProcessThatAllocatesAndFreesMeanwhileIsNoticed) {
    MemoryReadings disturbed = readings();
    disturbed.all[2].free_bytes -= 200 * mib;
    const measure::Reading sample = memory_values(disturbed);
    EXPECT_NE(sample.problem.find("changed by 200 MiB"), std::string::npos) << sample.problem;
    // From the beginning to the end.
    MemoryReadings grown = readings();
    grown.all[5].free_bytes -= 2 * mib;
    EXPECT_NE(memory_values(grown).problem, "");
    grown.all[5].free_bytes += 4 * mib;
    EXPECT_NE(memory_values(grown).problem, "") << "it freed memory";
    grown.all[5].free_bytes -= mib;
    EXPECT_EQ(memory_values(grown).problem, "") << "less than the driver's piece";
    // Between the first launches and the last: a leak that is hidden.
    MemoryReadings between = readings();
    between.all[3].free_bytes -= 8 * mib;
    EXPECT_NE(memory_values(between).problem, "");
}

TEST(MemoryReadings, WithoutTheProcessInNvmlThePeakIsThereWithANote) {
    MemoryReadings unknown = readings();
    for (MemoryReading& reading : unknown.all) reading.own_bytes.reset();
    const measure::Reading sample = memory_values(unknown);
    EXPECT_EQ(sample.problem, "");
    EXPECT_EQ(sample.values.at("memory_peak").value, 96 * mib);
    EXPECT_NE(sample.note.find("other processes"), std::string::npos) << sample.note;
    for (const std::size_t needed : {0, 2, 3, 5}) {
        MemoryReadings partly = readings();
        partly.all[needed].own_bytes.reset();
        EXPECT_NE(memory_values(partly).note, "") << needed;
    }
}

}  // namespace
}  // namespace perfgate::backend::cuda
