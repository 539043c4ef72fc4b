// SPDX-License-Identifier: Apache-2.0
//
// What is said about a board, without one.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "backend/cuda/counter_collection.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/cuda/environment.hpp"
#include "backend/cuda/event_timer.hpp"
#include "backend/cuda/nvml.hpp"
#include "cupti/api.hpp"

namespace perfgate::backend::cuda {
namespace {

using Level = measure::Diagnosis::Level;
using Words = std::vector<std::string>;

const measure::Diagnosis* find(const std::vector<measure::Diagnosis>& found,
                               const std::string& topic) {
    for (const auto& entry : found) {
        if (entry.topic == topic) return &entry;
    }
    return nullptr;
}

TEST(ThrottleReasons, AreWords) {
    EXPECT_EQ(throttle_words(0), Words{});
    EXPECT_EQ(throttle_words(0x1), Words{"idle"});
    EXPECT_EQ(throttle_words(0x4 | 0x40), (Words{"power cap", "hardware thermal slowdown"}));
}

TEST(ThrottleReasons, OfNewerDriversAreNotLost) {
    EXPECT_EQ(throttle_words(0x4 | 0x800), (Words{"power cap", "clocks event reason 11"}));
}

TEST(ThrottleReasons, OfIdleBoardsDoNotThrottle) {
    EXPECT_FALSE(throttled(0));
    EXPECT_FALSE(throttled(0x1 | 0x2 | 0x100));
    EXPECT_TRUE(throttled(0x1 | 0x4));
    EXPECT_TRUE(throttled(0x20));
}

TEST(BoardId, TellsBoardsApartAndHidesTheUuid) {
    const std::string one = board_id("GPU-11111111-2222-3333-4444-555555555555");
    const std::string other = board_id("GPU-11111111-2222-3333-4444-555555555556");
    EXPECT_EQ(one.size(), 16u);
    EXPECT_NE(one, other);
    EXPECT_EQ(one, board_id("GPU-11111111-2222-3333-4444-555555555555"));
    EXPECT_EQ(one.find("1111"), std::string::npos);
}

TEST(Device, IsKeyedByItsName) {
    DeviceFacts facts;
    facts.name = "NVIDIA H100 80GB HBM3";
    facts.cc_major = 9;
    const model::Device device = describe_device(facts, "GH100");
    EXPECT_EQ(device.key, "nvidia-h100-80gb-hbm3");
    EXPECT_EQ(device.chip, "GH100");
    EXPECT_EQ(device.compute_capability, "9.0");
    EXPECT_EQ(device.mig_profile, "");
}

TEST(Device, HasItsMigProfileInTheKey) {
    DeviceFacts facts;
    facts.name = "NVIDIA H100 80GB HBM3 MIG 1g.10gb";
    facts.mig = true;
    const model::Device device = describe_device(facts, "GH100");
    EXPECT_EQ(device.name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(device.mig_profile, "1g.10gb");
    EXPECT_EQ(device.key, "nvidia-h100-80gb-hbm3-mig-1g-10gb");
}

TEST(OtherProcesses, LeaveThisOneOut) {
    EXPECT_EQ(other_processes({}, 7), Words{});
    EXPECT_EQ(other_processes({{.pid = 7, .memory_bytes = {}}}, 7), Words{});
    EXPECT_EQ(other_processes({{.pid = 7, .memory_bytes = {}},
                               {.pid = 8, .memory_bytes = 512u << 20},
                               {.pid = 9, .memory_bytes = {}}},
                              7),
              (Words{"pid 8 (512 MiB)", "pid 9"}));
}

TEST(OtherProcesses, AreCountedWhereIdsAreForeign) {
    EXPECT_EQ(other_processes({{.pid = 4711, .memory_bytes = {}}}, 7), Words{});
    EXPECT_EQ(
        other_processes({{.pid = 4711, .memory_bytes = {}}, {.pid = 4712, .memory_bytes = {}}}, 7),
        Words{"1 outside this container"});
}

TEST(DiagnoseBoard, IsContentWithAGoodOne) {
    NvmlReading reading;
    reading.sm_clock_mhz = 1980;
    reading.max_sm_clock_mhz = 1980;
    reading.memory_clock_mhz = 2619;
    reading.throttle_bits = 0x1;
    reading.throttle_reasons = {"idle"};
    reading.persistence_mode = true;
    reading.mig = false;
    reading.ecc = true;
    reading.compute_processes.emplace();
    for (const auto& entry : diagnose_board(reading, 7)) {
        EXPECT_EQ(entry.level, Level::ok) << entry.topic;
        EXPECT_EQ(entry.remedy, "") << entry.topic;
    }
}

TEST(DiagnoseBoard, WarnsWithARemedy) {
    NvmlReading reading;
    reading.throttle_bits = 0x4;
    reading.throttle_reasons = {"power cap"};
    reading.persistence_mode = false;
    reading.mig = true;
    reading.compute_processes = {{{.pid = 7, .memory_bytes = {}}, {.pid = 8, .memory_bytes = {}}}};
    const auto found = diagnose_board(reading, 7);
    for (const char* topic :
         {"clocks", "throttling", "persistence mode", "MIG", "other processes"}) {
        const auto* entry = find(found, topic);
        ASSERT_NE(entry, nullptr) << topic;
        EXPECT_EQ(entry->level, Level::warning) << topic;
        EXPECT_NE(entry->remedy, "") << topic;
    }
}

TEST(DiagnoseBoard, SaysNothingOfWhatIsNotTold) {
    const auto found = diagnose_board({}, 7);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].topic, "clocks");
}

TEST(DiagnoseTools, ADriverForAnOlderCudaIsAProblemAndOneForAnOlderMinorAWarning) {
    EXPECT_TRUE(diagnose_tools({13000, 13000, 9, {"bash"}}).empty());
    EXPECT_TRUE(diagnose_tools({13020, 13000, 9, {}}).empty());
    const auto major = diagnose_tools({12080, 13000, 9, {}});
    ASSERT_EQ(major.size(), 1U);
    EXPECT_EQ(major[0].level, Level::problem);
    EXPECT_EQ(major[0].detail, "it knows CUDA up to 12.8, and perfgate was built with 13.0");
    EXPECT_EQ(major[0].remedy, "install a driver for CUDA 13.0 or newer");
    const auto minor = diagnose_tools({13000, 13010, 9, {}});
    ASSERT_EQ(minor.size(), 1U);
    EXPECT_EQ(minor[0].level, Level::warning);
}

TEST(DiagnoseTools, DcgmHoldsTheCountersBeforeHopperOnly) {
    const auto found = diagnose_tools({13000, 13000, 8, {"bash", "nv-hostengine"}});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].topic, "DCGM");
    EXPECT_EQ(found[0].remedy, "dcgmi profile --pause while perfgate measures");
    EXPECT_TRUE(diagnose_tools({13000, 13000, 9, {"nv-hostengine"}}).empty());
}

