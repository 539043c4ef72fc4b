// SPDX-License-Identifier: Apache-2.0
// What the arguments of a driver call say about the launch of a kernel.
#include "cupti/launch_calls.hpp"

#include <gtest/gtest.h>

#include <array>

namespace perfgate::cupti {
namespace {

using Size = std::array<std::uint32_t, 3>;

template <class Parameters>
KernelLaunch launch(CUpti_CallbackId id, const Parameters* parameters) {
    CUpti_CallbackData data{};
    data.functionParams = parameters;
    return launch_of(id, data);
}

void expect_zeros(const KernelLaunch& launch) {
    EXPECT_EQ(launch.grid, Size{});
    EXPECT_EQ(launch.block, Size{});
    EXPECT_EQ(launch.cluster, Size{});
    EXPECT_EQ(launch.dynamic_smem_bytes, 0U);
    EXPECT_FALSE(launch.cooperative);
}

TEST(LaunchCalls, AnExtendedLaunchHasWhatItsConfigurationSays) {
    std::array<CUlaunchAttribute, 2> attributes{};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim = {2, 1, 1};
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[1].value.cooperative = 1;
    CUlaunchConfig config{4, 3, 2, 128, 1, 1, 512, nullptr, attributes.data(), 2};
    cuLaunchKernelEx_params call{&config, nullptr, nullptr, nullptr};
    const KernelLaunch found = launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &call);
    EXPECT_EQ(found.grid, (Size{4, 3, 2}));
    EXPECT_EQ(found.block, (Size{128, 1, 1}));
    EXPECT_EQ(found.cluster, (Size{2, 1, 1}));
    EXPECT_EQ(found.dynamic_smem_bytes, 512U);
    EXPECT_TRUE(found.cooperative);
    EXPECT_EQ(found.stream, nullptr);
    EXPECT_EQ(launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, &call).stream,
              CU_STREAM_PER_THREAD);

    // Attributes that are said to be there and are not.
    config.attrs = nullptr;
    const KernelLaunch without = launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &call);
    EXPECT_EQ(without.grid, (Size{4, 3, 2}));
    EXPECT_EQ(without.cluster, Size{});
}

TEST(LaunchCalls, ANullConfigurationThatTheDriverRefusesIsALaunchOfNothing) {
    const cuLaunchKernelEx_params call{nullptr, nullptr, nullptr, nullptr};
    expect_zeros(launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &call));
    expect_zeros(launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, &call));
}

TEST(LaunchCalls, WithoutArgumentsThereIsNothingToRead) {
    for (const auto id : kernel_launches) {
        expect_zeros(launch<cuLaunchKernel_params>(id, nullptr));
    }
}

}  // namespace
}  // namespace perfgate::cupti
