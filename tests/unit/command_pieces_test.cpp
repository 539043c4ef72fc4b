// SPDX-License-Identifier: Apache-2.0
// The kernels, times and memory of a program's pieces, from recordings that are made here.
#include "kinds/command/pieces.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recorded_pieces.hpp"

namespace perfgate::command {
namespace command_pieces_test {

using namespace recorded_pieces;

/// A recording of one process, built up call by call; each launch takes 1 µs on the host.
class Process {
  public:
    Process() {
        recording_.strings = {""};
        recording_.configurations.resize(1);
    }

    Process& kernel(const std::string& symbol, std::uint64_t length_ns, std::uint32_t grid = 1) {
        activity::LaunchConfiguration configuration;
        configuration.id = static_cast<std::uint32_t>(recording_.configurations.size());
        configuration.symbol = text(symbol);
        configuration.grid = {grid, 1, 1};
        configuration.block = {128, 1, 1};
        configuration.registers_per_thread = 32;
        configuration.dynamic_smem_bytes = 1024;
        recording_.configurations.push_back(configuration);
        const std::uint32_t correlation = ++correlation_;
        recording_.records.launch_calls.push_back({now_, 1, correlation});
        activity::Kernel kernel;
        kernel.start_ns = now_;
        kernel.end_ns = now_ + length_ns;
        kernel.place.correlation = correlation;
        kernel.configuration = configuration.id;
        recording_.records.kernels.push_back(kernel);
        now_ += 1000;
        return *this;
    }
    Process& peer_copy(std::uint64_t length_ns) {
        return copy(activity::CopyKind::peer_to_peer, 0, length_ns);
    }
    Process& memset(std::uint64_t bytes, std::uint64_t length_ns) {
        activity::Memset set;
        set.bytes = bytes;
        set.start_ns = now_;
        set.end_ns = now_ + length_ns;
        set.place.correlation = ++correlation_;
        recording_.records.launch_calls.push_back({now_, 1, correlation_});
        recording_.records.memsets.push_back(set);
        now_ += 1000;
        return *this;
    }
    Process& copy(activity::CopyKind kind, std::uint64_t bytes, std::uint64_t length_ns) {
        activity::Copy copy;
        copy.kind = kind;
        copy.bytes = bytes;
        copy.start_ns = now_;
        copy.end_ns = now_ + length_ns;
        copy.place.correlation = ++correlation_;
        recording_.records.launch_calls.push_back({now_, 1, correlation_});
        recording_.records.copies.push_back(copy);
        now_ += 1000;
        return *this;
    }
    Process& range(const std::string& name, bool begins) {
        const auto kind = begins ? activity::MarkerKind::begin : activity::MarkerKind::end;
        if (begins) open_.push_back(++marker_);
        recording_.records.markers.push_back({now_, open_.back(), kind, text(name), 0, 1, 0});
        if (!begins) open_.pop_back();
        now_ += 1000;
        return *this;
    }
    Process& device(std::uint32_t sms) {
        activity::Device device;
        device.sm_count = sms;
        recording_.records.devices.push_back(device);
        return *this;
    }
    Process& context(std::uint32_t null_stream) {
        recording_.records.contexts.push_back({0, 0, null_stream, 0});
        return *this;
    }
    /// The stream of the latest kernel; of a graph where that is a graph's.
    Process& in_stream(std::uint32_t stream, bool of_graph = false) {
        recording_.records.kernels.back().place.stream = stream;
        if (of_graph) recording_.records.kernels.back().graph = {5, 1, 0};
        return *this;
    }
    Process& wait(std::uint64_t time_ns) {
        now_ += time_ns;
        return *this;
    }
    Process& code(const std::string& symbol, const std::string& fingerprint) {
        recording_.records.function_codes.push_back({text(symbol), text(fingerprint)});
        return *this;
    }
    Process& stack(const std::string& symbol, std::uint32_t bytes) {
        recording_.records.stack_sizes.push_back({text(symbol), bytes});
        return *this;
    }
    Process& place(const std::string& symbol, const std::string& file, std::uint32_t line,
                   std::uint32_t code_bytes) {
        recording_.records.function_places.push_back({text(symbol), text(file), line, code_bytes});
        return *this;
    }
    /// Of the latest kernel.
    Process& takes(std::uint32_t registers, std::uint32_t dynamic_smem_bytes) {
        recording_.configurations.back().registers_per_thread = registers;
        recording_.configurations.back().dynamic_smem_bytes = dynamic_smem_bytes;
        return *this;
    }
    activity::Recording take() { return std::move(recording_); }

