// SPDX-License-Identifier: Apache-2.0
#include "explain/explain.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "explain_documents.hpp"

namespace perfgate::explain {
namespace {

using documents::Case;
using documents::faster;
using documents::find;
using documents::slower;
using documents::timed;
using documents::unmoved;
using documents::why;
using model::Verdict;

std::vector<std::string> sentences(const std::vector<model::Cause>& causes) {
    std::vector<std::string> texts;
    texts.reserve(causes.size());
    for (const model::Cause& cause : causes) texts.push_back(cause.sentence);
    return texts;
}

TEST(Explain, CitesEveryFigureThatARuleRestsOn) {
    const auto causes = why(slower({{"registers", {96, 128}},
                                    {"theoretical_occupancy", {50, 37.5}},
                                    {"occupancy", {48, 36}}}));
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].rule, "registers");
    EXPECT_EQ(causes[0].sentence,
              "more registers, so that fewer warps fit: registers 96 → 128 (+33.3 %), "
              "theoretical_occupancy 50.00 % → 37.50 % (-12.5 points), occupancy 48.00 % → 36.00 % "
              "(-12.0 points); fewer warps hide less latency");
    const std::vector<model::Figure> expected = {{"registers", "registers", 96, 128},
                                                 {"theoretical_occupancy", "%", 50, 37.5},
                                                 {"occupancy", "%", 48, 36}};
    EXPECT_EQ(causes[0].figures, expected);
}

TEST(Explain, AnIdleShareThatRoseIsToldWithWhatTheHostDid) {
    Case made = unmoved({{"idle_share", {10, 40}}});
    made.verdict.verdict = Verdict::regressed;
    model::MetricVerdict& idle = made.verdict.metrics.emplace_back();
    idle.metric = "idle_share";
    idle.unit = "%";
    idle.verdict = Verdict::regressed;
    idle.baseline = 10;
    idle.measured = 40;
    const std::string detail = "after cudaStreamSynchronize 1.200 ms per instance";
    made.result.metrics["idle_share"].detail = detail;
    EXPECT_EQ(sentences(why(made)), std::vector<std::string>{"idle_share: " + detail});
    EXPECT_EQ(why(made)[0].brief, detail);
    made.verdict.metrics.back().verdict = Verdict::pass;
    EXPECT_EQ(find(why(made), "parts"), nullptr);
}

TEST(Explain, AFasterCaseIsToldWithoutARemedy) {
    EXPECT_EQ(sentences(why(faster({{"spill_sectors", {4096, 0}}}))),
              std::vector<std::string>{
                  "fewer spills to local memory: spill_sectors 4096 → 0 (-100.0 %)"});
}

TEST(Explain, ATimeThatNothingMovedWithIsUnexplained) {
    EXPECT_EQ(
        sentences(why(slower({{"cycles", {1e6, 1.2e6}}, {"instructions", {1000, 1000}}}))),
        std::vector<std::string>{
            "unexplained: gpu_time 100.0 µs → 120.0 µs (+20.0 %), cycles 1,000,000 → 1,200,000 "
            "(+20.0 %), and nothing that was counted moved with it (2 metrics); measure "
            "again, or count more (metric set 'full')"});
}

TEST(Explain, WhatMovesInNoKnownPatternIsNamed) {
    const auto causes = why(slower({{"cycles", {1e6, 1.2e6}},
                                    {"dram_throughput", {80, 60}},
                                    {"l2_throughput", {50, 10}},
                                    {"sm_throughput", {40, 37}}}));
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].sentence,
              "unexplained: gpu_time 100.0 µs → 120.0 µs (+20.0 %); no known cause "
              "fits, the largest changes are l2_throughput 50.00 % → 10.00 % (-40.0 points), "
              "dram_throughput 80.00 % → 60.00 % (-20.0 points)");
    EXPECT_EQ(causes[0].brief, "unexplained: l2_throughput moved, in no known pattern");
}

