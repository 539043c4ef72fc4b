// SPDX-License-Identifier: Apache-2.0
// How much device memory a process held, from allocations and releases that are made here.
#include "activity/memory_use.hpp"

#include <gtest/gtest.h>

#include <string>

#include "recorded_program.hpp"

namespace perfgate::activity {
namespace {

constexpr Interval life{0, 1'000'000};

Program program() {
    return Program().level("api").kernel("k", 1, {1, 2});
}

std::string problem(const Program& program) {
    return MemoryUse(program.recording()).problem();
}

TEST(MemoryUse, the_peak_is_the_most_that_is_held_at_a_time) {
    const Program recorded = program()
                                 .allocation(10, 0x1000, 100)
                                 .allocation(20, 0x2000, 50)
                                 .release(30, 0x1000)
                                 .allocation(40, 0x1000, 70)  // the address again
                                 .release(50, 0x2000)
                                 .release(60, 0x1000);
    const MemoryUse memory(recorded.recording());
    ASSERT_EQ("", memory.problem());
    EXPECT_TRUE(memory.any());
    EXPECT_EQ(150u, memory.peak(life));
    EXPECT_EQ(120u, memory.peak({35, 45}));
    EXPECT_EQ(70u, memory.peak({52, 55})) << "held at its begin";
    EXPECT_EQ(100u, memory.peak({10, 15}));
    EXPECT_EQ(0u, memory.peak({0, 9}));
    EXPECT_EQ(0u, memory.peak({60, 70}));
}

TEST(MemoryUse, records_count_by_their_time_in_whatever_order_they_came) {
    const Program recorded =
        program().release(30, 0x1000).allocation(40, 0x1000, 70).allocation(10, 0x1000, 100);
    const MemoryUse memory(recorded.recording());
    ASSERT_EQ("", memory.problem());
    EXPECT_EQ(100u, memory.peak(life));
}

TEST(MemoryUse, of_several_devices_it_is_that_of_the_largest) {
    const Program recorded =
        program().allocation(10, 0x1000, 100, 0).allocation(20, 0x2000, 120, 1);
    const MemoryUse memory(recorded.recording());
    EXPECT_EQ(120u, memory.peak(life));
    EXPECT_EQ(100u, memory.peak(0, life));
    EXPECT_EQ(120u, memory.peak(1, life));
    EXPECT_EQ(0u, memory.peak(2, life));
}

TEST(MemoryUse, managed_memory_and_arrays_count_and_the_hosts_and_modules_do_not) {
    const Program recorded = program()
                                 .allocation(10, 0x1000, 1, 0, MemoryKind::managed)
                                 .allocation(11, 0x2000, 2, 0, MemoryKind::array)
                                 .allocation(12, 0x3000, 4, 0, MemoryKind::pinned)
                                 .allocation(13, 0x4000, 8, 0, MemoryKind::device_static)
                                 .allocation(14, 0x4000, 8, 0, MemoryKind::device_static)
                                 .release(15, 0x3000, MemoryKind::pinned)
                                 .release(16, 0x3000, MemoryKind::pinned)
                                 .release(17, 0);
    const MemoryUse memory(recorded.recording());
    ASSERT_EQ("", memory.problem());
    EXPECT_EQ(3u, memory.peak(life));
}

TEST(MemoryUse, without_allocations_there_is_none_and_at_another_level_it_is_not_known) {
    const MemoryUse none(program().recording());
    EXPECT_EQ("", none.problem());
    EXPECT_FALSE(none.any());
    EXPECT_EQ("the recording has no allocations of memory: they are recorded at level api",
              problem(Program().level("callbacks").kernel("k", 1, {1, 2})));
}

TEST(MemoryUse, records_that_contradict_each_other_are_no_value) {
    const auto contradicts = [](const Program& recorded, const std::string& what) {
        EXPECT_EQ("the records of memory contradict each other: " + what, problem(recorded));
    };
    contradicts(program().allocation(10, 0x1000, 100).release(20, 0x2000),
                "a release at 0x2000 matches no recorded allocation");
    contradicts(program().allocation(10, 0x1000, 1).release(20, 0x1000).release(30, 0x1000),
                "a release at 0x1000 matches no recorded allocation");
    contradicts(program().release(10, 0x1000, MemoryKind::unknown),
                "a release at 0x1000 matches no recorded allocation");
    contradicts(program().allocation(10, 0x1000, 100).allocation(20, 0x1000, 50),
                "an allocation at 0x1000 is of memory that is still in use");
    contradicts(program().allocation(10, 0x1000, 0),
                "an allocation at 0x1000 has no size or no address");
    contradicts(program().allocation(10, 0, 100), "an allocation at 0x0 has no size or no address");
    contradicts(program().allocation(0, 0x1000, 100), "an allocation at 0x1000 has no time");
    contradicts(program().allocation(10, 0x1000, 100).release(0, 0x1000),
                "a release at 0x1000 has no time");
    contradicts(program().allocation(10, 0x1000, 100, 0, MemoryKind::unknown),
                "an allocation at 0x1000 is of an unknown kind of memory");
}

TEST(MemoryUse, a_call_whose_memory_may_not_be_on_record_needs_a_record) {
    for (const std::string name : {"cuMemCreate", "cudaMallocAsync_v11020", "cuMemAllocAsync",
                                   "cudaMallocFromPoolAsync_v11020", "cuGraphAddMemAllocNode"}) {
        Program recorded = program().allocation(10, 0x1000, 100);
        recorded.call(name, {20, 30}, main_thread, 77);
        EXPECT_EQ("CUPTI has no record of the memory that a call of " + name + " allocated",
                  problem(recorded));
        MemoryEvent event;
        event.time_ns = 29;
        event.address = 0x2000;
        event.bytes = 100;
        event.kind = MemoryKind::device;
        event.correlation = 77;
        EXPECT_EQ("", problem(recorded.memory(event)));
    }
    EXPECT_EQ("", problem(program().call("cuMemPoolCreate", {20, 30}).call("cudaMalloc", {31, 32})))
        << "neither a pool nor a cudaMalloc of 0 bytes allocates";
    const Program failed =
        program().allocation(10, 0x1000, 100).call("cuMemCreate", {20, 30}).last_call_failed();
    EXPECT_EQ("", problem(failed));
}

TEST(MemoryUse, the_profile_has_the_peak_of_each_device_where_it_is_known) {
    Program recorded = program().allocation(10, 0x1000, 100);
    EXPECT_EQ(100u, recorded.profile().devices.at(0).peak_memory_bytes);
    EXPECT_EQ(0u, recorded.release(20, 0x2000).profile().devices.at(0).peak_memory_bytes);
}

}  // namespace
}  // namespace perfgate::activity