  private:
    activity::StringId text(const std::string& text) {
        recording_.strings.push_back(text);
        return static_cast<activity::StringId>(recording_.strings.size() - 1);
    }

    activity::Recording recording_;
    std::uint64_t now_ = 1000;
    std::uint32_t correlation_ = 0, marker_ = 0;
    std::vector<std::uint32_t> open_;
};

Process steps(int count) {
    Process process;
    process.kernel("warm_up", 100);
    for (int i = 0; i < count; ++i) {
        process.range("step", true).kernel("norm", 200).kernel("gemm", 300, 8).kernel("norm", 400);
        if (i % 2 == 1) process.kernel("gemm", 700, 16);
        process.range("step", false);
    }
    return process;
}

std::vector<model::Kernel> kernels(Process process, const command::Piece& piece) {
    std::vector<activity::Recording> recordings;
    recordings.push_back(process.take());
    return kernels_of(Recorded(std::move(recordings)), piece);
}

PieceValues values(Process process, const command::Piece& piece = step) {
    std::vector<activity::Recording> recordings;
    recordings.push_back(process.take());
    return values_of(Recorded(std::move(recordings)), piece);
}

TEST(KernelsOfPieces, OfARangeAreMeansOverItsInstances) {
    const auto found = kernels(steps(4).code("norm", "c0de"), step);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].name, "norm");
    EXPECT_EQ(found[0].launches, 2);
    EXPECT_EQ(found[0].time_ns, 600);
    EXPECT_EQ(found[0].duration_ns, 300);
    EXPECT_EQ(found[0].code, "c0de");
    EXPECT_EQ(found[0].block, (std::array<std::int64_t, 3>{128, 1, 1}));
    EXPECT_EQ(found[0].registers, 32);
    EXPECT_EQ(found[0].dynamic_smem, 1024);
    // One name with two grids is two.
    EXPECT_EQ(found[1].name, "gemm");
    EXPECT_EQ(found[1].grid[0], 8);
    EXPECT_EQ(found[1].launches, 1);
    EXPECT_EQ(found[1].code, "");
    EXPECT_EQ(found[2].grid[0], 16);
    EXPECT_EQ(found[2].launches, 0.5);
    EXPECT_EQ(found[2].time_ns, 350);
    EXPECT_EQ(found[2].duration_ns, 700);
}

TEST(KernelsOfPieces, SkippedInstancesHaveNone) {
    command::Piece piece = step;
    piece.skip = 3;
    EXPECT_EQ(kernels(steps(4), piece).back().launches, 1);
}

TEST(KernelsOfPieces, OfTheProgramAreAllOfThem) {
    const auto found = kernels(steps(4), {});
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0].name, "warm_up");
    EXPECT_EQ(found[1].launches, 8);
}

TEST(KernelsOfPieces, OfAKernelLabelAreThoseThatMatch) {
    const auto within = kernels(steps(4), {command::Piece::Kind::kernels, "n*", "step", false, 0});
    ASSERT_EQ(within.size(), 1U);
    EXPECT_EQ(within[0].launches, 2);
    const auto anywhere = kernels(steps(4), {command::Piece::Kind::kernels, "*", "", false, 2});
    EXPECT_EQ(anywhere[0].name, "gemm") << "two launches are skipped";
    // Each launch is an instance: of 15 launches, 7 are of this kernel.
    double launches = 0;
    for (const model::Kernel& kernel : anywhere) launches += kernel.launches;
    EXPECT_NEAR(launches, 1, 1e-9);
    EXPECT_GT(anywhere[1].launches, 0.3);
}

