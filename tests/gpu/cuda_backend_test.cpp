// SPDX-License-Identifier: Apache-2.0
//
// The CUDA backend on a real device, through the interface that workers use.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {
namespace {

using measure::TimeKind;
using model::Cache;

constexpr std::int64_t kFloats = 1 << 20;
constexpr double kWarps = kFloats / 32.0;
/// For times: the profiler adds more than a microsecond to a range, which a short kernel shows.
constexpr std::int64_t kLarge = 1 << 26;

const std::vector<std::string> kCounters{"gpu__time_duration.sum",
                                         "smsp__inst_executed.sum",
                                         "sm__warps_launched.sum",
                                         "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                                         "dram__bytes_read.sum",
                                         "dram__bytes_write.sum",
                                         "sm__throughput.avg.pct_of_peak_sustained_elapsed"};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.at(values.size() / 2);
}

class CudaBackendTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string why;
        if (!driver_available(&why)) GTEST_SKIP() << why;
        backend_ =
            make_cuda_backend({.device = "", .plugins = {PERFGATE_PROBE_PLUGIN}, .cupti = true});
        backend_->keep_code();
    }

    std::unique_ptr<measure::Case> open(const std::string& variant, std::int64_t n = kFloats) {
        auto opened = backend_->open(
            {.workload = "probe", .variant = variant, .params = {{"n", n}}, .cache = Cache::cold});
        opened->fill(1);
        return opened;
    }

    static std::vector<std::string> names(const measure::LaunchRecord& record) {
        std::vector<std::string> names;
        for (const model::Kernel& kernel : record.kernels) names.push_back(kernel.name);
        return names;
    }

    std::unique_ptr<measure::Backend> backend_;
};

TEST_F(CudaBackendTest, DescribesTheDevice) {
    const measure::Capabilities capabilities = backend_->capabilities();
    const model::Device& device = capabilities.environment.device;
    EXPECT_FALSE(device.key.empty());
    // Another tool may hold CUPTI: then there are no counters and no chip name.
    EXPECT_EQ(device.chip.empty(), !capabilities.kernel_records);
    EXPECT_EQ(device.board.size(), 16u);
    EXPECT_GT(device.memory_bytes, 0u);
    EXPECT_GT(device.multiprocessors, 0);
    EXPECT_FALSE(capabilities.environment.driver.empty());
    EXPECT_TRUE(capabilities.timing);
    ASSERT_EQ(capabilities.workloads.size(), 1u);
    for (const measure::Diagnosis& diagnosis : backend_->diagnose()) {
        EXPECT_FALSE(diagnosis.topic.empty());
        EXPECT_EQ(diagnosis.remedy.empty(), diagnosis.level == measure::Diagnosis::Level::ok)
            << diagnosis.topic;
        std::cout << diagnosis.topic << ": " << diagnosis.detail << '\n';
    }
}

TEST_F(CudaBackendTest, RefusesADeviceThatIsNotThere) {
    EXPECT_THROW(make_cuda_backend({.device = "999", .plugins = {}, .cupti = true}),
                 util::InputError);
}

TEST_F(CudaBackendTest, VerifiesRightAndWrongResults) {
    EXPECT_TRUE(open("one")->verify(7, {}).verification.passed);
    EXPECT_TRUE(open("several")->verify(7, {}).verification.passed);
    EXPECT_TRUE(open("graph")->verify(7, {}).verification.passed);
    const model::Verification wrong = open("wrong")->verify(7, {}).verification;
    EXPECT_FALSE(wrong.passed);
    EXPECT_EQ(wrong.seed, 7u);
    EXPECT_NE(wrong.detail.find("element"), std::string::npos);
}