TEST(Nvml, IsOptional) {
    std::string why;
    const auto nvml = Nvml::open("GPU-none", "0000:00:00.0", &why);
    EXPECT_EQ(nvml == nullptr, !why.empty());
    const model::BoardState state = read_board(nullptr);
    EXPECT_EQ(state, model::BoardState{});
}

TEST(Nvml, AddsTheSpeedsOfActiveLinksAndSaysIfOneIsUnknown) {
    // Loaded first, it is what the name of the library finds.
    const std::unique_ptr<void, int (*)(void*)> mock(dlopen(PERFGATE_MOCK_NVML, RTLD_NOW), dlclose);
    ASSERT_NE(mock, nullptr) << dlerror();
    auto& speed = *static_cast<unsigned*>(dlsym(mock.get(), "mock_link_speed"));
    auto& common = *static_cast<unsigned*>(dlsym(mock.get(), "mock_common_speed"));
    auto& count_code = *static_cast<int*>(dlsym(mock.get(), "mock_count_code"));
    const auto nvml = Nvml::open("GPU-mock", "");
    ASSERT_NE(nvml, nullptr);
    std::string why;
    speed = 25'000;
    EXPECT_EQ(nvml->link_bytes_per_s(&why), 26.562e9 + 25e9);
    EXPECT_EQ(why, "");
    speed = 0;
    EXPECT_EQ(nvml->link_bytes_per_s(&why), 0);
    EXPECT_EQ(why, "NVML does not say how fast the device's NVLinks are");
    why.clear();
    common = 20'000;
    EXPECT_EQ(nvml->link_bytes_per_s(&why), 26.562e9 + 20e9);
    constexpr int not_supported = 3, unknown = 999;
    count_code = not_supported;
    EXPECT_EQ(nvml->link_bytes_per_s(&why), 0);
    EXPECT_EQ(why, "");
    count_code = unknown;
    EXPECT_EQ(nvml->link_bytes_per_s(&why), 0);
    EXPECT_EQ(why,
              "NVML does not say how many NVLinks the device has: NVML error 999: no description");
}