/// A case that a gated metric of its own failed, too.
Case also_failed(Case made, const std::string& metric, documents::Change change) {
    model::MetricVerdict& judged = made.verdict.metrics.emplace_back();
    judged.metric = metric;
    judged.unit = "count";
    judged.verdict = Verdict::regressed;
    judged.baseline = change.before;
    judged.measured = change.after;
    return made;
}

TEST(Explain, AGatedMetricThatRegressedTooIsNamedOnce) {
    // A benchmark's time, for which there are no rules.
    Case benchmark = slower({});
    benchmark.verdict.metrics[0].metric = "cpu_time";
    benchmark.result.command = {"./bench"};
    benchmark = also_failed(std::move(benchmark), "allocs", {1, 3});
    const auto causes = why(benchmark);
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].rule, "also_regressed");
    EXPECT_EQ(causes[0].figures, (std::vector<model::Figure>{{"allocs", "count", 1, 3}}));
    EXPECT_NE(causes[0].brief.find("allocs 1 → 3"), std::string::npos) << causes[0].brief;
    benchmark.verdict.metrics[1].verdict = Verdict::pass;
    EXPECT_TRUE(why(benchmark).empty());

    const auto of_kernel = why(also_failed(slower({}), "allocs", {100, 103}));
    ASSERT_EQ(of_kernel.size(), 1U) << "less than a tenth, and the unexplained time names it";
    EXPECT_EQ(of_kernel[0].figures.at(1).metric, "allocs");
    const auto by_rule = why(also_failed(slower({}), "instructions", {1000, 1200}));
    ASSERT_EQ(by_rule.size(), 1U);
    EXPECT_EQ(by_rule[0].rule, "instructions");
}

TEST(Explain, WhatMovedTheOtherWayDoesNotExplain) {
    const auto causes = why(slower({{"instructions", {1000, 900}}}));
    ASSERT_EQ(causes.size(), 2U);
    EXPECT_EQ(causes[0].rule, "unexplained");
    EXPECT_EQ(causes[1].sentence,
              "but fewer instructions for the same work: instructions 1000 → 900 (-10.0 %)");
}

TEST(Explain, WithoutCountersThatIsSaid) {
    EXPECT_EQ(sentences(why(slower({}))),
              std::vector<std::string>{
                  "unexplained: gpu_time 100.0 µs → 120.0 µs (+20.0 %), and the baseline and this "
                  "run have no counter in common"});
}

TEST(Explain, TimesOfTheHostHaveNoCounters) {
    Case made = slower({});
    made.verdict.metrics[0].metric = "host_time";
    EXPECT_EQ(sentences(why(made)),
              std::vector<std::string>{
                  "unexplained: host_time 100.0 µs → 120.0 µs (+20.0 %); host times have no "
                  "counters, and a busy machine slows them"});
    made.result.kernels.emplace_back();  // a case of the GPU has some
    EXPECT_NE(why(made)[0].sentence.find("no counter in common"), std::string::npos);
}

TEST(Explain, WhereNothingMovedThatIsSaid) {
    EXPECT_EQ(sentences(why(unmoved({{"instructions", {1000, 1001}}, {"registers", {96, 96}}}))),
              std::vector<std::string>{"nothing moved (2 metrics)"});
}

TEST(Explain, WhatMovedWithinATolerancePassed) {
    EXPECT_EQ(sentences(why(unmoved({{"instructions", {1000, 1030}}, {"registers", {96, 96}}}))),
              (std::vector<std::string>{
                  "nothing moved beyond a tolerance (2 metrics)",
                  "but more instructions for the same work: instructions 1000 → 1030 (+3.0 %)"}));
}

TEST(Explain, AnInconclusiveTimeIsExplainedAsWell) {
    EXPECT_NE(
        find(why(timed(Verdict::inconclusive, {1e5, 1.1e5}, {{"warp_efficiency", {100, 80}}})),
             "divergence"),
        nullptr);
}

