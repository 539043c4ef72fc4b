// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "traces/json_pieces.hpp"
#include "traces/recording_builder.hpp"
#include "traces/traces.hpp"
#include "util/error.hpp"
#include "util/temporary_folder.hpp"

namespace perfgate::traces {
namespace {

using activity::CopyKind;
using activity::MemoryKind;
using activity::Recording;

/// As much of the text as is asked for, in pieces that no value fits into.
Fill fill_from(std::string_view text, std::size_t most = 7) {
    return [text, most](char* to, std::size_t size) mutable {
        const std::string_view part = text.substr(0, std::min(size, most));
        std::memcpy(to, part.data(), part.size());
        text.remove_prefix(part.size());
        return part.size();
    };
}

Recording read(const std::string& text) {
    return read_kineto(fill_from(text), "t.json");
}

std::string refusal(const std::string& text) {
    try {
        read(text);
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "it was read";
}

std::string trace(const std::string& events, const std::string& more = "") {
    return "{" + more + "\"traceEvents\": [" + events + "]}";
}

std::string event(const std::string& category, const std::string& name, const std::string& rest) {
    return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + "\", " + rest + "}";
}

const std::string call = event("cuda_runtime", "cudaLaunchKernel",
                               R"("pid": 12, "tid": -5, "ts": 1.5, "dur": 2,
                                  "args": {"correlation": 3})");
const std::string kernel = event("kernel", "gemm", R"("pid": 1, "tid": 7, "ts": 10, "dur": 2.001,
    "args": {"device": 1, "context": 2, "stream": 7, "correlation": 3, "registers per thread": 40,
             "shared memory": 256, "grid": [8, 2, 1], "block": [128, 1, 1], "blocks per SM": inf})");

TEST(Kineto, KernelsHaveTheirTimesPlaceAndSize) {
    const Recording recording = read(trace(call + ",\n" + kernel));
    ASSERT_EQ(recording.records.kernels.size(), 1U);
    const activity::Kernel& only = recording.records.kernels.front();
    EXPECT_EQ(only.start_ns, 10000U);
    EXPECT_EQ(only.end_ns, 12001U);
    EXPECT_EQ(only.place.device, 1U);
    EXPECT_EQ(only.place.context, 2U);
    EXPECT_EQ(only.place.stream, 7U);
    EXPECT_EQ(only.place.correlation, 3U);
    EXPECT_EQ(only.graph.node, 0U);
    const activity::LaunchConfiguration& launch = recording.configurations.at(only.configuration);
    EXPECT_EQ(recording.text(launch.symbol), "gemm");
    EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{8, 2, 1}));
    EXPECT_EQ(launch.block, (std::array<std::uint32_t, 3>{128, 1, 1}));
    EXPECT_EQ(launch.registers_per_thread, 40U);
    ASSERT_EQ(recording.records.api_calls.size(), 1U);
    EXPECT_EQ(recording.text(recording.records.api_calls[0].name), "cudaLaunchKernel");
    EXPECT_EQ(recording.records.api_calls[0].start_ns, 1500U);
    EXPECT_EQ(recording.field("pid"), "12");
    EXPECT_EQ(recording.field("level"), "api");
    EXPECT_EQ(recording.field("untold"), "static_smem dynamic_smem") << "it has their sum";
    EXPECT_TRUE(recording.incomplete.empty());
}

TEST(Kineto, LaunchesWithoutTheirKernelsAreALoss) {
    const auto lost = [](const std::string& events) {
        const std::vector<std::string> why = read(trace(events)).incomplete;
        return why.empty() ? "" : why.front();
    };
    const auto call_at = [](const std::string& name, int time, int correlation) {
        return event("cuda_runtime", name,
                     R"("pid": 12, "tid": 1, "dur": 1, "ts": )" + std::to_string(time) +
                         R"(, "args": {"correlation": )" + std::to_string(correlation) + "}");
    };
    const std::string second = "," + call_at("cudaLaunchKernelExC", 4, 4);
    EXPECT_EQ(lost(kernel + "," + call), "");
    EXPECT_EQ(lost(kernel), "") << "it was launched before the recording began";
    EXPECT_EQ(lost(call + "," + kernel + second + second),
              "the kernels of 1 launch are not on record");
    EXPECT_EQ(lost(call + "," + kernel + "," + call_at("cudaGraphLaunch", 4, 5)),
              "the kernels of 1 launch are not on record");
    std::string unknown = kernel;
    unknown.replace(unknown.find("kernel"), 6, "gpu_kernel");
    EXPECT_EQ(lost(unknown + "," + call), "the kernels of 1 launch are not on record")
        << "a category that is not known";
    const std::string captured = call_at("cudaStreamEndCapture", 6, 7) + second + "," +
                                 call_at("cudaStreamBeginCapture", 3, 6);
    EXPECT_EQ(lost(call + "," + kernel + "," + captured), "");
    EXPECT_EQ(lost(captured + "," + call_at("cudaLaunchKernel", 8, 8)),
              "the kernels of 1 launch are not on record")
        << "behind the capture";
}

TEST(Kineto, KernelsOfZeroLengthAreALossUnlessTimesAreWholeMicroseconds) {
    const auto lost = [](const char* begin, const char* length) {
        const std::string times = fmt::format(R"("ts": {}, "dur": {}, )", begin, length);
        return !read(trace(event("kernel", "gemm", times + R"("args": {"device": 0, "stream": 7,
                                                              "correlation": 3})")))
                    .incomplete.empty();
    };
    EXPECT_TRUE(lost("10.5", "0"));
    EXPECT_FALSE(lost("10", "0"));
    EXPECT_FALSE(lost("10.5", "0.001"));
}

TEST(Kineto, TimesKeepTheirNanosecondsHoweverLargeTheyAre) {
    const auto begin_of = [](const std::string& time) {
        const Recording recording = read(
            trace(event("cuda_sync", "k", R"("dur": 0, "args": {}, "ts": )" + time) + "," + call));
        const auto& waits = recording.records.synchronisations;
        return waits.empty() ? 0 : waits.front().start_ns;
    };
    EXPECT_EQ(begin_of("1719853884000000.123"), 1719853884000000123U);
    EXPECT_EQ(begin_of("1719853884000001"), 1719853884000001000U);
    EXPECT_EQ(begin_of("4458676522690.6559"), 4458676522690655U);
    EXPECT_EQ(begin_of("7.5"), 7500U);
    EXPECT_EQ(begin_of("7.04"), 7040U);
    EXPECT_EQ(begin_of("1.5e3"), 1500000U);
    for (const char* none : {"-1", "1e300", "\"1\"", "null", "99999999999999999999", "1.2.3"}) {
        EXPECT_EQ(begin_of(none), 0U) << none;
    }
}

TEST(Kineto, CopiesMemsetsWaitsAndAnnotationsAreRead) {
    const std::string args = R"("ts": 5, "dur": 1, "tid": 4, "pid": 1, "args": {"bytes": 64,
        "correlation": 9, "stream": 20, "device": 0, "context": 1, "cuda_sync_kind": "Stream Sync"})";
    const Recording recording = read(trace(
        event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", args) + "," +
        event("gpu_memcpy", "Memcpy DtoH (Device Static -> Pinned)", args) + "," +
        event("gpu_memcpy", "Memcpy", args) + "," + event("gpu_memset", "Memset (Device)", args) +
        "," + event("cuda_sync", "Stream Sync", args) + "," +
        event("gpu_user_annotation", "step", args) + "," + event("user_annotation", "step", args) +
        "," + event("cpu_op", "mm", args)));
    const activity::Records& records = recording.records;
    ASSERT_EQ(records.copies.size(), 3U);
    EXPECT_EQ(records.copies[0].kind, CopyKind::host_to_device);
    EXPECT_EQ(records.copies[0].source, MemoryKind::pageable);
    EXPECT_EQ(records.copies[0].destination, MemoryKind::device);
    EXPECT_EQ(records.copies[0].bytes, 64U);
    EXPECT_EQ(records.copies[1].kind, CopyKind::device_to_host);
    EXPECT_EQ(records.copies[1].source, MemoryKind::device_static);
    EXPECT_EQ(records.copies[1].destination, MemoryKind::pinned);
    EXPECT_EQ(records.copies[2].kind, CopyKind::unknown);
    ASSERT_EQ(records.memsets.size(), 1U);
    EXPECT_EQ(records.memsets[0].bytes, 64U);
    ASSERT_EQ(records.synchronisations.size(), 1U);
    EXPECT_EQ(records.synchronisations[0].kind, activity::SynchronisationKind::stream);
    ASSERT_EQ(records.markers.size(), 2U) << "of the host alone";
    EXPECT_EQ(recording.text(records.markers[0].name), "step");
    EXPECT_EQ(records.markers[0].thread, 4U);
    EXPECT_EQ(records.markers[1].time_ns, 6000U);
}

