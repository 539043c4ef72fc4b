// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend/cuda/activity.hpp"

namespace perfgate::backend::cuda {
namespace {

TEST(GpuTime, IsTheBusyTimeOfALaunch) {
    LaunchActivity launch;
    EXPECT_EQ(launch.gpu_time_ns(), 0);
    launch.records = {{.kind = ActivityKind::kernel, .start_ns = 100, .end_ns = 200},
                      {.kind = ActivityKind::copy, .start_ns = 150, .end_ns = 260},
                      {.kind = ActivityKind::kernel, .start_ns = 300, .end_ns = 310}};
    EXPECT_EQ(launch.gpu_time_ns(), 170);
    EXPECT_EQ(launch.kernel_count(), 2u);
}

}  // namespace
}  // namespace perfgate::backend::cuda