// The gate found a counter; the time is as it was.
TEST(Explain, ACounterAloneIsToldEitherWay) {
    Case made = unmoved({{"dram_bytes", {1e8, 5e7}}});
    made.verdict.verdict = Verdict::regressed;
    model::MetricVerdict& gated = made.verdict.metrics.emplace_back();
    gated.metric = "instructions";
    gated.unit = "count";
    gated.verdict = Verdict::regressed;
    gated.baseline = 1000;
    gated.measured = 1100;
    const auto causes = why(made);
    ASSERT_EQ(causes.size(), 2U);
    EXPECT_EQ(causes[0].rule, "dram");
    EXPECT_EQ(causes[1].sentence,
              "more instructions for the same work: instructions 1000 → 1100 (+10.0 %)");
    EXPECT_EQ(find(causes, "unexplained"), nullptr);
}

TEST(Explain, TheFirstTimeThatMovedIsTheOneToExplain) {
    Case made = unmoved({{"registers", {96, 96}}});
    made.verdict.verdict = Verdict::regressed;
    model::MetricVerdict& span = made.verdict.metrics.emplace_back();
    span.metric = "gpu_span";
    span.unit = "ns";
    span.verdict = Verdict::regressed;
    span.baseline = 110000;
    span.measured = 140000;
    const model::Cause* gap = find(why(made), "launch_gap");
    ASSERT_NE(gap, nullptr);
    EXPECT_EQ(why(made)[0].sentence,
              "more time in which no kernel runs: launch_gap 10.00 µs → 40.00 µs (+300.0 %); the "
              "GPU waits for the next kernel, or for the host where the launch waits for it");

    // A gap that makes up less than a tenth of the change is not why.
    made.result.metrics["gpu_time"].value = 128000;
    made.verdict.metrics[0].measured = 128000;
    ASSERT_EQ(made.verdict.metrics[0].metric, "gpu_time");
    EXPECT_EQ(find(why(made), "launch_gap"), nullptr);
    made.result.metrics["gpu_time"].value = 100000;
    made.verdict.metrics[0].measured = 100000;

    // A span that is shorter than the time in it says nothing of gaps.
    span.measured = 90000;
    EXPECT_EQ(find(why(made), "launch_gap"), nullptr);
}

// The gaps are in gpu_span alone.
TEST(Explain, AGapDoesNotExplainGpuTime) {
    const auto causes = why(slower({{"gpu_span", {104000, 134000}}}));
    EXPECT_EQ(causes.front().rule, "unexplained");
    EXPECT_NE(find(causes, "launch_gap"), nullptr);
}

TEST(Explain, TheSizesOfALaunchAreToldWhereFewerWarpsFit) {
    Case made = slower({{"theoretical_occupancy", {100, 12.5}}});
    made.verdict.baseline_kernels.resize(1);
    made.result.kernels.resize(1);
    made.verdict.baseline_kernels[0].grid = {17280, 1, 1};
    made.verdict.baseline_kernels[0].block = {512, 1, 1};
    made.result.kernels[0].grid = {138240, 1, 1};
    made.result.kernels[0].block = {8, 8, 1};
    const std::string said = why(made)[0].sentence;
    EXPECT_NE(said.find("threads_per_block 512 → 64 (-87.5 %; 512x1x1 → 8x8x1)"), std::string::npos)
        << said;
    EXPECT_NE(said.find("blocks_per_grid 17,280 → 138,240"), std::string::npos) << said;
    made.result.kernels = made.verdict.baseline_kernels;
    EXPECT_EQ(why(made)[0].sentence.find("threads_per_block"), std::string::npos);
}

TEST(Explain, NothingIsSaidWhereNothingWasCompared) {
    Case made = slower({});
    made.verdict.metrics[0].baseline.reset();
    EXPECT_TRUE(why(made).empty());
    EXPECT_TRUE(explain_case({}, {}, {}).empty());
}

TEST(Explain, WhatIsNoNumberIsNoEvidence) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    const auto causes = why(slower({{"instructions", {1000, infinity}},
                                    {"registers", {nan, 96}},
                                    {"spill_sectors", {-infinity, 1}},
                                    {"bank_conflicts_load", {0, 5}},
                                    {"bank_conflicts_store", {0, 5}}}));
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].rule, "unexplained");
}