TEST(KernelsOfPieces, OfASizeAreLaunchesOfThatSizeAlone) {
    command::Piece gemm{command::Piece::Kind::kernels, "gemm", "", false, 0};
    gemm.size.grid = {16, 1, 1};
    const auto found = kernels(steps(4), gemm);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].grid[0], 16);
    EXPECT_EQ(values(steps(4), gemm).samples.at("gpu_time"), (std::vector<double>{700, 700}));
    gemm.skip = 1;
    EXPECT_EQ(values(steps(4), gemm).instances, 1U) << "others are not skipped";
    gemm.skip = 0;
    gemm.within = "step";
    EXPECT_EQ(values(steps(4), gemm).samples.at("gpu_time"), (std::vector<double>{0, 700, 0, 700}));

    gemm.size = {{8, 1, 1}, {256, 1, 1}};
    EXPECT_EQ(
        values(steps(4), gemm).problem,
        "no kernel matches 'gemm' with grid 8x1x1 and block 256x1x1 within 4 NVTX ranges that "
        "match 'step': recorded: 'grid 16x1x1 and block 128x1x1', 'grid 8x1x1 and block "
        "128x1x1'");
    gemm.within.clear();
    gemm.pattern = "flash";
    EXPECT_EQ(values(steps(4), gemm).problem,
              "no kernel matches 'flash' with grid 8x1x1 and block 256x1x1: recorded: 'gemm', "
              "'norm', 'warm_up'");
}

TEST(KernelsOfPieces, OfSeveralProcessesAreOneList) {
    std::vector<activity::Recording> recordings;
    recordings.push_back(steps(2).take());
    recordings.push_back(steps(2).take());
    const auto found = kernels_of(Recorded(std::move(recordings)), step);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].launches, 2);
}

TEST(KernelsOfPieces, CopiesAndMemsetsAreOnRecordEachOnce) {
    using activity::CopyKind;
    const auto moved = [](Process process, const command::Piece& piece = step) {
        std::vector<activity::Recording> recordings;
        recordings.push_back(process.take());
        return memory_operations_of(Recorded(std::move(recordings)), piece);
    };
    const auto program = [](CopyKind kind, std::uint64_t bytes) {
        Process process;
        process.copy(CopyKind::host_to_device, 4, 10);  // outside
        for (int i = 0; i < 3; ++i) {
            process.range("step", true)
                .copy(kind, bytes, 10)
                .memset(bytes, 10)
                .range("step", false);
        }
        return process;
    };
    const auto one = moved(program(CopyKind::host_to_device, 64));
    ASSERT_TRUE(one);
    ASSERT_EQ(one->size(), 2U);
    EXPECT_EQ(one->at(0).kind, model::MemoryOperationKind::memset);
    EXPECT_EQ(one->at(1).bytes, 64);
    EXPECT_EQ(moved(program(CopyKind::host_to_device, 64)), one);
    EXPECT_NE(moved(program(CopyKind::device_to_host, 64)), one);
    EXPECT_NE(moved(program(CopyKind::host_to_device, 128)), one);
    const command::Piece whole{command::Piece::Kind::program, "", "", false, 0};
    EXPECT_EQ(moved(program(CopyKind::host_to_device, 64), whole)->size(), 3U);
    Process many;
    many.range("step", true);
    for (std::uint64_t bytes = 0; bytes <= most_kernels; ++bytes) many.memset(bytes, 10);
    EXPECT_FALSE(moved(many.range("step", false)));
}

TEST(KernelsOfPieces, VeryManyConfigurationsBecomeOne) {
    Process process;
    process.range("step", true);
    for (std::uint32_t grid = 1; grid <= 2 * most_kernels; ++grid) process.kernel("norm", 10, grid);
    process.range("step", false);
    const auto found = kernels(process, step);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].launches, 2 * most_kernels);
    EXPECT_EQ(found[0].time_ns, 20 * most_kernels);
}