TEST(Kineto, WorkOfAGraphIsKnownByItsNodeOrByTheCallThatLaunchedIt) {
    const std::string launch = event("cuda_runtime", "cudaGraphLaunch",
                                     R"("pid": 1, "tid": 1, "ts": 1, "dur": 1,
                                        "args": {"correlation": 5})");
    const auto kernel_of = [](const std::string& args) {
        return event("kernel", "k",
                     R"("ts": 3, "dur": 1, "args": {"device": 0, "stream": 7, )" + args + "}");
    };
    const Recording recording = read(trace(
        launch + "," + kernel_of(R"("correlation": 5)") + "," + kernel_of(R"("correlation": 6)") +
        "," + kernel_of(R"("correlation": 7, "graph node id": 42, "graph id": 3)")));
    EXPECT_NE(recording.records.kernels[0].graph.node, 0U);
    EXPECT_EQ(recording.records.kernels[1].graph.node, 0U);
    EXPECT_EQ(recording.records.kernels[2].graph.node, 42U);
    EXPECT_EQ(recording.records.kernels[2].graph.graph, 3U);
}

TEST(Kineto, TheRootTellsDevicesAndRank) {
    const Recording recording =
        read(trace(call, R"("schemaVersion": 1, "skipped": {"deep": [1, {"a": "]}"}]},
            "deviceProperties": [{"id": 2, "name": "GPU", "numSms": 132, "totalGlobalMem": 99,
                                  "computeMajor": 9, "computeMinor": 0}],
            "distributedInfo": {"rank": 3},)"));
    EXPECT_EQ(recording.field("rank"), "3");
    ASSERT_EQ(recording.records.devices.size(), 1U);
    EXPECT_EQ(recording.records.devices[0].id, 2U);
    EXPECT_EQ(recording.records.devices[0].sm_count, 132U);
    EXPECT_EQ(recording.text(recording.records.devices[0].name), "GPU");
}

