// SPDX-License-Identifier: Apache-2.0
// Counters of a program from the recordings of its passes, which are made here.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "inject/counter_request.hpp"
#include "kinds/command/batch_results.hpp"
#include "kinds/command/counter_passes.hpp"

namespace perfgate::command {
namespace {

using activity::CounterFate;
using Values = std::vector<std::pair<std::string, double>>;

constexpr std::string_view dram = "dram__bytes.sum", instructions = "smsp__inst_executed.sum";

/// The recording of one process in one pass.
class Process {
  public:
    explicit Process(std::uint32_t pass, std::uint32_t passes = 2) {
        recording_.header = {{"command", "train.py"}, {"level", "counters"}};
        recording_.strings = {""};
        recording_.configurations.resize(1);
        recording_.records.counter_passes.push_back({pass, passes, text("GH100"), 0});
        planned(dram, CounterFate::counted, 0).planned(instructions, CounterFate::counted, 1);
    }

    Process& header(const std::string& key, const std::string& value) {
        recording_.header[key] = value;
        return *this;
    }
    Process& planned(std::string_view counter, CounterFate fate, std::uint32_t number) {
        recording_.records.planned_counters.push_back({text(counter), fate, number, 0});
        return *this;
    }
    Process& launch(const std::string& symbol, std::uint32_t grid = 8) {
        activity::LaunchConfiguration configuration;
        configuration.id = static_cast<std::uint32_t>(recording_.configurations.size());
        configuration.symbol = text(symbol);
        configuration.grid = {grid, 1, 1};
        configuration.block = {128, 1, 1};
        recording_.configurations.push_back(configuration);
        recording_.records.launches.push_back({configuration.id});
        return *this;
    }
    /// The last launch.
    Process& counted(std::uint32_t label, const Values& values) {
        const std::uint64_t place = recording_.records.launches.size() - 1;
        recording_.records.counted_launches.push_back({place, label, 0});
        for (const auto& [name, value] : values) {
            recording_.records.counter_values.push_back(
                {place, std::bit_cast<std::uint64_t>(value), text(name), 0});
        }
        return *this;
    }
    Process& refused(std::uint32_t label, const std::string& reason) {
        recording_.records.counter_refusals.push_back({label, text(reason)});
        return *this;
    }
    Process& gpu(std::uint8_t uuid) {
        activity::Device device;
        device.uuid[0] = uuid;
        recording_.records.devices.push_back(device);
        return *this;
    }
    Process& incomplete(const std::string& why) {
        recording_.incomplete.push_back(why);
        return *this;
    }
    Process& without_plan() {
        recording_.records.counter_passes.clear();
        recording_.records.planned_counters.clear();
        return *this;
    }
    operator activity::Recording() const { return recording_; }

  private:
    activity::StringId text(std::string_view value) {
        recording_.strings.emplace_back(value);
        return static_cast<activity::StringId>(recording_.strings.size() - 1);
    }