TEST_F(CudaBackendTest, RecordsWhatALaunchDoesAndNothingElse) {
    auto one = open("one");
    const measure::LaunchRecord record = one->record_launch();
    ASSERT_EQ(record.kernels.size(), 1u);
    const model::Kernel& kernel = record.kernels[0];
    EXPECT_NE(kernel.name.find("scale(float const*, float*, int)"), std::string::npos);
    EXPECT_EQ(kernel.grid, (std::array<std::int64_t, 3>{kFloats / 256, 1, 1}));
    EXPECT_EQ(kernel.block, (std::array<std::int64_t, 3>{256, 1, 1}));
    EXPECT_GT(kernel.registers, 0);
    EXPECT_DOUBLE_EQ(kernel.theoretical_occupancy, 100);
    EXPECT_GT(kernel.duration_ns, 0);
    EXPECT_TRUE(record.memory_operations.empty());

    const measure::LaunchRecord several = open("several")->record_launch();
    EXPECT_EQ(several.kernels.size(), 2u);
    using model::MemoryKind;
    using model::MemoryOperationKind;
    EXPECT_EQ(
        several.memory_operations,
        (std::vector<model::MemoryOperation>{
            {MemoryOperationKind::memset, 4 * kFloats, MemoryKind::unknown, MemoryKind::device},
            {MemoryOperationKind::device_to_device, 2 * kFloats, MemoryKind::device,
             MemoryKind::device}}));

    // A reset is not part of the launch.
    const measure::LaunchRecord in_place = open("in_place")->record_launch();
    EXPECT_EQ(in_place.kernels.size(), 1u);
    EXPECT_TRUE(in_place.memory_operations.empty());

    EXPECT_EQ(open("graph")->record_launch().kernels.size(), 2u);
}

TEST_F(CudaBackendTest, TimesColdAndHotLaunches) {
    // 64 MiB: in and out do not fit the L2 together, so that hot and cold differ little; 8 MiB:
    // they do.
    for (const std::int64_t n : {std::int64_t{1} << 21, std::int64_t{1} << 24}) {
        auto one = open("one", n);
        one->warm_up(5, std::chrono::milliseconds(5));
        one->record_launch();
        for (const Cache cache : {Cache::cold, Cache::hot}) {
            const auto time = one->time(TimeKind::gpu_time, cache, 50);
            const auto span = one->time(TimeKind::gpu_span, cache, 50);
            ASSERT_EQ(time.values_ns.size(), 50u);
            ASSERT_EQ(span.values_ns.size(), 50u);
            const bool cold = cache == Cache::cold;
            EXPECT_EQ(time.method, cold ? "activity/cold" : "activity/hot");
            EXPECT_EQ(span.method, cold ? "event/cold/blocked" : "event/hot/blocked");
            std::cout << n << ' ' << to_text(time.method) << ' ' << median(time.values_ns) << ' '
                      << to_text(span.method) << ' ' << median(span.values_ns) << '\n';
            EXPECT_GT(median(time.values_ns), 500);
            EXPECT_LT(median(time.values_ns), 1e6);
            EXPECT_GE(median(span.values_ns), 0.9 * median(time.values_ns));
            EXPECT_LT(median(span.values_ns), median(time.values_ns) + 10'000);
        }
    }
}

TEST_F(CudaBackendTest, ColdIsColdForAVariantThatKeepsItsInputInTheCache) {
    constexpr std::int64_t n = std::int64_t{1} << 21;  // 8 MiB, a sixth of an H100's L2
    const auto cold_ns = [&](const char* variant) {
        auto opened = open(variant, n);
        opened->warm_up(5, std::chrono::milliseconds(5));
        return median(opened->time(TimeKind::gpu_time, Cache::cold, 50).values_ns);
    };
    const double plain = cold_ns("one");
    const double persisting = cold_ns("persisting");
    std::cout << "cold " << plain << ", with a persisting window " << persisting << '\n';
    EXPECT_GT(persisting, 0.97 * plain);
    // Nothing is kept for the next case.
    EXPECT_NEAR(cold_ns("one"), plain, 0.05 * plain);
    auto span = open("persisting", n);
    EXPECT_EQ(span->time(TimeKind::gpu_span, Cache::cold, 5).values_ns.size(), 5u);
    span.reset();

    const auto notes = open("persisting", n)->record_launch().notes;
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("keeps lines in the L2 cache"), std::string::npos) << notes[0];
    EXPECT_TRUE(open("one", n)->record_launch().notes.empty());
}

