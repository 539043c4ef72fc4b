// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend/cuda/occupancy.hpp"

namespace perfgate::backend::cuda {
namespace {

DeviceFacts h100() {
    DeviceFacts device;
    device.cc_major = 9;
    device.sm_count = 132;
    device.warp_size = 32;
    device.max_threads_per_block = 1024;
    device.max_threads_per_sm = 2048;
    device.registers_per_block = 65536;
    device.registers_per_sm = 65536;
    device.smem_per_block = 49152;
    device.smem_per_block_optin = 232448;
    device.smem_per_sm = 233472;
    device.smem_reserved_per_block = 1024;
    return device;
}

KernelFacts kernel(std::uint32_t threads, std::uint32_t registers, std::uint32_t smem = 0) {
    KernelFacts facts;
    facts.name = "kernel";
    facts.grid = {1000, 1, 1};
    facts.block = {threads, 1, 1};
    facts.registers_per_thread = registers;
    facts.static_smem_bytes = smem;
    return facts;
}

TEST(Occupancy, IsFullForASmallKernel) {
    const Occupancy occupancy = theoretical_occupancy(h100(), kernel(256, 16));
    EXPECT_DOUBLE_EQ(occupancy.percent, 100);
    EXPECT_EQ(occupancy.blocks_per_sm, 8);
    EXPECT_EQ(occupancy.warps_per_sm, 64);
}

TEST(Waves, AreTheBlocksOverThoseThatTheDeviceHoldsAtOnce) {
    // 132 SMs with 8 blocks each hold 1056.
    KernelFacts facts = kernel(256, 16);
    const Occupancy occupancy = theoretical_occupancy(h100(), facts);
    facts.grid = {1056, 1, 1};
    EXPECT_DOUBLE_EQ(waves(h100(), facts, occupancy), 1);
    facts.grid = {132, 6, 4};
    EXPECT_DOUBLE_EQ(waves(h100(), facts, occupancy), 3);
    facts.grid = {66, 1, 1};
    EXPECT_DOUBLE_EQ(waves(h100(), facts, occupancy), 0.0625);
    EXPECT_EQ(waves(h100(), facts, Occupancy{}), 0);
}

TEST(Occupancy, IsHalvedByBlocksOfOneWarp) {
    const Occupancy occupancy = theoretical_occupancy(h100(), kernel(32, 16));
    EXPECT_DOUBLE_EQ(occupancy.percent, 50);
}

TEST(Occupancy, IsLimitedByRegisters) {
    const Occupancy occupancy = theoretical_occupancy(h100(), kernel(256, 128));
    EXPECT_DOUBLE_EQ(occupancy.percent, 25);
}

TEST(Occupancy, IsLimitedBySharedMemory) {
    const Occupancy occupancy = theoretical_occupancy(h100(), kernel(128, 32, 48000));
    EXPECT_EQ(occupancy.blocks_per_sm, 4);
}

TEST(Occupancy, CountsRaisedDynamicSharedMemory) {
    KernelFacts facts = kernel(256, 64);
    facts.dynamic_smem_bytes = 200'000;
    facts.smem_optin = true;
    EXPECT_EQ(theoretical_occupancy(h100(), facts).blocks_per_sm, 1);
}

TEST(Occupancy, RefusesAnUnknownDevice) {
    DeviceFacts device = h100();
    device.cc_major = 99;
    EXPECT_THROW(theoretical_occupancy(device, kernel(256, 16)), util::Error);
}

}  // namespace
}  // namespace perfgate::backend::cuda
