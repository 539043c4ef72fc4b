// SPDX-License-Identifier: Apache-2.0
// Counters in a program whose driver and CUPTI are mocks: which launches are counted, what is
// refused and why, and that the program does not notice.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>
#include <vector>

#include "activity/recording.hpp"
#include "inject/counter_request.hpp"
#include "injected_program.hpp"

namespace perfgate::inject {
namespace {

using activity::CounterFate;
using activity::Recording;
using Reasons = std::vector<std::string>;
using Sequence = std::vector<std::string>;

class Counting : public Injection {
  protected:
    Counting() {
        settings_.level = Level::counters;
        request_.labels = {{"*flash*", "", false, 0, 1}};
        request_.counters = {{"dram__bytes.sum"}, {"smsp__inst_executed.sum"}};
    }

    /// The recording of the program that does what the words say.
    Recording counted(const Words& words) {
        settings_.counters = to_text(request_);
        for (const auto& file : files()) std::filesystem::remove(file);
        run(words);
        return recording();
    }

    CounterRequest request_;
};

Sequence sequence(const Recording& recording) {
    Sequence names;
    for (const auto& launch : recording.records.launches) {
        const auto& configuration = recording.configurations[launch.configuration];
        names.push_back(recording.text(configuration.symbol) + "/" +
                        std::to_string(configuration.grid[0]));
    }
    return names;
}

/// By counter, the values of the label's launches.
std::map<std::string, std::vector<double>> values(const Recording& recording,
                                                  std::uint32_t label = 0) {
    std::map<std::string, std::vector<double>> found;
    for (const auto& launch : recording.records.counted_launches) {
        for (const auto& each : recording.records.counter_values) {
            if (launch.label != label || each.launch != launch.launch) continue;
            found[recording.text(each.counter)].push_back(std::bit_cast<double>(each.bits));
        }
    }
    return found;
}

Reasons refusals(const Recording& recording) {
    Reasons reasons;
    for (const auto& each : recording.records.counter_refusals) {
        reasons.push_back(recording.text(each.reason));
    }
    return reasons;
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

using Values = std::map<std::string, std::vector<double>>;

TEST_F(Counting, cuda_12_counts_from_12_6_on_and_says_that_older_ones_cannot) {
    settings_.cupti = PERFGATE_MOCK_FOLDER "/libcupti.so.13";
    const Values with_13 = values(counted({"kernels", "3", "flash"}));
    settings_.cupti = PERFGATE_MOCK_FOLDER "/1209/libcupti.so.12";
    EXPECT_EQ(with_13, values(counted({"kernels", "3", "flash"})));
    EXPECT_FALSE(with_13.empty());
    settings_.cupti = PERFGATE_MOCK_FOLDER "/1204/libcupti.so.12";
    const Recording without = counted({"kernels", "3", "flash"});
    EXPECT_EQ(Values{}, values(without));
    ASSERT_EQ(1u, without.incomplete.size());
    EXPECT_TRUE(contains(without.incomplete[0], "12.4 (22)"));
    EXPECT_TRUE(contains(without.incomplete[0], "12.6 update 2"));
}

TEST_F(Counting, counts_the_first_launch_after_those_to_skip) {
    request_.labels[0].skip = 2;
    const Recording recording =
        counted({"kernels", "2", "flash", "grid", "3", "kernels", "1", "gemm", "copy", "64",
                 "kernels", "2", "flash", "kernels", "9", "gemm"});
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ("exit", recording.end);
    EXPECT_EQ("counters", recording.field("level"));
    // The sequence ends with the last launch that matters.
    EXPECT_EQ((Sequence{"flash/8", "flash/8", "gemm/3", "flash/3"}), sequence(recording));
    EXPECT_EQ((Values{{"dram__bytes.sum", {3 * 4096}}, {"smsp__inst_executed.sum", {300}}}),
              values(recording));
    EXPECT_EQ(Reasons{}, refusals(recording));
    ASSERT_EQ(1u, recording.records.counter_passes.size());
    EXPECT_EQ(1u, recording.records.counter_passes[0].passes);
    EXPECT_EQ("GH100", recording.text(recording.records.counter_passes[0].chip));
    EXPECT_TRUE(recording.records.kernels.empty());
}

TEST_F(Counting, only_launches_of_the_size_of_the_label) {
    request_.labels[0].size.grid = {16, 1, 1};
    request_.labels[0].skip = 1;
    const Recording recording =
        counted({"grid", "8", "kernels", "2", "flash_fwd", "grid", "16", "kernels", "2",
                 "flash_fwd", "grid", "8", "kernels", "1", "flash_fwd"});
    ASSERT_EQ(1U, recording.records.counted_launches.size());
    EXPECT_EQ(3U, recording.records.counted_launches[0].launch);
    request_.labels[0].size = {{16, 1, 1}, {64, 1, 1}};
    EXPECT_TRUE(
        counted({"grid", "16", "kernels", "2", "flash_fwd"}).records.counted_launches.empty());
}

TEST_F(Counting, as_many_launches_as_asked_for_and_of_all_labels) {
    request_.labels = {{"*flash*", "", false, 1, 2}, {"flash_bwd", "", false, 0, 1}};
    const Recording recording =
        counted({"kernels", "1", "flash_fwd", "grid", "5", "kernels", "1", "flash_bwd", "grid", "6",
                 "kernels", "1", "flash_fwd", "kernels", "1", "flash_fwd"});
    EXPECT_EQ((std::vector<double>{500, 600}), values(recording, 0)["smsp__inst_executed.sum"]);
    EXPECT_EQ((std::vector<double>{500}), values(recording, 1)["smsp__inst_executed.sum"]);
    EXPECT_EQ(3u, recording.records.launches.size());
}

TEST_F(Counting, within_ranges_alone) {
    request_.labels[0].within = "step*";
    request_.labels[0].skip = 1;
    const Recording recording =
        counted({"kernels", "1",    "flash", "push",    "step 1", "kernels", "1",   "flash",
                 "pop",     "push", "load",  "kernels", "1",      "flash",   "pop", "push",
                 "step 2",  "grid", "7",     "kernels", "2",      "flash",   "pop"});
    EXPECT_EQ((std::vector<double>{700}), values(recording)["smsp__inst_executed.sum"]);
    EXPECT_EQ(4u, recording.records.launches.size());
}

TEST_F(Counting, ranges_that_open_before_cuda_is_used) {
    request_.labels[0].within = "step";
    const Recording recording =
        counted({"noinit", "push", "step", "init", "kernels", "1", "flash", "pop"});
    EXPECT_EQ((std::vector<double>{800}), values(recording)["smsp__inst_executed.sum"]);
}

TEST_F(Counting, a_range_of_another_thread) {
    // Each thread launches in its own range.
    request_.labels = {{"threaded", "thread", true, 0, 4}};
    const Recording recording = counted({"threads", "4"});
    EXPECT_EQ(4u, values(recording)["smsp__inst_executed.sum"].size());
    request_.labels = {{"flash", "thread", true, 0, 1}};
    EXPECT_TRUE(values(counted({"threads", "2", "kernels", "1", "flash"})).empty());
}

TEST_F(Counting, what_goes_into_one_pass_and_what_becomes_of_the_rest) {
    request_.counters = {{"dram__bytes.sum"},
                         {"smsp__inst_executed.sum"},
                         {"nothing__like_it.sum", "gpu__time_duration.sum"},
                         {"nothing__at_all.sum"},
                         {"dram__bytes"},
                         {"sm__throughput.avg.pct_of_peak_sustained_elapsed"},
                         {"smsp__sass_data_bytes_mem_global_op_ld.sum"}};
    std::map<std::string, std::pair<CounterFate, std::uint32_t>> plan;
    std::map<std::string, std::vector<double>> all;
    for (std::uint32_t pass = 0; pass < 3; ++pass) {
        request_.pass = pass;
        const Recording recording = counted({"kernels", "1", "flash"});
        ASSERT_EQ(1u, recording.records.counter_passes.size());
        EXPECT_EQ(pass, recording.records.counter_passes[0].pass);
        EXPECT_EQ(3u, recording.records.counter_passes[0].passes);
        for (const auto& each : recording.records.planned_counters) {
            plan[recording.text(each.counter)] = {each.fate, each.number};
        }
        all.merge(values(recording));
    }
    using Plan = std::map<std::string, std::pair<CounterFate, std::uint32_t>>;
    EXPECT_EQ((Plan{{"dram__bytes.sum", {CounterFate::counted, 0}},
                    {"smsp__inst_executed.sum", {CounterFate::counted, 0}},
                    {"gpu__time_duration.sum", {CounterFate::counted, 1}},
                    {"smsp__sass_data_bytes_mem_global_op_ld.sum", {CounterFate::counted, 2}},
                    {"nothing__at_all.sum", {CounterFate::absent, 0}},
                    {"dram__bytes", {CounterFate::absent, 0}},
                    {"sm__throughput.avg.pct_of_peak_sustained_elapsed",
                     {CounterFate::several_passes, 8}}}),
              plan);
    EXPECT_EQ((Values{{"dram__bytes.sum", {8 * 4096}},
                      {"smsp__inst_executed.sum", {800}},
                      {"gpu__time_duration.sum", {80}},
                      {"smsp__sass_data_bytes_mem_global_op_ld.sum", {8 * 2048}}}),
              all);
    request_.pass = 3;
    EXPECT_TRUE(values(counted({"kernels", "1", "flash"})).empty());
}

TEST_F(Counting, a_kernel_that_is_captured_is_refused_even_after_a_launch) {
    for (const Words& words : {Words{"capture", "2", "=flash", "graph", "2"},
                               Words{"kernels", "1", "flash", "capture", "1", "=flash"},
                               Words{"kernels", "1", "flash", "node", "flash"}}) {
        const Recording recording = counted(words);
        EXPECT_EQ(Reasons{}, recording.incomplete);
        EXPECT_EQ(Reasons{"flash is in a CUDA graph, where launches cannot be counted one by one"},
                  refusals(recording));
    }
    // Other kernels may be.
    EXPECT_EQ(
        Reasons{},
        refusals(counted({"capture", "2", "node", "gemm", "graph", "2", "kernels", "1", "flash"})));
}

TEST_F(Counting, a_capture_is_seen_after_one_whose_begin_was_not) {
    const Recording recording =
        counted({"endcapture", "kernels", "1", "gemm", "capture", "1", "=flash"});
    EXPECT_EQ(Reasons{"flash is in a CUDA graph, where launches cannot be counted one by one"},
              refusals(recording));
}

TEST_F(Counting, kernels_that_wait_for_others_are_refused_and_not_touched) {
    request_.labels = {{"*", "", false, 0, 1}};
    const Recording recording = counted({"kernels", "1", "ncclSymkDevKernel_AllReduce_AGxLL_R"});
    ASSERT_EQ(1u, refusals(recording).size());
    EXPECT_TRUE(contains(refusals(recording)[0], "waits for other kernels"));
    EXPECT_TRUE(recording.records.counter_passes.empty());
}

TEST_F(Counting, several_contexts_are_refused) {
    request_.labels[0].count = 2;
    EXPECT_TRUE(contains(
        refusals(counted({"kernels", "1", "flash", "context", "3", "kernels", "1", "flash"}))[0],
        "several contexts or on several GPUs"));
    EXPECT_TRUE(contains(refusals(counted({"context", "2", "kernels", "1", "gemm", "context", "1",
                                           "kernels", "2", "flash"}))[0],
                         "several contexts on the GPU"));
    // Kernels on another GPU are not in these counters.
    const Recording other =
        counted({"context", "3", "kernels", "1", "gemm", "context", "1", "kernels", "2", "flash"});
    EXPECT_EQ(Reasons{}, refusals(other));
    EXPECT_EQ(2u, values(other)["dram__bytes.sum"].size());
    EXPECT_EQ(2u, other.records.devices.size());
}

TEST_F(Counting, what_the_device_refuses_is_the_reason) {
    const auto reason = [&](const std::string& variable, const std::string& value) {
        environment_ = {{variable, value}};
        const Recording recording = counted({"kernels", "1", "flash", "kernels", "1", "flash"});
        EXPECT_EQ(Reasons{}, recording.incomplete);
        EXPECT_TRUE(recording.records.counter_values.empty());
        const Reasons all = refusals(recording);
        return all.size() == 1 ? all[0] : "";
    };
    EXPECT_TRUE(contains(reason("MOCK_COUNTERS_ERROR", "35"), "only administrators"));
    EXPECT_TRUE(contains(reason("MOCK_BUSY", "26"), "another program holds"));
    EXPECT_TRUE(contains(reason("MOCK_UNSUPPORTED", "1"), "confidential computing is on"));
    EXPECT_TRUE(contains(reason("MOCK_RANGES", "1"), "counters of 2 launches instead of one"));
    EXPECT_TRUE(contains(reason("MOCK_RANGES", "-1"), "counters of 0 launches instead of one"));
    EXPECT_TRUE(contains(reason("MOCK_ALL_PASSES", "0"), "another pass than the one"));
}

TEST_F(Counting, a_counter_without_a_number_is_left_out) {
    environment_ = {{"MOCK_NAN", "dram__bytes.sum"}};
    const Recording recording = counted({"kernels", "1", "flash"});
    EXPECT_EQ(Reasons{}, refusals(recording));
    EXPECT_EQ((Values{{"smsp__inst_executed.sum", {800}}}), values(recording));
}

TEST_F(Counting, a_launch_that_fails_is_not_counted) {
    request_.labels = {{"*", "", false, 0, 1}};
    const Recording recording = counted({"fail", "1", "kernels", "1", "flash"});
    EXPECT_EQ(Reasons{"the launch to count failed"}, refusals(recording));
    EXPECT_TRUE(recording.records.counter_values.empty());
}

TEST_F(Counting, another_profiler_or_an_old_cupti_makes_it_incomplete) {
    environment_ = {{"MOCK_HOLDER", "Nsight"}};
    Recording recording = counted({"kernels", "1", "flash"});
    ASSERT_EQ(1u, recording.incomplete.size());
    EXPECT_TRUE(contains(recording.incomplete[0], "held by \"Nsight\""));
    environment_ = {{"MOCK_VERSION", "130000"}};
    recording = counted({"kernels", "1", "flash"});
    ASSERT_EQ(1u, recording.incomplete.size());
    EXPECT_TRUE(contains(recording.incomplete[0], "13.0 (130000)"));
}

TEST_F(Counting, a_request_that_cannot_be_read_is_said) {
    settings_.counters = "3:flash";
    run({"kernels", "1", "flash"});
    EXPECT_EQ(Reasons{"the request for counters cannot be read"}, recording().incomplete);
}

TEST_F(Counting, a_program_that_leaves_or_dies_is_incomplete) {
    for (const std::string end : {"leave", "crash", "terminate"}) {
        settings_.counters = to_text(request_);
        for (const auto& file : files()) std::filesystem::remove(file);
        wait(start({"kernels", "1", "flash", end}));
        const Recording recording = this->recording();
        ASSERT_EQ(1u, recording.incomplete.size()) << end;
        EXPECT_TRUE(contains(recording.incomplete[0], "has no end"));
        // What was counted is there.
        EXPECT_EQ(1u, values(recording)["dram__bytes.sum"].size());
    }
}

TEST_F(Counting, a_fork_leaves_the_parents_recording_alone) {
    request_.labels[0].kernel = "*";
    request_.labels[0].skip = 5;
    const Recording recording =
        counted({"kernels", "5", "before", "fork", "kernels", "1", "after"});
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ((Sequence{"before/8", "before/8", "before/8", "before/8", "before/8", "after/8"}),
              sequence(recording));
}

TEST_F(Counting, cupti_13_3) {
    environment_ = {{"MOCK_VERSION", "130300"}};
    EXPECT_EQ((std::vector<double>{800}),
              values(counted({"kernels", "1", "flash"}))["smsp__inst_executed.sum"]);
}

TEST_F(Counting, a_fork_before_the_driver_is_initialised_leaves_no_lock) {
    request_.labels[0].within = "step";
    const Recording recording =
        counted({"noinit", "push", "step", "forkbusy", "init", "kernels", "1", "flash", "pop"});
    EXPECT_EQ((std::vector<double>{800}), values(recording)["smsp__inst_executed.sum"]);
}

TEST_F(Counting, launches_of_other_threads_are_not_in_the_counters) {
    request_.labels = {{"threaded", "", false, 100, 20}};
    const Recording recording = counted({"threads", "4"});
    EXPECT_EQ(Reasons{}, refusals(recording));
    EXPECT_EQ(std::vector<double>(20, 800), values(recording)["smsp__inst_executed.sum"]);
}

TEST_F(Counting, a_program_without_a_matching_kernel_has_its_sequence) {
    const Recording recording = counted({"kernels", "3", "gemm"});
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ(3u, recording.records.launches.size());
    EXPECT_TRUE(recording.records.counter_passes.empty());
    for (const auto& file : files()) std::filesystem::remove(file);
    run({"noinit"});
    EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace perfgate::inject