TEST_F(CudaBackendTest, SaysThatWorkRanOnAnotherStream) {
    auto elsewhere = open("elsewhere");
    EXPECT_TRUE(elsewhere->verify(1, {}).verification.passed);
    const auto notes = elsewhere->record_launch().notes;
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("1 of 1 kernels, copies and memsets ran on other streams"),
              std::string::npos)
        << notes[0];
    for (const char* variant : {"several", "graph", "in_place"}) {
        EXPECT_TRUE(open(variant)->record_launch().notes.empty()) << variant;
    }
}

TEST_F(CudaBackendTest, CountsAllKernelsOfALaunchAsBusy) {
    auto spin = open("spin");
    spin->warm_up(3, std::chrono::milliseconds(0));
    const auto time = spin->time(TimeKind::gpu_time, Cache::cold, 10);
    EXPECT_GT(median(time.values_ns), 150'000);  // half a million cycles at less than 3.3 GHz
    for (const char* variant : {"several", "in_place", "graph", "waits"}) {
        auto opened = open(variant);
        opened->warm_up(3, std::chrono::milliseconds(0));
        const auto samples = opened->time(TimeKind::gpu_time, Cache::cold, 20);
        EXPECT_EQ(samples.values_ns.size(), 20u) << variant;
        std::cout << variant << ' ' << median(samples.values_ns) << '\n';
    }
}

TEST_F(CudaBackendTest, SaysHowALaunchWasTimed) {
    auto waits = open("waits");
    waits->record_launch();
    EXPECT_EQ(waits->time(TimeKind::gpu_span, Cache::cold, 5).method, "event/cold/unblocked");
    auto graph = open("graph");
    graph->record_launch();
    EXPECT_EQ(graph->time(TimeKind::gpu_span, Cache::hot, 5).method, "event/hot/blocked");
}

TEST_F(CudaBackendTest, TimesAlikeWhetherALaunchWasRecordedBeforeOrNot) {
    for (const auto& [variant, method] :
         {std::pair{"one", "event/hot/blocked"}, {"many", "event/hot/unblocked"}}) {
        auto recorded = open(variant);
        recorded->record_launch();
        EXPECT_EQ(recorded->time(TimeKind::gpu_span, Cache::hot, 2).method, method);
        EXPECT_EQ(open(variant)->time(TimeKind::gpu_span, Cache::hot, 2).method, method);
    }
}

TEST_F(CudaBackendTest, FindsOutThatAnAsyncLaunchWaits) {
    auto liar = open("liar");
    liar->record_launch();
    try {
        liar->time(TimeKind::gpu_span, Cache::cold, 5);
        FAIL() << "the launch waited, and nobody noticed";
    } catch (const util::Error& error) {
        EXPECT_NE(std::string(error.what()).find("declare it synchronous"), std::string::npos);
    }
    // The device is none the worse for it.
    EXPECT_TRUE(open("one")->verify(3, {}).verification.passed);
}

TEST_F(CudaBackendTest, LaunchesThatDifferHaveNoTime) {
    auto fickle = open("fickle");
    try {
        fickle->time(TimeKind::gpu_time, Cache::hot, 4);
        FAIL() << "every second launch has a kernel more";
    } catch (const util::Error& error) {
        EXPECT_NE(std::string(error.what()).find("between 1 and 2 records"), std::string::npos)
            << error.what();
    }
}

TEST_F(CudaBackendTest, AddedWorkIsInEachTimedLaunchAndNothingElse) {
    auto one = open("one");
    one->warm_up(2, std::chrono::milliseconds(0));
    const double before = median(one->time(TimeKind::gpu_time, Cache::hot, 20).values_ns);
    one->add_work(50'000);
    const auto samples = one->time(TimeKind::gpu_time, Cache::hot, 20).values_ns;
    for (const double sample : samples) EXPECT_GT(sample, before + 25'000);
    EXPECT_LT(samples.front(), 1.3 * median(samples)) << "what prepares the work is timed, too";
}

TEST_F(CudaBackendTest, CollectsTheCountersOfManyCasesTogether) {
    if (const std::string problem = backend_->counters_problem(); !problem.empty()) {
        GTEST_SKIP() << problem;
    }
    std::vector<std::unique_ptr<measure::Case>> opened;
    std::vector<measure::CounterCase> cases;
    for (const char* variant : {"one", "several", "in_place", "graph", "waits", "fickle"}) {
        opened.push_back(open(variant));
        opened.back()->warm_up(2, std::chrono::milliseconds(0));
        const auto record = opened.back()->record_launch();
        cases.push_back({.opened = opened.back().get(),
                         .cache = Cache::cold,
                         .expected_kernels = names(record),
                         .graph = std::string(variant) == "graph",
                         .own_session = false});
    }
    std::vector<std::string> counters = kCounters;
    counters.push_back("no__such_counter.sum");
    const auto results = backend_->collect(cases, counters);
    ASSERT_EQ(results.size(), cases.size());

    const measure::CounterValues& one = results[0];
    EXPECT_EQ(one.method, "counter/auto-range/user-replay/cold");
    ASSERT_EQ(one.values.size(), 1u);
    EXPECT_EQ(one.kernels, cases[0].expected_kernels);
    EXPECT_EQ(one.values[0].at("sm__warps_launched.sum"), kWarps);
    EXPECT_EQ(one.values[0].at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), kWarps);
    // Cold: every byte of the input comes from memory.
    EXPECT_NEAR(one.values[0].at("dram__bytes_read.sum"), 4.0 * kFloats, 0.02 * 4 * kFloats);
    ASSERT_EQ(one.not_collected.size(), 1u);
    EXPECT_EQ(one.not_collected[0].metric, "no__such_counter.sum");

    ASSERT_EQ(results[1].values.size(), 2u);
    EXPECT_EQ(results[1].values[1].at("sm__warps_launched.sum"), kWarps);
    EXPECT_EQ(results[2].values.size(), 1u);

    const measure::CounterValues& graph = results[3];
    EXPECT_EQ(graph.method, "counter/user-range/user-replay/cold");
    ASSERT_EQ(graph.values.size(), 1u);
    EXPECT_EQ(graph.values[0].at("sm__warps_launched.sum"), 2 * kWarps);
    EXPECT_EQ(graph.values[0].count("sm__throughput.avg.pct_of_peak_sustained_elapsed"), 0u);
    EXPECT_EQ(graph.not_collected.size(), 2u);

    EXPECT_EQ(results[4].values.size(), 1u);

    // The one that changes from launch to launch loses its counters, and only it.
    EXPECT_EQ(results[5].not_collected.size(), counters.size());
    for (const model::NotCollected& missing : results[5].not_collected) {
        EXPECT_FALSE(missing.reason.empty());
    }
}

TEST_F(CudaBackendTest, CountsWhatTakesSessionsOfItsOwn) {
    if (const std::string problem = backend_->counters_problem(); !problem.empty()) {
        GTEST_SKIP() << problem;
    }
    constexpr const char* link = "pcie__read_bytes.sum";
    if (!backend_->has_counter(link)) GTEST_SKIP() << "the chip has no counters of PCIe";
    auto one = open("one");
    one->warm_up(2, std::chrono::milliseconds(0));
    const auto expected = names(one->record_launch());
    const std::vector<measure::CounterCase> cases{{one.get(), Cache::hot, expected, false, false}};
    const auto results = backend_->collect(cases, {link, "sm__warps_launched.sum"});
    ASSERT_EQ(results.at(0).values.size(), 1u);
    EXPECT_EQ(results[0].kernels, expected);
    EXPECT_EQ(results[0].values[0].at("sm__warps_launched.sum"), kWarps);
    EXPECT_GE(results[0].values[0].at(link), 0);
    EXPECT_TRUE(results[0].not_collected.empty());
}

TEST_F(CudaBackendTest, HotCountersSeeTheCache) {
    if (const std::string problem = backend_->counters_problem(); !problem.empty()) {
        GTEST_SKIP() << problem;
    }
    auto one = open("one");
    one->warm_up(2, std::chrono::milliseconds(0));
    const auto expected = names(one->record_launch());
    const std::vector<measure::CounterCase> cases{{one.get(), Cache::hot, expected, false, false}};
    const auto results = backend_->collect(cases, kCounters);
    EXPECT_EQ(results[0].method, "counter/auto-range/user-replay/hot");
    EXPECT_LT(results[0].values.at(0).at("dram__bytes_read.sum"), 0.1 * 4 * kFloats);
}

TEST_F(CudaBackendTest, TimesRightAfterCountersAndTheOtherWayRound) {
    if (const std::string problem = backend_->counters_problem(); !problem.empty()) {
        GTEST_SKIP() << problem;
    }
    auto one = open("one", kLarge);
    one->warm_up(2, std::chrono::milliseconds(0));
    for (int round = 0; round < 3; ++round) {
        const auto record = one->record_launch();
        ASSERT_EQ(record.kernels.size(), 1u);
        const std::vector<measure::CounterCase> cases{
            {one.get(), Cache::cold, names(record), false, false}};
        const auto results = backend_->collect(cases, kCounters);
        EXPECT_EQ(results[0].values.at(0).at("sm__warps_launched.sum"), kLarge / 32.0);
        const double time_ns = median(one->time(TimeKind::gpu_time, Cache::cold, 20).values_ns);
        const double counter_ns = results[0].values.at(0).at("gpu__time_duration.sum");
        std::cout << "records " << time_ns << " ns, counters " << counter_ns << " ns\n";
        // Concurrent kernel records make each of the kernel's many short blocks take longer: by
        // 0.07 ns on an H200.
        EXPECT_GE(time_ns, 0.98 * counter_ns);
        EXPECT_LE(time_ns, 1.02 * counter_ns + 0.1 * kLarge / 256);
    }
}

TEST_F(CudaBackendTest, RunsHostVariantsToo) {
    auto host = open("host");
    EXPECT_TRUE(host->verify(1, {}).verification.passed);
    EXPECT_EQ(host->time(TimeKind::host_time, Cache::hot, 3).values_ns.size(), 3u);
}

TEST_F(CudaBackendTest, TimesWithoutCupti) {
    backend_.reset();
    backend_ =
        make_cuda_backend({.device = "0", .plugins = {PERFGATE_PROBE_PLUGIN}, .cupti = false});
    auto one = open("one");
    EXPECT_TRUE(one->record_launch().kernels.empty());
    EXPECT_EQ(one->time(TimeKind::gpu_span, Cache::cold, 5).method, "event/cold/unblocked");
    EXPECT_THROW(one->time(TimeKind::gpu_time, Cache::cold, 5), util::Error);
    EXPECT_FALSE(backend_->counters_problem().empty());
}

// Last: the context does not survive it.
TEST_F(CudaBackendTest, ZzACrashLosesTheDevice) {
    auto crash = open("crash");
    EXPECT_THROW(crash->verify(1, {}), measure::DeviceLost);
    EXPECT_THROW(open("one"), measure::DeviceLost);
}

}  // namespace
}  // namespace perfgate::backend::cuda
