// SPDX-License-Identifier: Apache-2.0
// The injection library in a program whose driver and CUPTI are mocks: what it records, what it
// says when it could not, and that the program does not notice.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/recording.hpp"
#include "activity/timeline.hpp"
#include "inject/settings.hpp"
#include "injected_program.hpp"
#include "util/error.hpp"

namespace perfgate::inject {
namespace {

using activity::Recording;
using Reasons = std::vector<std::string>;

std::size_t count(const Recording& recording, const std::string& symbol) {
    return static_cast<std::size_t>(std::count_if(
        recording.records.kernels.begin(), recording.records.kernels.end(), [&](const auto& each) {
            return recording.text(recording.configurations[each.configuration].symbol) == symbol;
        }));
}

TEST_F(Injection, kernels_copies_memsets_and_ranges_are_recorded) {
    run({"push", "step", "kernels", "12", "gemm", "copy", "4096", "memset", "64", "pop", "range",
         "between", "sync"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ("exit", recording.end);
    EXPECT_EQ("callbacks", recording.field("level"));
    EXPECT_EQ("130001", recording.field("cupti"));
    EXPECT_NE(std::string::npos, recording.field("command").find("mock_program push step"));
    EXPECT_EQ(12u, count(recording, "gemm"));
    EXPECT_EQ(1u, count(recording, "in_range"));
    ASSERT_EQ(1u, recording.records.copies.size());
    EXPECT_EQ(4096u, recording.records.copies[0].bytes);
    EXPECT_EQ(activity::MemoryKind::pageable, recording.records.copies[0].source);
    ASSERT_EQ(1u, recording.records.memsets.size());
    ASSERT_EQ(4u, recording.records.markers.size());
    EXPECT_EQ("step", recording.text(recording.records.markers[0].name));
    EXPECT_EQ(recording.records.markers[0].id, recording.records.markers[1].id);
    EXPECT_NE(0u, recording.records.markers[0].thread);
    EXPECT_EQ(13u, recording.counts.kernel_launches);
    EXPECT_EQ(15u, recording.records.launch_calls.size());  // with the copy and the memset
    EXPECT_EQ(1u, recording.records.devices.size());
    EXPECT_GE(recording.records.clocks.size(), 1u);
    EXPECT_TRUE(recording.records.api_calls.empty());
    const auto& launch = recording.configurations[recording.records.kernels[0].configuration];
    EXPECT_EQ(8u, launch.grid[0]);
    EXPECT_EQ(128u, launch.block[0]);
    EXPECT_EQ(32u, launch.registers_per_thread);
}

TEST_F(Injection, levels) {
    settings_.level = Level::records;
    run({"kernels", "3", "k", "sync"});
    Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ(3u, recording.records.kernels.size());
    EXPECT_TRUE(recording.records.launch_calls.empty());
    EXPECT_EQ(0u, recording.counts.counted_with_callbacks);

    std::filesystem::remove(files()[0]);
    settings_.level = Level::api;
    run({"kernels", "3", "k", "sync"});
    recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ(1u, recording.counts.counted_with_callbacks);
    EXPECT_EQ(3u, recording.counts.kernel_launches);
    ASSERT_EQ(4u, recording.records.api_calls.size());
    EXPECT_EQ("cuLaunchKernel", recording.text(recording.records.api_calls[0].name));
    EXPECT_EQ(recording.records.kernels[0].place.correlation,
              recording.records.api_calls[0].correlation);
    EXPECT_EQ(1u, recording.records.synchronisations.size());
}

TEST_F(Injection, device_memory_is_recorded_at_level_api) {
    settings_.level = Level::api;
    run({"alloc", "64", "alloc", "4096", "free", "create", "512"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    const auto& events = recording.records.memory_events;
    ASSERT_EQ(3u, events.size());
    EXPECT_EQ(64u, events[0].bytes);
    EXPECT_EQ(4096u, events[1].bytes);
    EXPECT_EQ(activity::MemoryKind::device, events[1].kind);
    EXPECT_EQ(0u, events[1].release);
    EXPECT_EQ(1u, events[2].release);
    EXPECT_EQ(events[1].address, events[2].address);
    ASSERT_EQ(4u, recording.records.api_calls.size());
    EXPECT_EQ(events[0].correlation, recording.records.api_calls[0].correlation);
    EXPECT_EQ("cuMemCreate", recording.text(recording.records.api_calls[3].name));
}

TEST_F(Injection, memory_that_cannot_be_recorded_makes_it_incomplete) {
    settings_.level = Level::api;
    environment_ = {{"MOCK_DISABLED", "49"}};
    run({"alloc", "64"});
    ASSERT_EQ(1u, this->recording().incomplete.size());
    EXPECT_NE(std::string::npos, this->recording().incomplete[0].find("activity of kind 49"));
}

TEST_F(Injection, ranges_that_open_before_cuda_is_used) {
    run({"noinit", "push", "load", "init", "kernels", "1", "k", "pop"});
    const Recording recording = this->recording();
    ASSERT_EQ(2u, recording.records.markers.size());
    EXPECT_EQ("load", recording.text(recording.records.markers[0].name));
}

TEST_F(Injection, a_program_without_cuda_leaves_nothing) {
    run({"noinit"});
    run({"noinit", "push", "a", "pop"});
    EXPECT_TRUE(files().empty());
}

TEST_F(Injection, without_a_folder_nothing_is_recorded) {
    const std::string folder = settings_.folder;
    settings_.folder.clear();
    run({"kernels", "3", "k"});
    settings_.folder = folder_ / "absent";
    run({"kernels", "3", "k"});
    settings_.folder = folder;
    EXPECT_TRUE(files().empty());
}

TEST_F(Injection, graphs_and_captures_are_counted) {
    run({"capture", "5", "graph", "5", "graph", "5", "kernels", "2", "k"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ(7u, recording.counts.kernel_launches);
    EXPECT_EQ(5u, recording.counts.captured_launches);
    EXPECT_EQ(2u, recording.counts.graph_launches);
    EXPECT_EQ(10u, count(recording, "graph_node"));
    EXPECT_EQ(0u, count(recording, "captured"));
    run({"fail", "3", "kernels", "2", "k"});
    for (const auto& file : files()) {
        EXPECT_EQ(Reasons{}, activity::read_recording(file).incomplete);
    }
}

TEST_F(Injection, fewer_records_than_launches_are_said) {
    environment_ = {{"MOCK_LOSE", "2"}};
    run({"kernels", "5", "k"});
    EXPECT_EQ(Reasons{"kernels launched: 5, recorded: 3"}, recording().incomplete);
}

TEST_F(Injection, graphs_without_records_are_said) {
    run({"graph", "0"});
    EXPECT_EQ(Reasons{"1 graphs were launched and work of 0 recorded"}, recording().incomplete);
}

TEST_F(Injection, records_without_time_or_order_are_counted) {
    settings_.level = Level::records;
    environment_ = {{"MOCK_NO_TIME", "2"}, {"MOCK_REVERSED", "1"}, {"MOCK_DROP", "4"}};
    run({"kernels", "10", "k"});
    const Recording recording = this->recording();
    EXPECT_EQ((Reasons{"4 records were dropped by CUPTI", "2 records came without time stamps",
                       "1 records end before they start"}),
              recording.incomplete);
    EXPECT_EQ(7u, recording.records.kernels.size());
}

TEST_F(Injection, calls_waits_and_markers_without_time_are_counted) {
    settings_.level = Level::api;
    environment_ = {{"MOCK_CALLS_NO_TIME", "2"},
                    {"MOCK_WAITS_NO_TIME", "1"},
                    {"MOCK_MARKERS_NO_TIME", "1"},
                    {"MOCK_UNFINISHED", "1"}};
    run({"push", "step", "pop", "kernels", "5", "k", "sync", "sync"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{"4 records came without time stamps"}, recording.incomplete);
    // A call that has not returned is not lost.
    EXPECT_EQ(4u, recording.records.api_calls.size());
    EXPECT_EQ(1u, recording.records.synchronisations.size());
    EXPECT_EQ(1u, recording.records.markers.size());
    // From the first marker or call with a time.
    EXPECT_LT(activity::Timeline(recording).span().length(), 3'600'000'000'000u);
}

TEST_F(Injection, who_holds_cupti_is_named) {
    environment_ = {{"MOCK_HOLDER", "Nsight \"Systems\""}};
    run({"kernels", "3", "k"});
    const Recording recording = this->recording();
    ASSERT_EQ(1u, recording.incomplete.size());
    EXPECT_NE(std::string::npos, recording.incomplete[0].find("held by \"Nsight \"Systems\"\""));
    EXPECT_EQ(3u, recording.records.kernels.size());
}

TEST_F(Injection, a_program_without_cupti_says_so) {
    // The loader's path lacks it, and so does every other place of a machine without a toolkit.
    environment_ = {{"LD_LIBRARY_PATH", folder_ / "driver"}};
    std::filesystem::create_directory(folder_ / "driver");
    std::filesystem::copy(std::filesystem::path(PERFGATE_MOCK_FOLDER) / "libcuda.so.1",
                          folder_ / "driver" / "libcuda.so.1");
    const Ended ended = wait(start({"kernels", "3", "k"}));
    EXPECT_EQ(0, ended.status);
    EXPECT_EQ("", ended.output);
    EXPECT_FALSE(recording().incomplete.empty());
}

TEST_F(Injection, a_kind_that_cannot_be_enabled_is_said) {
    environment_ = {{"MOCK_DISABLED", "10"}};
    settings_.level = Level::records;
    run({"kernels", "3", "k"});
    EXPECT_EQ(Reasons{"CUPTI cannot record activity of kind 10: CUPTI_ERROR_MOCKED (14)"},
              recording().incomplete);
}

TEST_F(Injection, a_module_that_is_no_cubin_is_counted) {
    std::ofstream(folder_ / "module") << "no cubin";
    run({"module", folder_ / "module", "kernels", "1", "k"});
    const Recording recording = this->recording();
    EXPECT_EQ(1u, recording.counts.unreadable_modules);
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_TRUE(recording.records.function_codes.empty());
}

TEST_F(Injection, a_function_has_its_size_and_the_line_at_which_its_source_begins) {
    const std::filesystem::path cubin = PERFGATE_CUBIN_DIR "/lines.cubin";
    if (!std::filesystem::exists(cubin)) GTEST_SKIP() << "built without CUDA";
    run({"module", cubin, "kernels", "1", "k"});
    std::size_t placed = 0;
    for (const auto& [symbol, source] : activity::function_sources(recording())) {
        EXPECT_GT(source.code_bytes, 0) << symbol;
        if (source.place.line == 0) continue;
        ++placed;
        EXPECT_TRUE(source.place.file.ends_with("line_kernels.cu") ||
                    source.place.file.ends_with("line_kernels.cuh"))
            << source.place.file;
    }
    EXPECT_GT(placed, 0U);
}

TEST_F(Injection, kernels_have_their_own_names_after_a_module_is_unloaded) {
    std::ofstream(folder_ / "module") << "no cubin";
    environment_ = {{"MOCK_STALE_NAMES", "1"}};
    const Words replaced = {
        "module", folder_ / "module", "kernels",          "2",       "old", "sleep", "1",
        "unload", "module",           folder_ / "module", "kernels", "3",   "new"};
    for (const Level level : {Level::callbacks, Level::api}) {
        settings_.level = level;
        run(replaced);
        const Recording recording = this->recording();
        EXPECT_EQ(Reasons{}, recording.incomplete);
        EXPECT_EQ(2u, count(recording, "old"));
        EXPECT_EQ(3u, count(recording, "new"));
        std::filesystem::remove(files()[0]);
    }
    // Level records has no launches.
    settings_.level = Level::records;
    run(replaced);
    EXPECT_EQ((Reasons{"3 kernels ran after a module was unloaded, and CUPTI may give them the "
                       "names of unloaded kernels: record launches, too (level callbacks)"}),
              recording().incomplete);
}

TEST_F(Injection, captured_kernels_have_their_own_names_after_a_module_is_unloaded) {
    run({"kernels", "2", "old", "unload", "capture", "2", "=mine", "graph", "2"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ(2u, count(recording, "mine"));
    EXPECT_EQ(0u, count(recording, "graph_node"));
}

TEST_F(Injection, kernels_in_graphs_are_in_doubt_once_a_module_was_unloaded) {
    run({"kernels", "2", "old", "unload", "fail", "1", "capture", "2", "graph", "3", "node",
         "other", "graph", "2"});
    EXPECT_EQ((Reasons{"5 kernels in CUDA graphs ran after a module was unloaded, and CUPTI may "
                       "give them the names of unloaded kernels: keep modules loaded as long as "
                       "the program runs"}),
              recording().incomplete);
    std::filesystem::remove(files()[0]);
    // Graphs that ran before have the names that they had.
    run({"kernels", "2", "old", "capture", "2", "graph", "3", "sleep", "1", "unload", "kernels",
         "1", "new"});
    EXPECT_EQ(Reasons{}, recording().incomplete);
}

TEST_F(Injection, hostile_names_arrive_as_they_are) {
    const std::string name = "k\n\"\x1b[31m\xff</script>" + std::string(5000, 'x');
    run({"push", name, "kernels", "2", name, "pop"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ(2u, count(recording, name));
}

TEST_F(Injection, threads) {
    run({"threads", "4"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ(4000u, count(recording, "threaded"));
    EXPECT_EQ(8u, recording.records.markers.size());
}

TEST_F(Injection, a_fork_leaves_the_parents_recording_alone) {
    run({"kernels", "5", "before", "fork", "kernels", "5", "after"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ(5u, count(recording, "before"));
    EXPECT_EQ(5u, count(recording, "after"));
    EXPECT_EQ(0u, count(recording, "in_child"));
}

TEST_F(Injection, a_child_program_has_a_recording_of_its_own) {
    run({"kernels", "2", "parent", "forkexec", "kernels", "sleep", "50"});
    ASSERT_EQ(2u, files().size());
    std::size_t parents = 0, children = 0;
    for (const auto& file : files()) {
        const Recording recording = activity::read_recording(file);
        EXPECT_EQ(Reasons{}, recording.incomplete);
        parents += count(recording, "parent");
        children += count(recording, "of_child");
    }
    EXPECT_EQ(2u, parents);
    EXPECT_EQ(5u, children);
}

TEST_F(Injection, a_child_without_cuda_has_none) {
    run({"kernels", "2", "parent", "forkexec", "noinit"});
    EXPECT_EQ(Reasons{}, recording().incomplete);
}

TEST_F(Injection, the_rank_is_in_name_and_header) {
    environment_ = {{"RANK", "3"}};
    run({"kernels", "2", "k"});
    EXPECT_EQ("3", recording().field("rank"));
    EXPECT_NE(std::string::npos, files()[0].filename().native().find("-r3.activity"));
    std::filesystem::remove(files()[0]);
    environment_ = {{"RANK", "../../x"}};
    run({"kernels", "2", "k"});
    EXPECT_EQ("", recording().field("rank"));
}

/// "name" or "domain:name" of each range with its end on record, by begin.
std::vector<std::string> closed_ranges(const Recording& recording) {
    std::vector<std::string> names;
    const activity::Timeline timeline(recording);
    for (const activity::Range& range : timeline.ranges()) {
        if (!range.open) names.push_back(timeline.range_name(range));
    }
    return names;
}

TEST_F(Injection, at_level_ranges_there_are_ranges_and_nothing_of_cupti) {
    settings_.level = Level::ranges;
    for (const auto& [name, value] : environment_for(settings_, library_)) {
        EXPECT_NE("CUDA_INJECTION64_PATH", name);
    }
    environment_ = {{"MOCK_HOLDER", "CUPTI is somebody else's"}};
    run({"push", "step", "kernels", "12", "gemm", "push", "inner", "sleep", "20", "pop", "pop",
         "range", "between", "threads", "2", "fork"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ("exit", recording.end);
    EXPECT_EQ("ranges", recording.field("level"));
    EXPECT_TRUE(recording.records.kernels.empty());
    EXPECT_TRUE(recording.records.launch_calls.empty());
    EXPECT_EQ((std::vector<std::string>{"step", "inner", "between", "thread", "thread"}),
              closed_ranges(recording));
    const activity::Timeline timeline(recording);
    EXPECT_GE(timeline.ranges()[0].time.length(), timeline.ranges()[1].time.length());
    EXPECT_GE(timeline.ranges()[1].time.length(), 20'000'000u);
    EXPECT_NE(timeline.ranges()[3].thread, timeline.ranges()[4].thread);
}

TEST_F(Injection, at_level_ranges_domains_and_all_kinds_of_names_arrive) {
    settings_.level = Level::ranges;
    program_ = PERFGATE_MOCK_RANGES;
    run({"cuda"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ((std::vector<std::string>{"wide \u00b5", "library:forward", "inner", "innermost",
                                        "library:forward"}),
              closed_ranges(recording));
    const activity::Timeline timeline(recording);
    // The domain's range ended before those that began within it.
    EXPECT_LT(timeline.ranges()[1].time.end, timeline.ranges()[3].time.end);
    EXPECT_LE(timeline.ranges()[3].time.end, timeline.ranges()[2].time.end);
}

TEST_F(Injection, at_level_ranges_a_fork_leaves_no_lock) {
    settings_.level = Level::ranges;
    settings_.limit_bytes = 64 << 20;
    // The first range initialises NVTX, which a fork must not interrupt.
    run({"push", "step", "pop", "forkbusy"});
    EXPECT_EQ("exit", recording().end);
}

TEST_F(Injection, at_level_ranges_very_deep_ones_are_left_out) {
    settings_.level = Level::ranges;
    program_ = PERFGATE_MOCK_RANGES;
    run({"deep"});
    EXPECT_EQ(128u, closed_ranges(recording()).size());
}

TEST_F(Injection, at_level_ranges_a_process_without_cuda_leaves_nothing) {
    settings_.level = Level::ranges;
    program_ = PERFGATE_MOCK_RANGES;
    run({});
    EXPECT_TRUE(files().empty());
}

TEST_F(Injection, at_level_ranges_a_process_that_leaves_without_exit_is_incomplete) {
    settings_.level = Level::ranges;
    run({"push", "step", "pop", "leave"});
    EXPECT_FALSE(recording().incomplete.empty());
}

TEST_F(Injection, at_level_ranges_a_full_recording_says_so) {
    settings_.level = Level::ranges;
    settings_.limit_bytes = 128 << 10;
    Words words;
    for (int i = 0; i < 3000; ++i) words.insert(words.end(), {"push", "step", "pop"});
    run(words);
    EXPECT_FALSE(recording().incomplete.empty());
}

constexpr const char* no_end =
    "the recording has no end: the process was killed, crashed or left by _exit, and what it did "
    "since the last flush is missing";

TEST_F(Injection, leaving_by__exit_keeps_what_was_flushed) {
    run({"kernels", "5", "flushed", "sleep", "500", "kernels", "5", "lost", "leave"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{no_end}, recording.incomplete);
    EXPECT_EQ(5u, count(recording, "flushed"));
}

TEST_F(Injection, a_crash_keeps_what_was_flushed_and_stays_a_crash) {
    const Ended ended = wait(start({"kernels", "5", "flushed", "sleep", "500", "crash"}));
    EXPECT_TRUE(WIFSIGNALED(ended.status));
    EXPECT_EQ(SIGSEGV, WTERMSIG(ended.status));
    EXPECT_EQ(5u, count(recording(), "flushed"));
    EXPECT_EQ(Reasons{no_end}, recording().incomplete);
}

TEST_F(Injection, a_termination_flushes_and_stays_a_termination) {
    settings_.flush_ms = 60'000;
    const Ended ended = wait(start({"kernels", "5", "k", "terminate"}));
    EXPECT_TRUE(WIFSIGNALED(ended.status));
    EXPECT_EQ(SIGTERM, WTERMSIG(ended.status));
    EXPECT_EQ("signal 15", recording().end);
    EXPECT_EQ(5u, count(recording(), "k"));
    EXPECT_EQ(Reasons{}, recording().incomplete);
}

TEST_F(Injection, a_handler_of_the_program_stays) {
    settings_.flush_ms = 60'000;
    const Ended ended = wait(start({"handler", "kernels", "5", "k", "terminate"}));
    EXPECT_TRUE(WIFEXITED(ended.status));
    EXPECT_EQ(7, WEXITSTATUS(ended.status));
    EXPECT_EQ(Reasons{no_end}, recording().incomplete);
}

TEST_F(Injection, a_context_that_is_destroyed_is_flushed) {
    settings_.flush_ms = 60'000;
    run({"kernels", "5", "k", "destroy", "leave"});
    EXPECT_EQ(5u, count(recording(), "k"));
}

TEST_F(Injection, a_full_recording_says_so) {
    settings_.limit_bytes = 200'000;
    run({"kernels", "20000", "k"});
    const Recording recording = this->recording();
    ASSERT_FALSE(recording.incomplete.empty());
    EXPECT_NE(std::string::npos, recording.incomplete[0].find("reached its limit"));
    EXPECT_EQ("exit", recording.end);
    EXPECT_LE(std::filesystem::file_size(files()[0]), 200'000u);
}

TEST_F(Injection, a_full_disk_ends_the_recording_and_not_the_program) {
    const pid_t child =
        start({"kernels", "20000", "k", "sleep", "100", "kernels", "20000", "k"}, [] {
            const rlimit limit{300'000, 300'000};
            setrlimit(RLIMIT_FSIZE, &limit);
        });
    const Ended ended = wait(child);
    EXPECT_TRUE(WIFEXITED(ended.status)) << ended.status;
    EXPECT_EQ(0, WEXITSTATUS(ended.status));
    const Recording recording = this->recording();
    ASSERT_FALSE(recording.incomplete.empty());
    EXPECT_NE(std::string::npos, recording.incomplete[0].find("File too large"));
}

TEST_F(Injection, fifty_kills_at_random_moments) {
    settings_.flush_ms = 5;
    std::mt19937 random(11);
    const auto recorded_bytes = [this] {
        std::uintmax_t bytes = 0;
        for (const auto& file : files()) bytes += std::filesystem::file_size(file);
        return bytes;
    };
    int with_kernels = 0;
    for (int round = 0; round < 50; ++round) {
        for (const auto& file : files()) std::filesystem::remove(file);
        std::filesystem::remove(folder_ / "output");
        const pid_t child = start({"forever"});
        // Every second one dies after it has recorded, however late a busy machine lets it begin.
        for (int i = 0; round % 2 == 1 && recorded_bytes() < 10000 && i < 60'000; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
        kill(child, SIGKILL);
        wait(child);
        if (files().empty()) continue;  // before CUDA was used
        try {
            const Recording recording = this->recording();
            // SIGKILL may also end the process in the middle of a write.
            ASSERT_EQ(1u, recording.incomplete.size());
            EXPECT_TRUE(recording.incomplete[0] == no_end ||
                        recording.incomplete[0].ends_with("it is cut within a block"))
                << recording.incomplete[0];
            if (!recording.records.kernels.empty()) ++with_kernels;
        } catch (const util::InputError&) {
            // Killed before the first bytes were written.
            EXPECT_EQ(0u, std::filesystem::file_size(files()[0]));
        }
    }
    EXPECT_GT(with_kernels, 5);
}

TEST_F(Injection, a_driver_that_is_not_told_of_the_library_runs_the_program_alone) {
    library_ = "/no/such/library.so";
    run({"kernels", "2", "k"});
    EXPECT_TRUE(files().empty());
}

TEST(Settings, what_does_not_parse_has_its_default) {
    setenv("PERFGATE_RECORD_FOLDER", "/somewhere", 1);
    setenv("PERFGATE_RECORD_LEVEL", "everything", 1);
    setenv("PERFGATE_RECORD_LIMIT_BYTES", "-3", 1);
    setenv("PERFGATE_RECORD_FLUSH_MS", "12x", 1);
    const Settings settings = settings_from_environment();
    EXPECT_EQ("/somewhere", settings.folder);
    EXPECT_EQ(Level::records, settings.level);
    EXPECT_EQ(Settings{}.limit_bytes, settings.limit_bytes);
    EXPECT_EQ(Settings{}.flush_ms, settings.flush_ms);
    for (const auto& [name, value] : environment_for({}, "")) unsetenv(name.c_str());
}

TEST(Settings, what_a_level_is_asked_for_goes_to_the_program_at_its_level_alone) {
    Settings settings;
    settings.counters = "1:0";
    settings.functions = "f1,f2";
    for (const Level level : levels) {
        settings.level = level;
        for (const auto& [name, value] : environment_for(settings, "/library")) {
            setenv(name.c_str(), value.c_str(), 1);
        }
        EXPECT_EQ(level, settings_from_environment().level);
        EXPECT_EQ(level == Level::counters ? "1:0" : "", settings_from_environment().counters);
        EXPECT_EQ(level == Level::code ? "f1,f2" : "", settings_from_environment().functions);
        for (const auto& [name, value] : environment_for(settings, "")) unsetenv(name.c_str());
    }
}

}  // namespace
}  // namespace perfgate::inject