TEST(KernelsOfPieces, TheStackIsThatOfTheirMachineCode) {
    Process process = steps(2).stack("norm", 64).stack("gemm", 8).stack("gemm", 16);
    const auto found = kernels(process, step);
    EXPECT_EQ(found[0].stack_bytes, 64);
    EXPECT_EQ(found[1].stack_bytes, std::nullopt) << "two modules differ";
    EXPECT_EQ(kernels(steps(2), step)[0].stack_bytes, std::nullopt);
}

TEST(KernelsOfPieces, TheSourceAndTheSizeAreThoseOfTheirMachineCode) {
    const std::string here = std::filesystem::current_path() / "src/norm.cu";
    Process process = steps(2).place("norm", here, 7, 512).place("gemm", "/a/gemm.cu", 3, 64);
    process.place("gemm", "/b/gemm.cu", 3, 128);
    const auto found = kernels(process, step);
    EXPECT_EQ(found[0].source, (model::SourcePlace{"src/norm.cu", 7}));
    EXPECT_EQ(found[0].code_bytes, 512);
    EXPECT_EQ(found[1].source.line, 0) << "two modules differ";
    EXPECT_EQ(found[1].code_bytes, std::nullopt);
    EXPECT_EQ(kernels(steps(2), step)[0].source.line, 0);
    for (const char* hostile : {"norm.cu", "", "/a\n/norm.cu", "/a/\x1b[2Jnorm.cu"}) {
        Process damaged = steps(2).place("norm", hostile, 7, 512);
        EXPECT_EQ(kernels(damaged, step)[0].source.line, 0) << hostile;
    }
}

TEST(KernelsOfPieces, OfConfigurationsThatBecomeOneTheMostCounts) {
    Process process;
    process.range("step", true).kernel("norm", 10, 1).takes(40, 0);
    for (std::uint32_t grid = 2; grid <= most_kernels + 1; ++grid) process.kernel("norm", 10, grid);
    process.kernel("norm", 10, most_kernels + 2).takes(16, 4096).range("step", false);
    const auto found = kernels(process, step);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].registers, 40);
    EXPECT_EQ(found[0].dynamic_smem, 4096);
}

TEST(KernelsOfPieces, VeryManyNamesAreNotKnown) {
    Process process;
    for (std::size_t i = 0; i <= most_kernels; ++i) process.kernel(std::to_string(i), 10);
    EXPECT_TRUE(kernels(process, {}).empty());
}

/// A program of one step, in which the device waits for different calls.
activity::Program waiting_step() {
    activity::Program program;
    program.level("api")
        .range("step", {100, 1000})
        .kernel("a", 110, {150, 200})
        .call("cudaStreamSynchronize", {160, 250})
        .kernel("b", 380, {400, 500})
        .call("cudaMalloc", {520, 690})
        .kernel("c", 695, {700, 1000});
    return program;
}

TEST(IdleShare, HasWhatTheHostDidAsItsDetail) {
    const auto recorded = recorded_of({waiting_step(), waiting_step()});
    const ApiCount found = api_counts_of(*recorded, step).at("idle_share");
    EXPECT_EQ(found.count, std::nullopt) << "it is measured in another recording";
    EXPECT_EQ(found.detail,
              "after cudaStreamSynchronize 200.0 ns, in cudaMalloc 200.0 ns, nothing submitted "
              "50.00 ns per instance");
    EXPECT_EQ(api_counts_of(*recorded, {}).at("idle_share").detail,
              "after cudaStreamSynchronize 400.0 ns, in cudaMalloc 400.0 ns")
        << "of all processes, from the first work on";
    EXPECT_EQ(api_counts_of(*recorded, {}).at("syncs").count, 2);
}

TEST(IdleShare, WithoutIdleTimeHasNoDetail) {
    activity::Program program;
    program.range("step", {100, 200})
        .kernel("a", 100, {100, 300})
        .call("cudaLaunchKernel", {100, 110});
    EXPECT_FALSE(api_counts_of(*recorded_of({program}), step).contains("idle_share"));
}