// --- roofline

const model::Ceilings machine{1e12, {{"bf16", 1e14}}, ""};

Case placed(double before_ns, double after_ns, double dram_before, double dram_after) {
    Case made = timed(Verdict::regressed, {before_ns, after_ns},
                      {{"dram_bytes", {dram_before, dram_after}}});
    made.result.work = model::Work{1e6, 8e7, "bf16"};  // 80 µs of copying
    made.result.metrics["gpu_time"] = {"ns", after_ns, "activity/cold", {}};
    made.verdict.ceiling = model::ceiling_share(made.result, machine);
    return made;
}

TEST(Explain, PlacesTheCaseUnderTheCeilingsBeforeAndAfter) {
    const Case made = placed(100e3, 400e3, 8e7, 3e8);
    const auto causes = explain_case(made.verdict, made.result, machine);
    const model::Cause* place = find(causes, "roofline");
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(place, &causes.back());
    EXPECT_EQ(place->sentence,
              "roofline: 80 % of copy bandwidth, memory-bound → 20 % of copy bandwidth, far from "
              "both ceilings; work 1.000 Mflop and 76.29 MiB, measured dram_bytes 76.29 MiB → "
              "286.1 MiB (+275.0 %)");
    ASSERT_EQ(place->figures.size(), 1U);
    EXPECT_DOUBLE_EQ(place->figures[0].before, 0.8);
    EXPECT_DOUBLE_EQ(place->figures[0].after, 0.2);
}

TEST(Explain, WithoutCeilingsOrWorkThereIsNoPlace) {
    const Case made = placed(100e3, 400e3, 8e7, 8e7);
    EXPECT_EQ(find(explain_case(made.verdict, made.result, {}), "roofline"), nullptr);
    Case workless = made;
    workless.result.work.reset();
    EXPECT_EQ(find(explain_case(workless.verdict, workless.result, machine), "roofline"), nullptr);
}

// --- documents

struct Documents {
    model::Run run;
    model::VerdictDocument verdict;
};

Documents three_cases() {
    Documents documents;
    documents.run.suites.resize(1);
    documents.verdict.suites.resize(1);
    for (const Case& made :
         {unmoved({{"registers", {96, 96}}}), slower({{"registers", {96, 96}}}), Case{}}) {
        documents.verdict.suites[0].cases.push_back(made.verdict);
        documents.run.suites[0].cases.push_back(made.result);
    }
    // Only the baseline has it.
    documents.verdict.suites[0].cases.emplace_back().verdict = Verdict::missing;
    return documents;
}

TEST(Explain, FillsInWhatMovedOrAll) {
    Documents documents = three_cases();
    const auto& cases = documents.verdict.suites[0].cases;
    explain(documents.run, Which::moved, documents.verdict);
    EXPECT_TRUE(cases[0].why.empty());
    EXPECT_EQ(cases[1].why.size(), 1U);
    EXPECT_TRUE(cases[2].why.empty());
    EXPECT_TRUE(cases[3].why.empty());
    explain(documents.run, Which::all, documents.verdict);
    EXPECT_EQ(cases[0].why.size(), 1U);
    EXPECT_EQ(cases[1].why.size(), 1U);
}

/// A case that an autotuner prepared: what it chose for the baseline, and in this run.
Case tuned(Case made, const std::string& before, const std::string& now,
           const std::string& other = "") {
    model::MetricSeries& prepared = made.result.metrics["prepare_time"];
    prepared = {"ns", 9e9, "wall", {{0, "b", 1, {9e9}}, {1, "b", 1, {9e9}}}, now};
    prepared.batches[1].detail = other;
    made.verdict.baseline_values["prepare_time"] = 1e9;
    if (before != now) made.verdict.baseline_details["prepare_time"] = before;
    return made;
}