    activity::Recording recording_;
};

/// Two passes of one process that launches the same.
std::vector<Recordings> usual() {
    return {
        {Process(0).launch("gemm").launch("flash").counted(0, {{std::string(dram), 4096}})},
        {Process(1).launch("gemm").launch("flash").counted(0, {{std::string(instructions), 100}})}};
}

metrics::Metric metric(std::string_view name) {
    return *metrics::find_metric(name);
}

ProgramCounters counters_of(const std::vector<Recordings>& passes, std::size_t labels,
                            std::uint64_t count = 1) {
    CounterPasses combined(std::vector<std::uint64_t>(labels, count));
    for (const Recordings& pass : passes) combined.add(pass);
    return combined.take();
}

/// Why there is no value of the metric; "" if there is one.
std::string problem(const std::vector<Recordings>& passes, std::string_view name = "dram_bytes",
                    std::size_t labels = 1, std::size_t label = 0, std::uint64_t count = 1) {
    const CounterMetric found = metric_of(counters_of(passes, labels, count), label, metric(name));
    EXPECT_EQ(found.problem.empty(), !found.samples.empty());
    return found.problem;
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(ProgramCounters, are_combined_from_all_passes) {
    const auto passes = usual();
    EXPECT_EQ(2u, passes_needed(passes[0]));
    const ProgramCounters counters = counters_of(passes, 1);
    EXPECT_EQ("", counters.problem);
    EXPECT_EQ("GH100", counters.chip);
    EXPECT_EQ(std::vector<double>{4096}, metric_of(counters, 0, metric("dram_bytes")).samples);
    EXPECT_EQ(std::vector<double>{100}, metric_of(counters, 0, metric("instructions")).samples);
    EXPECT_EQ(std::vector<double>{100},
              metric_of(counters, 0, metric("smsp__inst_executed.sum")).samples);
}

TEST(ProgramCounters, another_sequence_says_where_it_differs_first) {
    auto passes = usual();
    passes[1] = {Process(1)
                     .launch("gemm", 16)
                     .launch("flash")
                     .counted(0, {{std::string(instructions), 100}})};
    EXPECT_TRUE(contains(problem(passes),
                         "launch 1 was gemm with grid 8x1x1 and block 128x1x1 in pass 1 and gemm "
                         "with grid 16x1x1 and block 128x1x1 in pass 2"))
        << problem(passes);
    passes[1] = {Process(1)
                     .launch("gemm")
                     .launch("_Z4softPf")
                     .launch("flash")
                     .counted(0, {{std::string(instructions), 100}})};
    EXPECT_TRUE(contains(problem(passes),
                         "launch 2 was flash with grid 8x1x1 and block 128x1x1 in "
                         "pass 1 and soft(float*) with grid"))
        << problem(passes);
    passes[1] = {Process(1).launch("gemm")};
    EXPECT_TRUE(contains(problem(passes), "launch 2 was flash with")) << problem(passes);
    EXPECT_TRUE(contains(problem(passes), "and no launch in pass 2")) << problem(passes);
}

TEST(ProgramCounters, other_launches_were_counted) {
    auto passes = usual();
    passes[1] = {
        Process(1).launch("gemm").counted(0, {{std::string(instructions), 1}}).launch("flash")};
    EXPECT_TRUE(contains(problem(passes), "counted in pass 2 are not those of pass 1"));
}

TEST(ProgramCounters, a_missing_or_mislabelled_pass_is_no_value) {
    auto passes = usual();
    passes.pop_back();
    EXPECT_EQ("1 of 2 counter passes are missing", problem(passes));
    passes = usual();
    std::swap(passes[0], passes[1]);
    EXPECT_EQ("the recording of counter pass 1 is of pass 2", problem(passes));
    passes = usual();
    passes[1] = {Process(1).launch("gemm").launch("flash").counted(0, {{std::string(dram), 1}})};
    EXPECT_EQ("pass 2 has a counter of another pass", problem(passes));
    passes[1] = {};
    EXPECT_TRUE(contains(problem(passes), "launched kernels in pass 1 and 0 in pass 2"));
    EXPECT_EQ("no process of the program launched a kernel", problem({{}}));
    EXPECT_EQ("no process of the program launched a kernel", problem({}));
}

TEST(ProgramCounters, an_incomplete_recording_is_no_value) {
    auto passes = usual();
    passes[1] = {Process(1)
                     .launch("gemm")
                     .launch("flash")
                     .counted(0, {{std::string(instructions), 100}})
                     .incomplete("the recording has no end")};
    EXPECT_EQ("the recording of counter pass 2 is incomplete: the recording has no end",
              problem(passes));
}

TEST(ProgramCounters, a_refusal_in_one_pass_is_the_reason_of_its_label_alone) {
    auto passes = usual();
    for (std::uint32_t pass = 0; pass < 2; ++pass) {
        Process process(pass);
        process.launch("gemm").launch("flash");
        process.counted(0, {{std::string(pass == 0 ? dram : instructions), 7}});
        if (pass == 1) process.refused(1, "it is in a CUDA graph");
        passes[pass] = {process};
    }
    EXPECT_EQ("it is in a CUDA graph", problem(passes, "dram_bytes", 2, 1));
    EXPECT_EQ("", problem(passes, "dram_bytes", 2, 0));
}

TEST(ProgramCounters, a_label_without_a_launch_has_no_value) {
    EXPECT_EQ("no matching kernel was launched to be counted",
              problem(usual(), "dram_bytes", 2, 1));
    EXPECT_EQ("no matching kernel was launched to be counted",
              problem({{Process(0).without_plan().launch("gemm")}}));
}

TEST(ProgramCounters, a_counter_without_a_number_is_no_value) {
    auto passes = usual();
    for (const double value : {std::nan(""), HUGE_VAL}) {
        passes[0] = {
            Process(0).launch("gemm").launch("flash").counted(0, {{std::string(dram), value}})};
        EXPECT_TRUE(contains(problem(passes), "the device gave no number"));
        EXPECT_EQ("", problem(passes, "instructions"));
    }
    passes[0] = {Process(0).launch("gemm").launch("flash").counted(0, {})};
    EXPECT_TRUE(contains(problem(passes), "the device gave no number"));
}

TEST(ProgramCounters, what_the_chip_lacks_or_counts_in_several_passes) {
    std::vector<Recordings> passes{{Process(0, 1)
                                        .planned("sm__throughput.avg.pct_of_peak_sustained_elapsed",
                                                 CounterFate::several_passes, 8)
                                        .launch("flash")
                                        .counted(0, {{std::string(dram), 1}})}};
    EXPECT_TRUE(contains(problem(passes, "sm_throughput"), "needs 8 passes by itself"));
    EXPECT_TRUE(contains(problem(passes, "nothing__here.sum"), "GH100 has no counter"));
    // Blackwell does not count it.
    Process blackwell(0, 1);
    blackwell.launch("flash").counted(0, {{std::string(dram), 1}});
    activity::Recording recording = blackwell;
    recording.strings[recording.records.counter_passes[0].chip] = "GB100";
    EXPECT_TRUE(
        metric_of(counters_of(std::vector<Recordings>{{recording}}, 1), 0, metric("stall_imc_miss"))
            .not_applicable);
}

TEST(ProgramCounters, what_the_chip_does_not_count_does_not_apply_to_the_case) {
    Process blackwell(0, 1);
    blackwell.launch("flash").counted(0, {{std::string(dram), 4096}});
    activity::Recording recording = blackwell;
    recording.strings[recording.records.counter_passes[0].chip] = "GB100";
    Piece kernels;
    kernels.kind = Piece::Kind::kernels;
    model::PlannedCase planned;
    planned.subject = std::make_shared<const Program>(std::make_shared<const Command>(), kernels);
    planned.metrics = {"dram_bytes", "stall_imc_miss"};
    measure::ProgramRequest request;
    request.cases = {&planned};
    std::vector<model::CaseResult> results(1);
    results[0].status = model::CaseStatus::measured;
    results[0].kernels.resize(1);
    results[0].kernels[0].name = "flash";
    results[0].kernels[0].grid = {8, 1, 1};
    BatchResults(request, results)
        .add_counters(counters_of(std::vector<Recordings>{{recording}}, 1), {0});
    EXPECT_EQ(results[0].not_applicable, std::vector<std::string>{"stall_imc_miss"});
    EXPECT_TRUE(results[0].not_collected.empty());
    EXPECT_EQ(results[0].metrics.at("dram_bytes").batches.at(0).samples, std::vector{4096.0});
}

TEST(BatchResults, only_cases_with_metrics_over_time_are_sampled) {
    std::vector<model::PlannedCase> planned(3);
    planned[0].metrics = {"gpu_time", "launches"};
    planned[1].metrics = {"gpu_time", "sm_active"};
    planned[2].metrics = {"of_no_metric"};
    measure::ProgramRequest request;
    for (model::PlannedCase& each : planned) {
        each.subject = std::make_shared<const Program>(std::make_shared<const Command>(), Piece());
        request.cases.push_back(&each);
    }
    std::vector<model::CaseResult> results(3);
    EXPECT_EQ(BatchResults(request, results).sampled_cases(), std::vector<std::size_t>{1});
}

TEST(ProgramCounters, processes_on_their_own_gpus_are_all_counted) {
    const auto of_ranks = [](std::uint8_t second_gpu, const std::string& second_rank) {
        std::vector<Recordings> passes;
        for (std::uint32_t pass = 0; pass < 2; ++pass) {
            const std::string counter(pass == 0 ? dram : instructions);
            // In another order in each pass.
            Recordings run{
                Process(pass).header("rank", "0").gpu(1).launch("k").counted(0, {{counter, 5}}),
                Process(pass)
                    .header("rank", second_rank)
                    .gpu(second_gpu)
                    .launch("l")
                    .counted(0, {{counter, 6}})};
            if (pass == 1) std::swap(run[0], run[1]);
            passes.push_back(run);
        }
        return passes;
    };
    const CounterMetric both = metric_of(counters_of(of_ranks(2, "1"), 1), 0, metric("dram_bytes"));
    EXPECT_EQ((std::vector<double>{5.5}), both.samples);
    EXPECT_EQ(2u, both.processes);
    EXPECT_TRUE(contains(problem(of_ranks(1, "1")), "two processes launch kernels on one GPU"));
    EXPECT_TRUE(contains(problem(of_ranks(2, "0")), "cannot be told apart"));
}

/// One pass in which the launches have these instructions.
Process launches(const std::vector<double>& counts) {
    Process process(0, 1);
    for (const double count : counts) process.launch("k").counted(0, {{std::string(dram), count}});
    return process;
}

TEST(ProgramCounters, each_launch_counts_for_the_value) {
    const auto value = [](const std::vector<double>& counts) {
        return metric_of(counters_of({{launches(counts)}}, 1, 3), 0, metric("dram_bytes")).samples;
    };
    EXPECT_EQ(std::vector<double>{800}, value({800, 800, 800}));
    EXPECT_EQ(std::vector<double>{1600}, value({800, 800, 3200}));
}

TEST(ProgramCounters, fewer_launches_than_asked_for_are_no_value) {
    EXPECT_EQ("only 1 of the 3 launches to count were made",
              problem({{launches({800})}}, "dram_bytes", 1, 0, 3));
    // In one process of two.
    Recordings run{launches({1, 2}).header("rank", "0").gpu(1),
                   launches({1}).header("rank", "1").gpu(2)};
    EXPECT_EQ("only 1 of the 2 launches to count were made", problem({run}, "dram_bytes", 1, 0, 2));
    // One without any shows in the number of processes.
    run[1] = Process(0, 1).header("rank", "1").gpu(2).launch("other");
    EXPECT_EQ(1u, metric_of(counters_of({run}, 1, 2), 0, metric("dram_bytes")).processes);
}

TEST(ProgramCounters, a_denominator_of_0_is_another_reason_than_no_number) {
    // A quotient for each launch; ratios of sums are 0.
    metrics::Metric quotient = metric("sectors_per_request_load");
    quotient.definition.fold = model::Fold::max;
    const std::set<std::string> names = metrics::counters_of(quotient);
    ASSERT_EQ(2u, names.size());
    const auto why = [&](double first) {
        Process process(0, 1);
        Values values;
        for (const std::string& name : names) {
            process.planned(name, CounterFate::counted, 0);
            values.emplace_back(name, values.empty() ? first : 0);
        }
        process.launch("k").counted(0, values);
        return metric_of(counters_of({{process}}, 1), 0, quotient).problem;
    };
    EXPECT_EQ("the counters that it is divided by are 0", why(0));
    EXPECT_TRUE(contains(why(std::nan("")), "the device gave no number"));
}

TEST(ProgramCounters, the_counted_kernels_are_named) {
    const ProgramCounters counters = counters_of({{Process(0, 1)
                                                       .launch("gemm")
                                                       .launch("_Z4softPf", 5)
                                                       .counted(0, {{std::string(dram), 1}})}},
                                                 1);
    EXPECT_EQ((std::vector<CountedKernel>{{"soft(float*)", {5, 1, 1}}}),
              counters.labels[0].kernels);
}

TEST(ProgramCounters, more_launches_than_asked_for_are_refused) {
    EXPECT_TRUE(contains(problem({{launches({1, 2})}}), "more than 1 counted launches"));
    EXPECT_TRUE(contains(problem({{launches({1}).counted(0, {})}}, "dram_bytes", 1, 0, 2),
                         "a counted launch twice"));
    EXPECT_TRUE(contains(problem({{Process(0, 1).counted(0, {})}, {}}), "no process"));
    activity::Recording beyond = launches({1});
    beyond.records.counted_launches[0].launch = 1;
    EXPECT_TRUE(contains(problem({{beyond}}), "a launch that it does not have"));
}

TEST(ProgramCounters, hostile_numbers) {
    EXPECT_TRUE(contains(
        problem({{Process(0, 4'000'000'000U).launch("k").counted(0, {{std::string(dram), 1}})}}),
        "need 4000000000 runs of the program, at most 64 are allowed"));
    EXPECT_EQ(1u, passes_needed({Process(0, 4'000'000'000U)}));
    EXPECT_TRUE(contains(problem({{Process(0, 1).launch("k").counted(7, {})}}),
                         "a label that was not asked for"));
    EXPECT_TRUE(contains(problem({{Process(0, 1).launch("k").refused(~0U, "x")}}),
                         "a label that was not asked for"));
    EXPECT_TRUE(contains(
        problem({{Process(0, 1).without_plan().launch("k").counted(0, {{"a__b.sum", 1}})}}),
        "without saying of which pass"));
    EXPECT_TRUE(
        contains(problem({{Process(0, 1).launch("k").counted(0, {{"not__planned.sum", 1}})}}),
                 "a counter of another pass"));
}

TEST(ProgramCounters, the_plans_of_the_passes_must_agree) {
    auto passes = usual();
    passes[1] = {Process(1)
                     .planned("other__counter.sum", CounterFate::absent, 0)
                     .launch("gemm")
                     .launch("flash")
                     .counted(0, {{std::string(instructions), 100}})};
    EXPECT_TRUE(contains(problem(passes), "do not agree on which counters there are"));
}

TEST(CountersFor, names_each_counter_once_in_the_order_of_the_metrics) {
    const std::vector<metrics::Metric> wanted{metric("warp_efficiency"), metric("dram_read_bytes"),
                                              metric("instructions"), metric("occupancy")};
    EXPECT_EQ((std::vector<std::vector<std::string>>{
                  {"smsp__thread_inst_executed.sum"},
                  {"smsp__inst_executed.sum"},
                  {"dram__bytes_read.sum", "dram__bytes_op_read.sum"},
                  {"sm__warps_active.avg.pct_of_peak_sustained_active"},
                  {"gpu__time_duration.sum"}}),
              counters_for(wanted));
}

TEST(CounterRequest, survives_the_environment) {
    inject::CounterRequest request;
    request.labels = {{"*flash*", "step \n:3:\"", true, 7, 2}, {"", "", false, 0, 1}};
    request.counters = {{"a__b.sum", "c__d.sum"}, {}};
    request.pass = 3;
    const std::string text = inject::to_text(request);
    EXPECT_EQ(request, inject::counter_request_from(text));
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_FALSE(inject::counter_request_from(text.substr(0, size))) << size;
    }
    EXPECT_FALSE(inject::counter_request_from(text + "1:0"));
    EXPECT_FALSE(inject::counter_request_from("1:09:9999999991:0"));
    EXPECT_FALSE(inject::counter_request_from("1:018446744073709551615:"));
    EXPECT_FALSE(inject::counter_request_from("-1:0"));
}

}  // namespace
}  // namespace perfgate::command