TEST(LongestIdle, IsTheLongestGapOfEachInstance) {
    activity::Program program;
    program.range("step", {100, 1000})
        .kernel("a", 110, {150, 200})
        .kernel("b", 380, {500, 600})
        .kernel("c", 695, {700, 1000})
        .range("step", {1000, 2000})
        .kernel("a", 1100, {1400, 1500})
        .kernel("b", 1200, {1500, 2000})
        .range("step", {2000, 2500})
        .kernel("a", 2000, {2000, 2500});
    EXPECT_EQ(samples({program}, step, "longest_idle"), (std::vector<double>{300, 400, 0}));
    EXPECT_EQ(samples({program}, {}, "longest_idle"), std::vector<double>{400});
}

TEST(LongestIdle, EndsWithAnyWorkOfTheProcess) {
    activity::Program program;
    // Work of no range and a copy, in the gap from 200 to 900.
    program.range("step", {100, 1000}, activity::other_thread)
        .kernel("a", 110, {100, 200}, activity::other_thread)
        .kernel("b", 120, {300, 350})
        .copy(130, {340, 500}, 64, activity::MemoryKind::pinned)
        .kernel("c", 140, {900, 1000}, activity::other_thread);
    command::Piece own = step;
    own.own_thread = true;
    EXPECT_EQ(samples({program}, own, "longest_idle"), std::vector<double>{400});
}

TEST(LongestIdle, OfTheProgramIsThatOfTheProcessWithTheLongest) {
    activity::Program one, other;
    one.kernel("a", 100, {100, 200}).kernel("a", 210, {250, 300});
    other.kernel("a", 100, {100, 200}).kernel("a", 210, {290, 300});
    EXPECT_EQ(samples({one, other}, {}, "longest_idle"), std::vector<double>{90});
}

TEST(LongestIdle, OfAPartIsThatOfItsWindows) {
    activity::Program program;
    program.range("measured", {1000, 2000})
        .kernel("a", 100, {100, 200})
        .kernel("a", 1000, {1000, 1300})
        .kernel("a", 1500, {1600, 2000});
    model::CaptureRange capture;
    capture.range = "measured";
    EXPECT_EQ(values_of(Recorded({program.recording()}, capture), {}).samples.at("longest_idle"),
              std::vector<double>{300});
    EXPECT_EQ(samples({program}, {}, "longest_idle"), std::vector<double>{800});
}

TEST(LongestIdle, HasWhatTheHostDidInTheLongestGapsAsItsDetail) {
    activity::Program program = waiting_step();
    program.range("step", {1000, 2000})
        .call("cudaMalloc", {1020, 1290})
        .kernel("c", 1295, {1300, 2000});
    activity::Program busy;
    busy.range("step", {100, 200}).kernel("a", 100, {100, 200}).call("cudaMalloc", {100, 110});
    EXPECT_EQ(api_counts_of(*recorded_of({program}), step).at("longest_idle").detail,
              "in cudaMalloc 150.0 ns, after cudaStreamSynchronize 100.0 ns per instance");
    EXPECT_EQ(api_counts_of(*recorded_of({program, busy}), {}).at("longest_idle").detail,
              "in cudaMalloc 300.0 ns");
    EXPECT_FALSE(api_counts_of(*recorded_of({busy}), step).contains("longest_idle"));
}

ApiCount memory_peak(const std::vector<activity::Program>& processes, const command::Piece& piece) {
    return api_counts_of(*recorded_of(processes), piece).at("memory_peak");
}

TEST(MemoryPeak, OfARangeIsTheMostWhileAnInstanceIsOpen) {
    activity::Program program = two_steps();
    EXPECT_EQ(memory_peak({program}, step).count, 100) << "held when they begin";
    program.allocation(350, 0x2000, 20).release(360, 0x2000);
    EXPECT_EQ(memory_peak({program}, step).count, 120) << "of the second one";
    program.allocation(250, 0x2000, 500).release(260, 0x2000);
    EXPECT_EQ(memory_peak({program}, step).count, 120) << "between the instances";
    EXPECT_EQ(memory_peak({program}, {}).count, 600) << "of the whole program";
    program.allocation(150, 0x2000, 50).release(160, 0x2000);
    EXPECT_EQ(memory_peak({program}, step).count, 150);
    command::Piece skipping = step;
    skipping.skip = 1;
    EXPECT_EQ(memory_peak({program}, skipping).count, 120) << "the first one does not count";
}