TEST(Explain, WhatAnAutotunerChoseOtherwiseIsACause) {
    const Case made = tuned(slower({}), "add.BLOCK 128", "add.BLOCK 64");
    const auto causes = why(made);
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].rule, "autotune");
    EXPECT_EQ(causes[0].sentence, "autotune chose add.BLOCK 128 → 64");
    EXPECT_EQ(causes[0].brief, causes[0].sentence);
    EXPECT_EQ(sentences(why(tuned(faster({}), "add.BLOCK 64", "add.BLOCK 128"))),
              std::vector<std::string>{"autotune chose add.BLOCK 64 → 128"});
}

TEST(Explain, ChoicesThatVaryBetweenProcessesAreACause) {
    EXPECT_EQ(sentences(why(tuned(slower({}), "BLOCK 128", "BLOCK 128", "BLOCK 64"))),
              std::vector<std::string>{"autotune chose BLOCK 128 in 1 process, 64 in 1"});
    EXPECT_EQ(sentences(why(tuned(slower({}), "BLOCK 32", "BLOCK 128", "BLOCK 64"))),
              std::vector<std::string>{"autotune chose BLOCK 32 → 128; not in all processes: "
                                       "BLOCK 128 in 1 process, 64 in 1"});
}

TEST(Explain, HowLongPreparingTookExplainsNoTime) {
    const auto causes = why(tuned(slower({}), "BLOCK 128", "BLOCK 128"));
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].rule, "unexplained");
    EXPECT_EQ(causes[0].sentence.find("prepare_time"), std::string::npos);
}

TEST(Explain, TheMachineCodeAndTheSamplesAreTwoCausesAndTheLineIsNamed) {
    Case made = slower({{"registers", {96, 96}}});
    made.result.code = model::CodeFinding{"ba5e",
                                          "LDG.E.128 1 → 0, LDG.E 0 → 4 at blend.cu:5",
                                          "90 % of the added samples are at blend.cu:6",
                                          {"blend.cu", 6}};
    made.verdict.baseline_kernels.resize(2);
    made.verdict.baseline_kernels[1].code = "ba5e";
    std::vector<model::Cause> causes = why(made);
    ASSERT_EQ(causes.size(), 2U);
    EXPECT_EQ(causes[0].rule, "machine_code");
    EXPECT_EQ(causes[0].sentence, "machine code: LDG.E.128 1 → 0, LDG.E 0 → 4 at blend.cu:5");
    EXPECT_EQ(causes[1].rule, "samples");
    EXPECT_EQ(causes[1].place, (model::SourcePlace{"blend.cu", 6}));
    // The baseline has the code, if another kernel is as it was.
    made.verdict.code = model::CodeChange::unchanged;
    EXPECT_EQ(find(why(made), "machine_code"), nullptr);
    made.verdict.code = model::CodeChange::changed;
    EXPECT_NE(find(why(made), "machine_code"), nullptr);
    // What another baseline's kernels were compared with says nothing of this one.
    made.verdict.baseline_kernels[1].code = "07her";
    causes = why(made);
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].rule, "unexplained");
}

TEST(Explain, WithoutTheBasesCodeTheCountsOfItsInstructionsSpeak) {
    Case made = slower({});
    made.result.metrics["code_instructions"] = {"count", 4, "nvdisasm", {}};
    made.result.metrics["code_instructions"].detail = "LDG.E 4 at blend.cu:5";
    made.verdict.baseline_values["code_instructions"] = 1;
    made.verdict.baseline_details["code_instructions"] = "LDG.E.128 1 at blend.cu:5";
    made.result.code = model::CodeFinding{{}, "the base's is not at hand", {}, {}};
    const auto of = [&] { return *find(why(made), "machine_code"); };
    EXPECT_EQ(of().sentence, "machine code: LDG.E 0 → 4 at blend.cu:5, LDG.E.128 1 → 0");
    made.verdict.baseline_details.clear();
    EXPECT_EQ(of().sentence, "machine code: the base's is not at hand");
}

}  // namespace
}  // namespace perfgate::explain