TEST(Driver, SaysWhyThereIsNone) {
    std::string why;
    if (driver_available(&why)) GTEST_SKIP() << "there is one";
    EXPECT_NE(why, "");
    EXPECT_THROW(driver(), util::Error);
}

TEST(Cupti, TellsWhatToDoAboutMissingPermission) {
    const cupti::Error error(cupti::own(), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
                             "cannot start a pass");
    EXPECT_TRUE(error.no_permission());
    const std::string text = error.what();
    EXPECT_NE(text.find("cannot start a pass: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)"),
              std::string::npos);
    EXPECT_NE(text.find("CAP_PERFMON"), std::string::npos);
    EXPECT_NE(text.find("--cap-add=SYS_ADMIN"), std::string::npos);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(Cupti, SubscribingTwiceNamesTheHolderAndTheRemedy) {
    const cupti::Api& api = cupti::own();
    if (api.subscribes_first()) GTEST_SKIP() << "this CUPTI does not name the holder";
    const auto ignore = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) noexcept {};
    CUpti_SubscriberHandle first = nullptr, second = nullptr;
    std::string why;
    if (cupti::subscribe(api, &first, ignore, nullptr, why) != CUPTI_SUCCESS) GTEST_SKIP() << why;
    const CUptiResult refused = cupti::subscribe(api, &second, ignore, nullptr, why);
    // A driver may put words of its own around the name.
    const std::size_t holder = why.find("held by \"");
    ASSERT_NE(holder, std::string::npos) << why;
    EXPECT_NE(why.find("perfgate", holder), std::string::npos) << why;
    EXPECT_NE(cupti::remedy(refused).find("--no-cupti"), std::string::npos);
    api.cuptiUnsubscribe(first);
}

TEST(Cupti, CanBeUsedFrom12_0OnExceptTheOneThatDeadlocks) {
    for (const std::uint32_t version : {18U, 20U, 24U, 28U, 130001U, 130200U, 140000U}) {
        EXPECT_EQ(cupti::refusal(version), "") << version;
    }
    for (const std::uint32_t version : {0U, 17U, 130000U}) {
        EXPECT_NE(cupti::refusal(version), "") << version;
    }
    EXPECT_EQ(cupti::refusal(cupti::own().version), "");
}

TEST(Cupti, NamesTheToolkitOfItsVersion) {
    EXPECT_EQ(cupti::version_text(18), "12.0 or 12.1 (18)");
    EXPECT_EQ(cupti::version_text(28), "12.9 (28)");
    EXPECT_EQ(cupti::version_text(27), "27");
    EXPECT_EQ(cupti::version_text(130001), "13.0 update 1 (130001)");
    EXPECT_EQ(cupti::version_text(130200), "13.2 (130200)");
}

TEST(LaunchesPerBlock, FitTheQueue) {
    EXPECT_EQ(launches_per_block(1, true), 64u);
    EXPECT_EQ(launches_per_block(97, true), 5u);
    EXPECT_EQ(launches_per_block(509, true), 1u);
    EXPECT_EQ(launches_per_block(510, true), 0u);
    EXPECT_EQ(launches_per_block(510, false), 1u);
    EXPECT_EQ(launches_per_block(100'000, false), 0u);
}

TEST(GraphCounters, LeaveOutWhatGapsDilute) {
    EXPECT_NE(graph_problem("sm__throughput.avg.pct_of_peak_sustained_elapsed"), "");
    EXPECT_NE(graph_problem("dram__bytes.sum.per_second"), "");
    EXPECT_EQ(graph_problem("dram__bytes.sum"), "");
    EXPECT_EQ(graph_problem("sm__warps_active.avg.pct_of_peak_sustained_active"), "");
}

}  // namespace
}  // namespace perfgate::backend::cuda