TEST(MemoryPeak, OfSeveralProcessesAndDevicesIsTheLargest) {
    activity::Program other = two_steps();
    other.allocation(150, 0x2000, 70).allocation(160, 0x3000, 130, 1);
    for (const command::Piece& piece : {step, command::Piece{}}) {
        EXPECT_EQ(memory_peak({two_steps(), two_steps()}, piece).count, 100);
        EXPECT_EQ(memory_peak({two_steps(), other}, piece).count, 170);
    }
}

TEST(MemoryPeak, OfTheProgramIsThatOfThePartThatCounts) {
    activity::Program program = two_steps();
    program.allocation(20, 0x2000, 500).release(30, 0x2000);
    program.allocation(250, 0x3000, 40).release(260, 0x3000);
    program.allocation(500, 0x4000, 700);
    model::CaptureRange capture;
    capture.range = "step";
    const Recorded recorded({program.recording()}, capture);
    EXPECT_EQ(api_counts_of(recorded, {}).at("memory_peak").count, 140);
    EXPECT_EQ(memory_peak({program}, {}).count, 800);
}

TEST(CallCounts, AreNotKnownWhereCallsAreNotOnRecord) {
    activity::Program program = two_steps();
    EXPECT_EQ(api_counts_of(*recorded_of({program}), step).at("syncs").count, 0);
    for (const char* level : {"records", "callbacks"}) {
        activity::Program other = two_steps();
        other.level(level);
        const auto recorded = recorded_of({program, other});
        for (const ApiCount& count : {api_counts_of(*recorded, step).at("syncs"),
                                      api_counts_of(*recorded, step).at("uncapturable_calls"),
                                      api_counts_of(*recorded, {}).at("syncs")}) {
            EXPECT_EQ(count.count, std::nullopt) << level;
            EXPECT_NE(count.problem, "") << level;
        }
    }
}

TEST(MemoryPeak, IsNothingWithAReasonWhereItIsNotKnown) {
    const auto reason = [](const std::vector<activity::Program>& processes,
                           const command::Piece& piece) {
        const ApiCount found = memory_peak(processes, piece);
        EXPECT_EQ(found.count, std::nullopt);
        return found.problem;
    };
    activity::Program without;
    without.level("api").range("step", {100, 200}).kernel("a", 110, {120, 130});
    activity::Program unknown = two_steps();
    unknown.release(150, 0x2000);
    activity::Program other_level = two_steps();
    other_level.level("callbacks");
    for (const command::Piece& piece : {step, command::Piece{}}) {
        EXPECT_EQ(reason({without, without}, piece),
                  "the recording has no allocation of device memory");
        EXPECT_EQ(reason({two_steps(), unknown}, piece),
                  "the records of memory contradict each other: a release at 0x2000 matches "
                  "no recorded allocation");
        EXPECT_EQ(reason({other_level}, piece),
                  "the recording has no allocations of memory: they are recorded at level api");
        EXPECT_EQ(memory_peak({without, two_steps()}, piece).count, 100)
            << "a process without memory beside one with some";
    }
}

/// The overhead of ranges whose host times, in µs, are these without and with recording; each
/// launches a kernel of that length when it begins.
std::optional<double> overhead(const std::vector<std::uint64_t>& bare_us,
                               const std::vector<std::uint64_t>& recorded_us,
                               std::uint64_t kernel_us, const command::Piece& piece = step) {
    const auto run = [&](const std::vector<std::uint64_t>& host_us, bool kernels) {
        Process process;
        for (const std::uint64_t length : host_us) {
            process.range("step", true);
            if (kernels) process.kernel("k", kernel_us * 1000);
            process.wait(1000 * (length - (kernels ? 2 : 1))).range("step", false);
            process.wait(1'000'000);
        }
        std::vector<activity::Recording> recordings;
        recordings.push_back(process.take());
        return recordings;
    };
    return recording_overhead(Recorded(run(bare_us, false)), Recorded(run(recorded_us, true)),
                              piece);
}

