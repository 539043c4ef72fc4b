// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/cuda/activity.hpp"
#include "util/error.hpp"

namespace perfgate::backend::cuda {
namespace cuda_activity_test {

TEST(GpuTime, IsTheBusyTimeOfALaunch) {
    LaunchActivity launch;
    EXPECT_EQ(launch.gpu_time_ns(), 0);
    launch.records = {{.kind = ActivityKind::kernel, .start_ns = 100, .end_ns = 200},
                      {.kind = ActivityKind::copy, .start_ns = 150, .end_ns = 260},
                      {.kind = ActivityKind::kernel, .start_ns = 300, .end_ns = 310}};
    EXPECT_EQ(launch.gpu_time_ns(), 170);
    EXPECT_EQ(launch.kernel_count(), 2u);
}

ActivityRecord recorded(ActivityKind kind, std::uint64_t graph_node = 0) {
    ActivityRecord record{.kind = kind};
    record.graph_node_id = graph_node;
    return record;
}

std::string problem(const std::vector<ObservedLaunch>& launches,
                    const std::vector<ActivityRecord>& records) {
    try {
        require_records(launches, {records});
        return {};
    } catch (const util::Error& error) {
        return error.what();
    }
}

constexpr ActivityKind kernel = ActivityKind::kernel;

TEST(LaunchRecords, FewerKernelsThanLaunchesAreAnErrorWithBothCounts) {
    const std::vector<ObservedLaunch> three(3);
    EXPECT_EQ(problem(three, {recorded(kernel), recorded(kernel), recorded(kernel)}), "");
    const std::string lost = problem(three, {recorded(kernel), recorded(kernel)});
    EXPECT_NE(lost.find("recorded 2 of the 3 kernels"), std::string::npos) << lost;
    EXPECT_NE(problem(three, {}), "");
    EXPECT_EQ(problem({}, {}), "");
    // A kernel of a graph or a copy does not stand for one that is lost.
    EXPECT_NE(problem(three, {recorded(kernel), recorded(kernel), recorded(kernel, 7)}), "");
    EXPECT_NE(problem(three, {recorded(kernel), recorded(kernel), recorded(ActivityKind::copy)}),
              "");
}

TEST(LaunchRecords, WhatNoCallLaunchesMayBeThere) {
    // A graph, made before: none of its kernels has a launch call.
    EXPECT_EQ(problem({}, {recorded(kernel, 1), recorded(kernel, 2)}), "");
    // A graph that the launch captures and launches.
    ObservedLaunch captured;
    captured.captured = true;
    EXPECT_EQ(problem({captured, captured}, {recorded(kernel, 1), recorded(kernel, 2)}), "");
    EXPECT_EQ(problem({captured, {}}, {recorded(kernel, 1), recorded(kernel)}), "");
    EXPECT_NE(problem({captured, {}}, {recorded(kernel, 1)}), "");
    // Kernels that kernels launch.
    EXPECT_EQ(problem({{}}, {recorded(kernel), recorded(kernel)}), "");
}

ActivityRecord lasting(std::uint64_t start_ns, std::uint64_t end_ns) {
    return {.kind = kernel, .start_ns = start_ns, .end_ns = end_ns};
}

TEST(LaunchRecords, LaunchesOfTheSameWorkLeaveAsManyRecords) {
    const LaunchActivity two{{lasting(1, 2), lasting(3, 4)}};
    const LaunchActivity one{{lasting(5, 6)}};
    EXPECT_NO_THROW(require_equal_launches({}));
    EXPECT_NO_THROW(require_equal_launches(std::vector{one}));
    EXPECT_NO_THROW(require_equal_launches(std::vector{two, two, two}));
    try {
        require_equal_launches(std::vector{two, one, two});
        FAIL() << "a record is missing";
    } catch (const util::Error& error) {
        EXPECT_NE(std::string(error.what()).find("between 1 and 2 records"), std::string::npos)
            << error.what();
    }
}

TEST(LaunchRecords, WhatBeginsDuringALaunchAndBelongsToNoneIsCounted) {
    ActivityTrace trace;
    trace.launches = {{{lasting(100, 200), lasting(150, 300)}}, {}, {{lasting(500, 600)}}};
    // Flushes and resets: before each launch.
    trace.outside = {lasting(10, 100), lasting(400, 500), lasting(300, 320)};
    EXPECT_EQ(unattributed_records(trace), 0U);
    trace.outside.push_back(lasting(210, 400));
    trace.outside.push_back(lasting(500, 510));
    EXPECT_EQ(unattributed_records(trace), 2U);
}

}  // namespace cuda_activity_test
}  // namespace perfgate::backend::cuda