TEST(Kineto, WhatWasLostMakesTheRecordingIncomplete) {
    const auto incomplete = [](const std::string& events, const std::string& more = "") {
        return read(trace(call + "," + kernel + events, more)).incomplete;
    };
    EXPECT_EQ(incomplete("," + event("cuda_sync", "k", R"("ts": 3, "args": {})")).size(), 1U);
    EXPECT_EQ(incomplete("," + event("cuda_sync", "k", R"("dur": 3, "args": {})")).size(), 1U);
    EXPECT_EQ(incomplete("," + event("cuda_sync", "k", R"("ts": 3, "dur": -1)")).size(), 1U);
    EXPECT_EQ(incomplete("", R"("ERROR": ["CUPTI failed"],)").size(), 1U);
    EXPECT_EQ(incomplete("", R"("WARNING": ["Dropped 7 activity records"],)").size(), 1U);
    EXPECT_TRUE(incomplete("", R"("WARNING": ["slow"], "INFO": ["x"],)").empty());
}

TEST(Kineto, WhatIsNoWholeTraceIsRefused) {
    const std::string whole = trace(call);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_NE(refusal(whole.substr(0, length)), "it was read") << length;
    }
    EXPECT_NE(refusal(whole + "x").find("something follows"), std::string::npos);
    EXPECT_NE(refusal(trace("1")).find("byte 17"), std::string::npos);
    EXPECT_NE(refusal(trace(call + " " + call)).find("comma"), std::string::npos);
    EXPECT_NE(refusal(trace(call + ",")).find("value is missing"), std::string::npos);
    EXPECT_NE(refusal(trace(call, R"("deviceProperties": nonsense,)")).find("no JSON"),
              std::string::npos);
    EXPECT_NE(refusal(trace(event("kernel", "k", R"("ts": 1, "dur": 1, "args": {"stream": 7})")))
                  .find("byte 17: a kernel"),
              std::string::npos)
        << "another program's trace";
    EXPECT_NE(refusal(R"({"traceEvents": 3})").find("traceEvents"), std::string::npos);
    EXPECT_NE(refusal(R"({"a": 3})").find("traceEvents"), std::string::npos);
    EXPECT_NE(refusal("[]").find("traceEvents"), std::string::npos);
    EXPECT_NE(refusal(trace("")).find("no CUDA activity"), std::string::npos);
    EXPECT_NE(
        refusal(trace(event("cpu_op", "mm", R"("ts": 1, "dur": 1)"))).find("no CUDA activity"),
        std::string::npos);
}

TEST(Kineto, NamesThatAreNotNeededMayHaveBadEscapes) {
    const auto with = [](const std::string& category) {
        return trace(call + "," + event(category, "C:\\q", R"("ts": 1, "dur": 1)"));
    };
    EXPECT_EQ(read(with("python_function")).records.api_calls.size(), 1U);
    EXPECT_NE(refusal(with("user_annotation")).find("name is no JSON"), std::string::npos);
}

TEST(Kineto, CallsOfTwoProcessesAreRefused) {
    std::string other = call;
    other.replace(other.find("12"), 2, "13");
    EXPECT_NE(refusal(trace(call + "," + other)).find("processes 12 and 13"), std::string::npos);
}