TEST(UnderfilledShare, IsTheTimeOfKernelsWithFewerBlocksThanHalfOfTheSms) {
    Process process;
    process.device(132).range("step", true);
    process.kernel("full", 600, 66).kernel("small", 300, 65).kernel("tiny", 100, 1);
    process.range("step", false);
    EXPECT_EQ(values(process).samples.at("underfilled_share"), std::vector<double>{40});
    EXPECT_EQ(values(process, {}).samples.at("underfilled_share"), std::vector<double>{40});
}

TEST(UnderfilledShare, OfAGpuThatIsNotOnRecordIsNotKnown) {
    Process process;
    process.range("step", true).kernel("tiny", 100, 1).range("step", false);
    EXPECT_FALSE(values(process).samples.contains("underfilled_share"));
    EXPECT_FALSE(values(process, {}).samples.contains("underfilled_share"));
}

TEST(ExposedCommunication, IsTheShareOfTheSpanWithNcclAlone) {
    Process process;
    // From 1000: the range; a kernel from 2000 to 2500, NCCL from 3000 to 5000 and with it a kernel
    // from 4000 to 4500; the range ends at 5000.
    process.range("step", true).kernel("gemm", 500).kernel("ncclDevKernel_AllReduce", 2000);
    process.kernel("gemm", 500).range("step", false);
    EXPECT_EQ(values(process).samples.at("exposed_communication_share"),
              std::vector<double>{100 * 1500.0 / 4000});
}

TEST(Communication, IsTheTimeWithNcclOrNvshmemWhateverElseRuns) {
    Process process;
    // From 1000: two ranges, in the first NCCL from 2000 to 4000, NVSHMEM from 3000 to 3500 and a
    // kernel from 4000 to 5000; in the second a kernel alone.
    process.range("step", true).kernel("ncclDevKernel_AllReduce", 2000);
    process.kernel("nvshmemi_proxy_quiet_entrypoint", 500).kernel("gemm", 1000);
    process.range("step", false).range("step", true).kernel("gemm", 500).range("step", false);
    const PieceValues ranges = values(process);
    EXPECT_EQ(ranges.samples.at("communication_time"), (std::vector<double>{2000, 0}));
    EXPECT_EQ(ranges.samples.at("communication_share"),
              (std::vector<double>{100 * 2000 / ranges.samples.at("span").at(0), 0}));
    const PieceValues program = values(process, {});
    EXPECT_EQ(program.samples.at("communication_time"), std::vector<double>{2000});
    EXPECT_EQ(program.samples.at("communication_share"),
              std::vector<double>{100 * 2000 / program.samples.at("span").at(0)});
}

TEST(Communication, IsNoneWithoutItsKernelsAndNotOfCopiesBetweenDevices) {
    Process process;
    process.range("step", true).kernel("gemm", 500).peer_copy(2000).range("step", false);
    for (const command::Piece& piece : {step, command::Piece{}}) {
        EXPECT_EQ(values(process, piece).samples.at("communication_time"), std::vector<double>{0});
        EXPECT_EQ(values(process, piece).samples.at("communication_share"), std::vector<double>{0});
    }
}

TEST(Communication, OfSeveralProcessesIsTheirSum) {
    std::vector<activity::Recording> recordings;
    for (const std::uint64_t length_ns : {100, 300}) {
        Process process;
        process.kernel("ncclDevKernel_AllReduce", length_ns).kernel("gemm", 1000);
        recordings.push_back(process.take());
    }
    const PieceValues both = values_of(Recorded(std::move(recordings)), {});
    EXPECT_EQ(both.samples.at("communication_time"), std::vector<double>{400});
    EXPECT_EQ(both.samples.at("communication_share"), std::vector<double>{100 * 400.0 / 4000});
}

