// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend/cuda/activity.hpp"

namespace perfgate::backend::cuda {
namespace {

TEST(UnionLength, IsZeroForNothing) {
    EXPECT_EQ(union_length({}), 0u);
    EXPECT_EQ(union_length({{5, 5}}), 0u);
    EXPECT_EQ(union_length({{9, 5}}), 0u);
}

TEST(UnionLength, AddsWhatIsApart) {
    EXPECT_EQ(union_length({{0, 10}, {20, 25}}), 15u);
}

TEST(UnionLength, CountsOverlapsOnce) {
    EXPECT_EQ(union_length({{0, 10}, {5, 15}}), 15u);
    EXPECT_EQ(union_length({{0, 100}, {10, 20}, {30, 40}}), 100u);
    EXPECT_EQ(union_length({{0, 10}, {10, 20}}), 20u);
    EXPECT_EQ(union_length({{7, 9}, {7, 9}}), 2u);
}

TEST(UnionLength, DoesNotMindTheOrder) {
    EXPECT_EQ(union_length({{20, 25}, {0, 10}, {5, 12}}), 17u);
}

TEST(UnionLength, TakesDeviceTimeStamps) {
    const std::uint64_t origin = 1'795'258'139'498'679'600;
    EXPECT_EQ(union_length({{origin, origin + 960}, {origin + 500, origin + 1500}}), 1500u);
}

TEST(GpuTime, IsTheBusyTimeOfALaunch) {
    LaunchActivity launch;
    EXPECT_EQ(launch.gpu_time_ns(), 0);
    launch.records = {{.kind = ActivityKind::kernel, .start_ns = 100, .end_ns = 200},
                      {.kind = ActivityKind::copy, .start_ns = 150, .end_ns = 260},
                      {.kind = ActivityKind::kernel, .start_ns = 300, .end_ns = 310}};
    EXPECT_EQ(launch.gpu_time_ns(), 170);
    EXPECT_EQ(launch.kernel_count(), 2u);
}

TEST(Demangle, WritesCppNames) {
    EXPECT_EQ(demangle("_Z5saxpyfPKfPfm"), "saxpy(float, float const*, float*, unsigned long)");
}

TEST(Demangle, LeavesOtherNamesAlone) {
    EXPECT_EQ(demangle("memset32"), "memset32");
    EXPECT_EQ(demangle(""), "");
    EXPECT_EQ(demangle("_Znonsense"), "_Znonsense");
}

}  // namespace
}  // namespace perfgate::backend::cuda