TEST(Kineto, ValuesOverTheLimitAreRefusedAndSkippedOnesHaveNone) {
    const std::string large(JsonPieces::longest_value + 10, 'a');
    const auto read_fast = [](const std::string& text) {
        return read_kineto(fill_from(text, text.size()), "t.json");
    };
    EXPECT_NO_THROW(read_fast(trace(call, "\"skipped\": \"" + large + "\",")));
    try {
        read_fast(trace(event("cpu_op", large, R"("ts": 1)")));
        FAIL() << "it was read";
    } catch (const util::InputError& error) {
        EXPECT_NE(std::string(error.what()).find("longer than"), std::string::npos);
    }
}

TEST(Kineto, LongNamesAreCutAndNoneIsKeptTwice) {
    const std::string name(activity::max_string_bytes + 5, 'n');
    const std::string one = event("user_annotation", name, R"("ts": 1, "dur": 1)");
    const Recording recording =
        read_kineto(fill_from(trace(call + "," + one + "," + one), 1 << 20), "t.json");
    EXPECT_EQ(recording.strings.size(), 3U);
    EXPECT_EQ(recording.strings.back().size(), activity::max_string_bytes);
}

class Files : public testing::Test {
  protected:
    std::string file(const std::string& name, std::string_view content, bool zipped = false) {
        const std::string path = (folder_.path() / name).native();
        if (zipped) {
            gzFile to = gzopen(path.c_str(), "wb");
            gzwrite(to, content.data(), static_cast<unsigned>(content.size()));
            gzclose(to);
        } else {
            std::ofstream(path, std::ios::binary) << content;
        }
        return path;
    }
    std::string why_not(const std::string& path) {
        try {
            read_recordings(path);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "it was read";
    }
    const std::filesystem::path& folder() { return folder_.path(); }

  private:
    util::TemporaryFolder folder_{"perfgate-traces"};
};

TEST_F(Files, ATraceIsKnownByItsContentGzippedOrNot) {
    for (const bool zipped : {false, true}) {
        const std::string path = file(zipped ? "a" : "b", trace(call + "," + kernel), zipped);
        EXPECT_TRUE(is_recording(path));
        ASSERT_EQ(read_recordings(path).size(), 1U);
        EXPECT_EQ(read_recordings(path)[0].records.kernels.size(), 1U);
    }
}

TEST_F(Files, AreClosedWhenTheyHaveBeenRead) {
    const auto open_files = [] {
        namespace fs = std::filesystem;
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    const std::string path = file("t.json.gz", trace(call + "," + kernel), true);
    const auto before = open_files();
    read_recordings(path);
    EXPECT_EQ(open_files(), before);
}

TEST_F(Files, OtherFilesAreNoRecordings) {
    EXPECT_FALSE(
        is_recording(file("run.json", R"({"schema": "perfgate.run", "traceEvents": []})")));
    EXPECT_FALSE(is_recording(file("other.json", R"({"results": [1, 2]})")));
    EXPECT_FALSE(is_recording(file("empty", "")));
    EXPECT_FALSE(is_recording(file("text", "step,time\n1,2\n")));
    EXPECT_FALSE(is_recording(file("cut.gz", std::string("\x1f\x8b\x08\0\0", 5))));
    EXPECT_FALSE(is_recording(folder() / "absent"));
    EXPECT_FALSE(is_recording("/dev/null"));
    EXPECT_NE(why_not(folder() / "absent").find("no such file"), std::string::npos);
    EXPECT_NE(why_not(folder() / "text").find("no recording"), std::string::npos);
}

TEST_F(Files, ACutArchiveIsRefused) {
    std::string events = call;
    for (int i = 0; i < 2000; ++i) events += "," + kernel;
    const std::string path = file("t.json.gz", trace(events), true);
    const auto size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, size - 20);
    EXPECT_NE(why_not(path).find("cut or damaged"), std::string::npos);
}

TEST_F(Files, TheTracesOfAFolderAreReadTogether) {
    EXPECT_NE(why_not(folder()).find("no *.activity"), std::string::npos);
    file("rank1.json.gz", trace(call, R"("distributedInfo": {"rank": 1},)"), true);
    file("rank0.json", trace(call, R"("distributedInfo": {"rank": 0},)"));
    file("notes.json", "{}");
    EXPECT_TRUE(is_recording(folder()));
    const std::vector<Recording> all = read_recordings(folder());
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].field("rank"), "0");
    EXPECT_EQ(all[1].field("rank"), "1");
    // Of a folder that perfgate has recorded into, its own alone.
    file("damaged.activity", "no");
    EXPECT_NE(why_not(folder()).find("damaged.activity"), std::string::npos);
}

}  // namespace
}  // namespace perfgate::traces