TEST(Copies, AreTimedWhateverElseRunsAndExposedWhereNoKernelDoes) {
    activity::Program program;
    const auto copy = [&](std::uint64_t launch, model::Interval time) {
        program.copy(launch, time, 64, activity::MemoryKind::pinned);
    };
    program.range("step", {1000, 10000}).kernel("gemm", 1100, {2000, 4000});
    copy(1200, {3000, 5000});  // half of it beside the kernel
    copy(1300, {4500, 6000});  // beside a copy
    program.kernel("ncclDevKernel_AllReduce", 1400, {8000, 9000});
    copy(1500, {8500, 9000});  // hidden by communication too
    program.range("step", {10000, 11000}).kernel("gemm", 10100, {10200, 10300});
    EXPECT_EQ(samples({program}, step, "copy_time"), (std::vector<double>{3500, 0}));
    EXPECT_EQ(samples({program}, step, "exposed_copy_share"),
              (std::vector<double>{100 * 2000.0 / 9000, 0}));
    EXPECT_EQ(samples({program}, {}, "copy_time"), std::vector<double>{3500});
    EXPECT_EQ(samples({program}, {}, "exposed_copy_share"),
              std::vector<double>{100 * 2000.0 / 8300});
}

TEST(Copies, OfSeveralProcessesAreASum) {
    activity::Program one, other;
    one.kernel("gemm", 100, {100, 200}).copy(100, {150, 300}, 64, activity::MemoryKind::pinned);
    other.kernel("gemm", 100, {100, 500});
    EXPECT_EQ(samples({one, other}, {}, "copy_time"), std::vector<double>{150});
    EXPECT_EQ(samples({one, other}, {}, "exposed_copy_share"),
              std::vector<double>{100 * 100.0 / 600});
}

TEST(LegacyStreamLaunches, AreCountedButForThoseOfGraphs) {
    Process process;
    process.context(7).range("step", true);
    process.kernel("a", 10).in_stream(7).kernel("b", 10).in_stream(7).kernel("c", 10).in_stream(8);
    process.kernel("d", 10).in_stream(7, true).range("step", false);
    EXPECT_EQ(values(process).counts.at("legacy_stream_launches"), 2);
}

TEST(LegacyStreamLaunches, OfAContextThatIsNotOnRecordAreNotKnown) {
    Process process;
    process.range("step", true).kernel("a", 10).range("step", false);
    EXPECT_FALSE(values(process).counts.contains("legacy_stream_launches"));
}

TEST(RecordingOverhead, OfARangeThatWaitsIsThatOfItsHostTime) {
    EXPECT_NEAR(*overhead({100, 100, 100}, {110, 110, 110}, 50), 0.1, 1e-9);
    EXPECT_NEAR(*overhead({100, 100, 100}, {95, 95, 95}, 50), -0.05, 1e-9);
    // One slow instance says nothing, in either run.
    EXPECT_NEAR(*overhead({100, 100, 900}, {110, 2000, 110}, 50), 0.1, 1e-9);
}

TEST(RecordingOverhead, OfARangeWhoseDeviceWorkLastsLongerIsAShareOfThat) {
    // 10 µs more of the host: of a span of 1001 µs that is 10 of 991.
    EXPECT_NEAR(*overhead({20, 20, 20}, {30, 30, 30}, 1000), 10.0 / 991, 1e-6);
}

TEST(RecordingOverhead, SkipsTheFirstInstancesInBothRuns) {
    command::Piece piece = step;
    piece.skip = 1;
    EXPECT_NEAR(*overhead({500, 100}, {100, 120}, 50, piece), 0.2, 1e-9);
}

TEST(RecordingOverhead, IsNotKnownWithoutInstancesOrOfOtherPieces) {
    EXPECT_FALSE(overhead({}, {100}, 50));
    EXPECT_FALSE(overhead({100}, {}, 50));
    command::Piece piece = step;
    piece.pattern = "other";
    EXPECT_FALSE(overhead({100}, {100}, 50, piece));
    EXPECT_FALSE(overhead({100}, {100}, 50, {}));
    EXPECT_FALSE(
        overhead({100}, {100}, 50, {command::Piece::Kind::kernels, "k", "step", false, 0}));
}

}  // namespace command_pieces_test
}  // namespace perfgate::command
