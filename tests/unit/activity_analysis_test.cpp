// SPDX-License-Identifier: Apache-2.0
// What the analysis makes of recordings whose answers are known: busy and idle time, ranges, gaps
// and their causes, copies, graphs, communication, kernels by name.
#include "activity/analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "activity/timeline.hpp"
#include "activity/waiting.hpp"
#include "recorded_program.hpp"
#include "util/error.hpp"

namespace perfgate::activity {
namespace {

const RangeSummary& range_named(const Profile& profile, std::string_view name) {
    for (const RangeSummary& range : profile.ranges) {
        if (range.name == name) return range;
    }
    throw util::Error("no range " + std::string(name));
}

TEST(Analysis, time_of_two_streams_at_once_counts_once) {
    const Profile profile =
        Program().kernel("a", 1, {100, 200}).kernel("b", 2, {150, 300}).profile();
    EXPECT_EQ(200u, profile.program.gpu_time_ns);
    EXPECT_EQ(250u, profile.program.kernel_time_ns);
    EXPECT_EQ(200u, profile.program.span_ns);
    EXPECT_EQ(0u, profile.program.idle_ns);
}

TEST(Analysis, calls_are_summed_by_name_and_the_longest_total_comes_first) {
    const Profile profile = Program()
                                .call("cudaFree", {100, 400})
                                .call("cudaMalloc", {1000, 1200})
                                .call("cudaMalloc", {2000, 2500})
                                .kernel("a", 1, {100, 200})
                                .profile();
    ASSERT_GE(profile.calls.size(), 2u);
    EXPECT_EQ("cudaMalloc", profile.calls[0].name);
    EXPECT_EQ(2u, profile.calls[0].time.count);
    EXPECT_EQ(700u, profile.calls[0].time.total_ns);
    EXPECT_EQ(200u, profile.calls[0].time.minimum_ns);
    EXPECT_EQ(500u, profile.calls[0].time.maximum_ns);
    EXPECT_EQ("cudaFree", profile.calls[1].name);
    EXPECT_EQ(300u, profile.calls[1].time.total_ns);
}

TEST(Analysis, idle_time_is_the_span_without_any_work) {
    const Profile profile =
        Program().kernel("a", 1, {100, 200}).kernel("a", 2, {260, 300}).profile();
    EXPECT_EQ(200u, profile.program.span_ns);
    EXPECT_EQ(60u, profile.program.idle_ns);
    EXPECT_DOUBLE_EQ(0.3, profile.program.idle_share());
}

TEST(Analysis, a_range_has_what_was_launched_in_it_though_it_ran_later) {
    const Profile profile = Program()
                                .range("step", {10, 20})
                                .range("step", {30, 40})
                                .kernel("a", 12, {25, 200})
                                .kernel("b", 35, {200, 250})
                                .kernel("c", 50, {250, 300})
                                .profile();
    ASSERT_TRUE(profile.by_launch);
    const RangeSummary& step = range_named(profile, "step");
    ASSERT_EQ(2u, step.instances.size());
    EXPECT_EQ(175u, step.instances[0].work.gpu_time_ns);
    EXPECT_EQ(50u, step.instances[1].work.gpu_time_ns);
    // Behind the first step's kernel, the second one's span begins where that ended.
    EXPECT_EQ(190u, step.instances[0].work.span_ns);
    EXPECT_EQ(50u, step.instances[1].work.span_ns);
    EXPECT_EQ(0u, step.instances[1].work.idle_ns);
    EXPECT_EQ(2u, step.total.kernels);
    EXPECT_EQ(10u, step.host_time.median_ns);
}

/// The only "step": its span, and how much of that no device did anything.
std::tuple<std::uint64_t, std::uint64_t> step_of(const Recording& recording,
                                                 const ProfileOptions& options = {}) {
    const Timeline timeline(recording);
    const Profile profile = profile_of(timeline, options);
    const WorkSummary& work = range_named(profile, "step").instances.at(0).work;
    return {work.span_ns, work.idle_ns};
}

TEST(Analysis, behind_a_backlog_a_span_begins_at_its_end_and_not_at_a_gap_in_it) {
    Program program;
    program.kernel("a", 10, {100, 200}).kernel("a", 11, {203, 300}).kernel("a", 12, {304, 400});
    program.range("step", {20, 40}).kernel("b", 25, {405, 500});
    EXPECT_EQ(std::tuple(100u, 5u), step_of(program.recording()));
}

TEST(Analysis, earlier_work_that_runs_beside_a_range_takes_nothing_from_its_span) {
    Program program;
    program.copy(5, {60, 900}, 1 << 20, MemoryKind::pinned).kernel("a", 10, {15, 50});
    program.range("step", {20, 40}).kernel("b", 25, {100, 200}).kernel("b", 30, {220, 300});
    EXPECT_EQ(std::tuple(200u, 0u), step_of(program.recording()));
}

/// `step_of` where the program's only copy is in a stream of its own.
std::tuple<std::uint64_t, std::uint64_t> beside_a_copy(const Program& program) {
    Recording recording = program.recording();
    recording.records.copies.at(0).place.stream = 9;
    return step_of(recording);
}

TEST(Analysis, a_copy_beside_a_range_does_not_hide_that_the_host_is_late) {
    Program program;  // one is launched in the range, too
    program.copy(5, {60, 900}, 1 << 20, MemoryKind::pinned).kernel("a", 10, {15, 50});
    program.range("step", {20, 340}).kernel("b", 298, {300, 400});
    EXPECT_EQ(std::tuple(350u, 10u), beside_a_copy(program));
    program.copy(310, {900, 950}, 1 << 20, MemoryKind::pinned);
    Recording recording = program.recording();
    for (Copy& copy : recording.records.copies) copy.place.stream = 9;
    EXPECT_EQ(std::tuple(900u, 10u), step_of(recording));
}

TEST(Analysis, a_copy_that_ended_before_the_host_launched_is_no_backlog) {
    Program program;
    program.copy(5, {60, 295}, 1 << 20, MemoryKind::pinned).kernel("a", 10, {15, 50});
    program.range("step", {20, 340}).kernel("b", 298, {300, 400});
    EXPECT_EQ(std::tuple(350u, 15u), beside_a_copy(program));
}

TEST(Analysis, a_range_may_have_waited_for_what_another_stream_had_before_it) {
    Program program;
    program.copy(5, {60, 295}, 1 << 20, MemoryKind::pinned).kernel("a", 10, {15, 50});
    program.range("step", {20, 340}).kernel("b", 25, {300, 400});
    EXPECT_EQ(std::tuple(105u, 5u), beside_a_copy(program));
}

TEST(Analysis, idle_time_in_front_of_a_ranges_work_is_in_its_span) {
    Program program;
    program.kernel("a", 10, {15, 50}).range("step", {60, 300}).kernel("b", 150, {160, 200});
    EXPECT_EQ(std::tuple(240u, 200u), step_of(program.recording()));
}

TEST(Analysis, a_backlog_may_be_of_other_threads_and_devices) {
    Program program;
    program.kernel("a", 10, {100, 200}).kernel("a", 12, {120, 300}, other_thread);
    program.range("step", {20, 40}).kernel("b", 25, {310, 400});
    program.kernel("c", 30, {410, 500}, other_thread);  // not earlier
    Recording recording = program.recording();
    recording.records.kernels[1].place.device = 1;
    EXPECT_EQ(std::tuple(200u, 20u), step_of(recording));
    ProfileOptions options;
    options.own_thread = true;
    EXPECT_EQ(std::tuple(100u, 10u), step_of(recording, options));
}

TEST(Analysis, without_launches_what_the_device_began_before_a_range_is_earlier) {
    Program program;
    program.kernel("a", 1, {10, 30}).kernel("a", 2, {32, 60});
    program.range("step", {50, 90}).kernel("b", 60, {70, 100});
    Recording recording = program.recording();
    recording.records.launch_calls.clear();
    EXPECT_EQ(std::tuple(40u, 10u), step_of(recording));
}

TEST(Analysis, ranges_nest_and_other_threads_launch_into_them) {
    Program program;
    program.range("outer", {0, 100})
        .range("inner", {10, 50})
        .kernel("a", 20, {200, 210})
        .kernel("b", 60, {210, 230})
        .kernel("c", 30, {230, 260}, other_thread);
    const Profile all = program.profile();
    EXPECT_EQ(3u, range_named(all, "outer").total.kernels);
    EXPECT_EQ(2u, range_named(all, "inner").total.kernels);
    ProfileOptions options;
    options.own_thread = true;
    const Profile own = program.profile(options);
    EXPECT_EQ(2u, range_named(own, "outer").total.kernels);
    EXPECT_EQ(1u, range_named(own, "inner").total.kernels);
}

TEST(Analysis, a_range_that_was_never_closed_has_no_instance) {
    const Profile profile = Program().range("step", {10, 0}).kernel("a", 12, {100, 200}).profile();
    const RangeSummary& step = range_named(profile, "step");
    EXPECT_TRUE(step.instances.empty());
    EXPECT_EQ(1u, step.left_open);
}

TEST(Analysis, kernels_under_ten_microseconds_are_short) {
    const Profile profile =
        Program().kernel("a", 1, {0, 9'999}).kernel("a", 2, {10'000, 20'000}).profile();
    EXPECT_EQ(1u, profile.program.short_kernels);
}

TEST(Analysis, a_graph_launch_is_one_launch_of_many_kernels) {
    const Profile profile =
        Program().graph("node", 1, {100, 110}, 12).graph("node", 2, {300, 310}, 12).profile();
    EXPECT_EQ(2u, profile.program.graph_launches);
    EXPECT_EQ(24u, profile.program.kernels);
    EXPECT_EQ(240u, profile.program.gpu_time_ns);
}

TEST(Analysis, copies_by_kind_and_memory_with_rate_and_overlap) {
    const Profile profile = Program()
                                .kernel("a", 1, {0, 1000})
                                .copy(2, {500, 1500}, 4000, MemoryKind::pinned)
                                .copy(3, {1500, 2500}, 2000, MemoryKind::pageable)
                                .profile();
    EXPECT_EQ(2u, profile.program.copies);
    EXPECT_EQ(1u, profile.program.pageable_copies);
    EXPECT_EQ(6000u, profile.program.copied_bytes);
    EXPECT_EQ(2000u, profile.program.copy_time_ns);
    EXPECT_EQ(500u, profile.program.overlapped_copy_ns);
    ASSERT_EQ(2u, profile.copies.size());
    for (const CopySummary& copy : profile.copies) {
        EXPECT_DOUBLE_EQ(copy.memory == "pinned" ? 4e9 : 2e9, copy.bytes_per_s()) << copy.memory;
    }
}

TEST(Analysis, copies_have_the_sizes_of_one) {
    const Profile profile = Program()
                                .copy(1, {0, 10}, 100, MemoryKind::pinned)
                                .copy(2, {10, 20}, 400, MemoryKind::pinned)
                                .copy(3, {20, 30}, 4, MemoryKind::pinned)
                                .copy(4, {30, 40}, 200, MemoryKind::pinned)
                                .copy(5, {40, 50}, 7, MemoryKind::pageable)
                                .profile();
    ASSERT_EQ(2u, profile.copies.size());
    const CopySummary& pinned = profile.copies[0];
    EXPECT_EQ(704u, pinned.bytes);
    EXPECT_EQ(4u, pinned.minimum_bytes);
    EXPECT_EQ(150u, pinned.median_bytes);
    EXPECT_EQ(400u, pinned.maximum_bytes);
    EXPECT_EQ(7u, profile.copies[1].median_bytes);
}

TEST(Analysis, communication_is_exposed_where_nothing_else_computes) {
    for (const char* symbol : {"ncclDevKernel_AllReduce", "ncclSymkDevKernel_AllReduce"}) {
        const Profile profile =
            Program().kernel(symbol, 1, {0, 100}).kernel("gemm", 2, {60, 200}).profile();
        EXPECT_EQ(100u, profile.program.communication_ns) << symbol;
        EXPECT_EQ(60u, profile.program.exposed_communication_ns) << symbol;
    }
}

TEST(Analysis, gaps_name_what_the_host_did) {
    const Profile profile = Program()
                                .range("step", {0, 2000})
                                .kernel("a", 1, {0, 100})
                                .call("cudaDeviceSynchronize", {50, 120})
                                .kernel("b", 290, {300, 400})
                                .call("cudaMalloc_v3020", {410, 690})
                                .kernel("c", 695, {700, 800})
                                .kernel("d", 1295, {1300, 1400})
                                .profile();
    ASSERT_EQ(3u, profile.gaps.size());
    const Gap& nothing = profile.gaps[0];
    EXPECT_EQ((Interval{800, 1300}), nothing.time);
    EXPECT_EQ(GapCause::nothing_submitted, nothing.cause);
    EXPECT_EQ("c", nothing.before);
    EXPECT_EQ("d", nothing.after);
    EXPECT_EQ("step", nothing.range);
    const Gap& allocation = profile.gaps[1];
    EXPECT_EQ(GapCause::api_call, allocation.cause);
    EXPECT_EQ("cudaMalloc", allocation.call);
    EXPECT_EQ(280u, allocation.in_calls_ns);
    const Gap& wait = profile.gaps[2];
    EXPECT_EQ((Interval{100, 300}), wait.time);
    EXPECT_EQ(GapCause::synchronisation, wait.cause);
    EXPECT_EQ("cudaDeviceSynchronize", wait.call);
    ASSERT_EQ(1u, profile.waits.size());
    EXPECT_EQ(200u, profile.waits[0].idle_ns);
    EXPECT_EQ(1u, profile.program.synchronisations);
}

using Causes = std::vector<std::tuple<GapCause, std::string, std::uint64_t>>;

Causes idle(const Program& program, const std::vector<Interval>& windows) {
    Causes causes;
    const Timeline timeline(program.recording());
    for (const IdleCause& each : idle_causes(timeline, gaps_in(timeline, windows))) {
        causes.emplace_back(each.cause, each.call, each.idle_ns);
    }
    return causes;
}

TEST(Analysis, idle_time_is_summed_up_by_what_the_host_did) {
    Program program;
    for (std::uint64_t at = 0; at < 20000; at += 2000) {
        program.kernel("a", at, {at, at + 100})
            .call("cudaDeviceSynchronize", {at + 50, at + 120})
            .kernel("b", at + 290, {at + 300, at + 400})
            .call("cudaMalloc_v3020", {at + 410, at + 690})
            .kernel("c", at + 695, {at + 700, at + 800})
            .kernel("d", at + 1295, {at + 1300, at + 2000});
    }
    const auto sync = GapCause::synchronisation, call = GapCause::api_call,
               nothing = GapCause::nothing_submitted;
    EXPECT_EQ(idle(program, {{0, 20000}}), (Causes{{nothing, "", 5000},
                                                   {call, "cudaMalloc", 3000},
                                                   {sync, "cudaDeviceSynchronize", 2000}}));
    // Nested windows count each; of a gap that reaches beyond a window, the part in it.
    EXPECT_EQ(
        idle(program, {{0, 2000}, {0, 150}, {350, 1000}}),
        (Causes{
            {nothing, "", 700}, {call, "cudaMalloc", 600}, {sync, "cudaDeviceSynchronize", 250}}));
    EXPECT_EQ(idle(program, {{1400, 2000}}), Causes{});
}

TEST(Analysis, a_long_call_of_another_thread_is_the_cause_of_many_gaps) {
    Program program;
    program.call("cuModuleLoadData", {0, 10000}, other_thread);
    for (std::uint64_t at = 100; at < 10000; at += 1000) program.kernel("a", at, {at, at + 500});
    EXPECT_EQ(idle(program, {{100, 9600}}),
              (Causes{{GapCause::api_call, "cuModuleLoadData", 4500}}));
}

TEST(Analysis, without_api_calls_idle_time_has_no_cause) {
    EXPECT_EQ(idle(Program().kernel("a", 1, {100, 200}), {{0, 1000}}), Causes{});
}

TEST(Analysis, a_driver_call_within_a_runtime_call_is_no_second_synchronisation) {
    const Profile profile = Program()
                                .kernel("a", 1, {0, 100})
                                .call("cudaStreamSynchronize_v3020", {10, 110}, main_thread, 77)
                                .call("cuStreamSynchronize", {20, 105}, main_thread, 77)
                                .profile();
    EXPECT_EQ(1u, profile.program.synchronisations);
    ASSERT_EQ(1u, profile.waits.size());
    EXPECT_EQ("cudaStreamSynchronize", profile.waits[0].name);
}

TEST(Analysis, which_calls_wait_for_the_device) {
    for (const char* waits : {"cudaDeviceSynchronize", "cuStreamSynchronize", "cudaMemcpy_v3020",
                              "cuMemcpyHtoD_v2", "cuEventSynchronize"}) {
        EXPECT_TRUE(waits_for_device(waits)) << waits;
    }
    for (const char* returns :
         {"cudaMemcpyAsync", "cuMemcpyBatchAsync", "cudaLaunchKernel", "cudaStreamWaitEvent"}) {
        EXPECT_FALSE(waits_for_device(returns)) << returns;
    }
}

TEST(Analysis, kernels_by_symbol_with_code_and_commonest_configuration) {
    const Profile profile = Program()
                                .kernel("_Z4axpyPf", 1, {0, 100}, main_thread, 40)
                                .kernel("_Z4axpyPf", 2, {100, 400}, main_thread, 40)
                                .kernel("_Z4axpyPf", 3, {400, 500}, main_thread, 64)
                                .kernel("other", 4, {500, 510})
                                .code("_Z4axpyPf", "f1")
                                .code("other", "f2")
                                .code("other", "f3")
                                .profile();
    ASSERT_EQ(2u, profile.kernels.size());
    const KernelSummary& first = profile.kernels[0];
    EXPECT_EQ("axpy(float*)", first.name);
    EXPECT_EQ("f1", first.fingerprint);
    EXPECT_EQ(3u, first.time.count);
    EXPECT_EQ(500u, first.time.total_ns);
    EXPECT_EQ(100u, first.time.median_ns);
    EXPECT_EQ(300u, first.time.maximum_ns);
    EXPECT_EQ(2u, first.configurations);
    EXPECT_EQ(40u, first.most_common.registers_per_thread);
    // Two modules have different code of this name: neither is known to be the one that ran.
    EXPECT_EQ("", profile.kernels[1].fingerprint);
}

TEST(Analysis, a_name_that_is_not_mangled_is_no_type) {
    // "c" and "i" are how the C++ ABI encodes char and int.
    const Profile profile = Program().kernel("c", 1, {0, 100}).kernel("i", 2, {100, 110}).profile();
    ASSERT_EQ(2u, profile.kernels.size());
    EXPECT_EQ("c", profile.kernels[0].name);
    EXPECT_EQ("i", profile.kernels[1].name);
}

TEST(Analysis, a_part_of_the_program_by_range_or_by_time) {
    Program program;
    program.range("warm up", {0, 40'000'000})
        .range("measured", {50'000'000, 90'000'000})
        .kernel("a", 10'000'000, {10'000'000, 20'000'000})
        .kernel("a", 60'000'000, {60'000'000, 70'000'000})
        .kernel("a", 80'000'000, {80'000'000, 85'000'000});
    ProfileOptions options;
    options.capture.range = "measured";
    EXPECT_EQ(2u, program.profile(options).program.kernels);
    EXPECT_EQ(40'000'000u, program.profile(options).program.span_ns);
    options = {};
    options.delay_s = 0.075;
    EXPECT_EQ(1u, program.profile(options).program.kernels);
    options = {};
    options.duration_s = 0.05;
    EXPECT_EQ(1u, program.profile(options).program.kernels);
    options = {};
    options.capture.range = "Measured";
    EXPECT_THROW(program.profile(options), util::Error);
}

TEST(Analysis, work_without_a_launch_on_record_belongs_to_when_it_ran) {
    Program program;
    program.range("step", {0, 50}).kernel("a", 1, {100, 200});
    Recording recording = program.recording();
    recording.records.launch_calls.clear();
    const Timeline timeline(recording);
    const Profile profile = profile_of(timeline);
    EXPECT_FALSE(profile.by_launch);
    EXPECT_EQ(0u, range_named(profile, "step").total.kernels);
}

TEST(Analysis, an_empty_recording_has_an_empty_profile) {
    const Profile profile = Program().profile();
    EXPECT_EQ(0u, profile.program.span_ns);
    EXPECT_EQ(0, profile.program.idle_share());
    EXPECT_TRUE(profile.kernels.empty());
    EXPECT_TRUE(advice(profile).empty());
}

TEST(Advice, a_range_in_which_the_host_submits_nothing_comes_first) {
    Program program;
    // Within a whole step, which is idle for less of its time.
    for (std::uint64_t at = 0; at < 4'000'000; at += 1'000'000) {
        program.range("epoch", {at, at + 1'000'000})
            .range("data", {at + 110'000, at + 900'000})
            .kernel("a", at + 1'000, {at + 2'000, at + 100'000})
            .call("cudaStreamSynchronize", {at + 1'500, at + 105'000})
            .kernel("a", at + 905'000, {at + 910'000, at + 999'000});
    }
    const std::vector<std::string> sentences = advice(program.profile());
    ASSERT_FALSE(sentences.empty());
    EXPECT_NE(std::string::npos, sentences[0].find("range 'data'")) << sentences[0];
    EXPECT_NE(std::string::npos, sentences[0].find("idle for 100.0 %")) << sentences[0];
    EXPECT_NE(std::string::npos, sentences[0].find("4 instances")) << sentences[0];
    EXPECT_NE(std::string::npos, sentences[0].find("submitted nothing")) << sentences[0];
}

TEST(Advice, a_range_that_waits_for_the_device_is_none_in_which_nothing_is_submitted) {
    const Profile profile = Program()
                                .range("step", {0, 900'000})
                                .kernel("a", 1, {100, 100'000})
                                .call("cudaDeviceSynchronize", {50, 850'000})
                                .kernel("a", 860'000, {900'000, 1'000'000})
                                .profile();
    for (const std::string& sentence : advice(profile)) {
        EXPECT_EQ(std::string::npos, sentence.find("submitted nothing")) << sentence;
    }
}

TEST(Advice, names_what_costs_most_first) {
    const Profile profile = Program()
                                .kernel("a", 1, {0, 100'000})
                                .call("cudaDeviceSynchronize", {50, 100'100})
                                .kernel("a", 800'000, {900'000, 1'000'000})
                                .profile();
    const std::vector<std::string> sentences = advice(profile);
    ASSERT_FALSE(sentences.empty());
    EXPECT_NE(std::string::npos, sentences[0].find("cudaDeviceSynchronize")) << sentences[0];
    EXPECT_NE(std::string::npos, sentences[0].find("80.0 %")) << sentences[0];
    EXPECT_LE(advice(profile, 1).size(), 1u);
}

/// CUpti_ActivityOverheadKind.
constexpr std::uint32_t driver_compiler = 1, cupti_flush = 1 << 16, cupti_resource = 3 << 16,
                        module_loading = 4 << 16, function_loading = 5 << 16,
                        command_buffer_full = 6 << 16;

bool any_has(const std::vector<std::string>& sentences, const std::string& words) {
    return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) {
        return sentence.find(words) != std::string::npos;
    });
}

TEST(Overheads, what_the_driver_does_is_not_on_cuptis_account) {
    const Profile profile = Program()
                                .kernel("a", 1, {100, 1'000})
                                .overhead(cupti_flush, {0, 50})
                                .overhead(cupti_resource, {40, 60})
                                .overhead(driver_compiler, {100, 300})
                                .overhead(command_buffer_full, {300, 310})
                                .overhead(0, {400, 500})
                                .profile();
    EXPECT_EQ(60u, profile.overhead_ns);
    ASSERT_EQ(5u, profile.overheads.size());
    const std::vector<std::string> said = notes(profile);
    EXPECT_TRUE(any_has(said, "CUPTI itself took 60.00 ns"));
    EXPECT_TRUE(any_has(said, "driver compiler 200.0 ns (1 time), command buffer full 10.00 ns"));
    EXPECT_FALSE(any_has(notes(Program().overhead(driver_compiler, {1, 2}).profile()), "CUPTI"));
}

TEST(Overheads, loading_counts_once_and_within_what_is_reported) {
    const Profile profile = Program()
                                .overhead(module_loading, {0, 100})  // the program starts
                                .kernel("a", 100, {100, 200})
                                .overhead(module_loading, {200, 400})
                                .overhead(function_loading, {300, 500})
                                .overhead(driver_compiler, {600, 700})
                                .kernel("b", 900, {900, 1'000})
                                .profile();
    EXPECT_EQ(300u, profile.loading_ns);
    EXPECT_EQ(100u, profile.compiling_ns);
    EXPECT_TRUE(any_has(advice(profile, 10), "loaded modules and functions for 300.0 ns (33.3 %"));
    EXPECT_TRUE(any_has(advice(profile, 10), "compiled PTX for 100.0 ns (11.1 %"));
    const Profile before =
        Program().overhead(module_loading, {0, 100}).kernel("a", 100, {100, 200}).profile();
    EXPECT_EQ(0u, before.loading_ns);
    EXPECT_FALSE(any_has(advice(before, 10), "loaded"));
}

TEST(Advice, busy_is_told_with_how_full_the_gpu_was) {
    Program program;  // kernels of 8 blocks
    program.kernel("a", 1, {0, 100'000});
    EXPECT_FALSE(program.profile().knows_sms());
    EXPECT_FALSE(any_has(advice(program.profile(), 10), "SMs"));
    const Profile full = Program(program).device(16).profile();
    EXPECT_TRUE(full.knows_sms());
    EXPECT_FALSE(any_has(advice(full, 10), "SMs"));
    const Profile sparse = program.device(17).profile();
    EXPECT_DOUBLE_EQ(1, sparse.program.underfilled_share());
    EXPECT_TRUE(any_has(advice(sparse, 10), "busy for 100.0 % of the time, but 100.0 % of the"));
}

TEST(Nesting, the_innermost_open_range_of_a_thread) {
    const Program program = Program()
                                .range("outer", {10, 100})
                                .range("inner", {20, 40})
                                .range("elsewhere", {0, 200}, other_thread)
                                .range("second", {40, 50});
    const Timeline timeline(program.recording());
    const Nesting nesting(timeline);
    const auto name_at = [&](std::uint32_t thread, std::uint64_t time) {
        const auto range = nesting.at(thread, time);
        return range ? timeline.range_name(timeline.ranges()[*range]) : "";
    };
    EXPECT_EQ(name_at(main_thread, 9), "");
    EXPECT_EQ(name_at(main_thread, 10), "outer");
    EXPECT_EQ(name_at(main_thread, 39), "inner");
    EXPECT_EQ(name_at(main_thread, 40), "second");
    EXPECT_EQ(name_at(main_thread, 50), "outer");
    EXPECT_EQ(name_at(main_thread, 100), "");
    EXPECT_EQ(name_at(other_thread, 30), "elsewhere");
    EXPECT_EQ(name_at(3, 30), "");
    EXPECT_EQ(nesting.parent(0), std::nullopt);  // elsewhere
    EXPECT_EQ(nesting.parent(2), 1u);
    EXPECT_EQ(nesting.depth(2), 1u);
    EXPECT_EQ(nesting.parent(3), 1u);
}

TEST(Nesting, ranges_that_overlap_without_nesting) {
    const Program program =
        Program().range("first", {0, 20}).range("second", {10, 40}).range("third", {30, 50});
    const Timeline timeline(program.recording());
    const Nesting nesting(timeline);
    EXPECT_EQ(nesting.at(main_thread, 15), 1u);
    EXPECT_EQ(nesting.at(main_thread, 25), 1u);
    EXPECT_EQ(nesting.at(main_thread, 45), 2u);
    EXPECT_EQ(nesting.at(main_thread, 50), std::nullopt);
    EXPECT_EQ(nesting.depth(2), 2u);
}

}  // namespace
}  // namespace perfgate::activity
