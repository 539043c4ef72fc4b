// SPDX-License-Identifier: Apache-2.0
// What the gate makes of other devices, boards and tools than the baseline's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gate/batch_rule.hpp"
#include "gate/provenance_change.hpp"
#include "unit/gate_pair.hpp"

namespace perfgate::gate {
namespace {

using namespace pairs;

TEST(Gate, ABaselineOfAnotherDeviceIsRefusedAndTheFieldNamed) {
    const auto refused = [](auto change) {
        Pair pair;
        change(pair.baseline.device);
        return error_of(pair.run, stored(pair.baseline));
    };
    const std::string name = refused([](model::Device& d) { d.name = "NVIDIA H200"; });
    EXPECT_EQ(name,
              "baseline baselines/d/s.json is of another device: device.name is 'NVIDIA H200', the "
              "run's is 'NVIDIA H100 80GB HBM3'; refresh a baseline on this device");
    EXPECT_TRUE(says(refused([](model::Device& d) { d.compute_capability = "8.0"; }),
                     "device.compute_capability is '8.0'"));
    EXPECT_TRUE(says(refused([](model::Device& d) { d.memory_bytes /= 2; }),
                     "device.memory_bytes is '42500000000'"));
    EXPECT_TRUE(says(refused([](model::Device& d) { d.mig_profile = "1g.10gb"; }),
                     "device.mig_profile is '1g.10gb'"));
    EXPECT_TRUE(says(refused([](model::Device& d) { d.key = "other"; }), "device.key is 'other'"));
}

TEST(Gate, ACaseThatDidNotPassSaysWhichCommitItIsComparedWith) {
    Pair pair;
    pair.then().provenance.git_revision = "4f2a9c1";
    pair.then().provenance.recorded_at = "2026-11-20T10:00:00Z";
    EXPECT_EQ(pair.judged().suites[0].cases[0].baseline_revision, "") << "it passed";
    pair.now().metrics["gpu_time"] = series({1100});
    pair.baseline.cases["gemm/gone[m=2]"] = pair.then();
    const model::VerdictDocument document = pair.judged();
    const model::CaseVerdict& regressed = document.suites[0].cases.at(0);
    const model::CaseVerdict& missing = document.suites[0].cases.at(1);
    ASSERT_EQ(regressed.verdict, model::Verdict::regressed);
    EXPECT_EQ(regressed.baseline_revision, "4f2a9c1");
    EXPECT_EQ(regressed.baseline_recorded_at, "2026-11-20T10:00:00Z");
    ASSERT_EQ(missing.verdict, model::Verdict::missing);
    EXPECT_EQ(missing.baseline_revision, "4f2a9c1");
}

TEST(Gate, AFewPercentOfMemoryThatTheDriverKeepsAreTheSameDevice) {
    Pair pair;
    pair.baseline.device.memory_bytes -= pair.baseline.device.memory_bytes / 50;
    EXPECT_EQ(pair.judged().exit_code, 0);
    for (const bool more : {false, true}) {
        std::uint64_t& memory =
            more ? pair.run.environment.device.memory_bytes : pair.baseline.device.memory_bytes;
        pair.run.environment.device.memory_bytes = pair.baseline.device.memory_bytes = 1000;
        memory = 950;
        EXPECT_EQ(pair.judged().exit_code, 0) << "5 % less";
        memory = 949;
        EXPECT_TRUE(says(error_of(pair.run, stored(pair.baseline)), "memory_bytes is '"));
    }
}

TEST(Gate, ABaselineOfAnotherSuiteIsRefused) {
    Pair pair;
    pair.baseline.suite = "other";
    EXPECT_TRUE(says(error_of(pair.run, stored(pair.baseline)), "suite is 'other'"));
}

TEST(Gate, AGatedMetricThatTheRunDoesNotDefineIsRefused) {
    Pair pair;
    pair.run.metric_definitions.erase("gpu_time");
    EXPECT_TRUE(says(error_of(pair.run, stored(pair.baseline)), "gates 'gpu_time'"));
}

TEST(Gate, OnAnotherBoardTimingHasLeewayAndExactMetricsHaveNone) {
    Pair pair;
    pair.then().provenance.board = "board-b";
    pair.now().gates[1].cross_board = 0.5;
    pair.now().metrics["gpu_time"] = series({1049});
    VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::pass);
    EXPECT_EQ(metric(only_case(document), "gpu_time").tolerance,
              "3 % and 2 % more for another board");
    EXPECT_EQ(
        document.suites[0].notes,
        std::vector<std::string>{"another board than the baseline's; it has 1 of "
                                 "the 3 boards from which the gate learns how much "
                                 "boards differ ('perfgate baseline refresh SUITE --add-board')"});

    pair.now().metrics["gpu_time"] = series({1051});
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::regressed);

    pair.now().metrics["gpu_time"] = series({1000});
    pair.now().metrics["registers"] = series({65}, "registers", "record");
    document = pair.judged();
    EXPECT_EQ(metric(only_case(document), "registers").verdict, Verdict::regressed);
    EXPECT_EQ(metric(only_case(document), "registers").tolerance, "0 %");
}

TEST(Gate, EachCaseOfSeveralBoardsIsJudgedByItsOwn) {
    model::Run run = run_of({measured_case(1), measured_case(2)});
    const model::Baseline baseline = baseline_of(run);
    // What merged shards, or several devices, leave: the run's board is the first's.
    model::Run other = run_of({measured_case(2)});
    documents::move_to_board("board-b", other);
    run.suites[0].cases[1] = other.suites[0].cases[0];
    for (CaseResult& result : run.suites[0].cases) {
        result.gates[0].cross_board = 0.5;
        result.metrics["gpu_time"].value = 1049;
        result.metrics["gpu_time"].batches[0].samples = {1049};
    }
    const VerdictDocument document = judged(run, stored(baseline));
    const auto& cases = document.suites[0].cases;
    EXPECT_EQ(cases[0].verdict, Verdict::regressed);
    EXPECT_TRUE(cases[0].notes.empty());
    EXPECT_EQ(cases[1].verdict, Verdict::pass);
    ASSERT_EQ(cases[1].notes.size(), 1U);
    EXPECT_TRUE(says(cases[1].notes[0], "another board than the baseline's; it has 1"));
    EXPECT_TRUE(document.suites[0].notes.empty());
}

/// 20 processes on each of these boards, spread by 0.1 %.
model::MetricSeries on_boards(const std::vector<std::pair<std::string, double>>& boards) {
    model::MetricSeries result = series({});
    result.batches.clear();
    std::int64_t process = 0;
    for (std::size_t b = 0; b < boards.size(); ++b) {
        for (int i = 0; i < 20; ++i) {
            model::Batch batch{
                process++, boards[b].first, 1, {boards[b].second * (1 + 0.0001 * (i % 10 - 5))}};
            batch.run = static_cast<std::int64_t>(b);
            result.batches.push_back(std::move(batch));
        }
    }
    result.value = boards.front().second;
    return result;
}

/// 13 processes of this time, the last 8 of them measured again.
model::MetricSeries measured_on(const std::string& board, double time) {
    model::MetricSeries result = on_boards({{board, time}});
    result.batches.resize(13);
    for (std::size_t i = 5; i < result.batches.size(); ++i) result.batches[i].round = 1;
    return result;
}

TEST(Gate, ATimeIsComparedWithItsOwnBoards) {
    Pair pair;
    pair.then().metrics["gpu_time"] =
        on_boards({{"board-a", 100'000}, {"board-b", 105'000}, {"board-c", 95'000}});
    const auto judged_on = [&](const std::string& board, double time) {
        pair.now().metrics["gpu_time"] = measured_on(board, time);
        const VerdictDocument document = pair.judged();
        EXPECT_TRUE(only_case(document).notes.empty());
        EXPECT_EQ(metric(only_case(document), "gpu_time").tolerance, "3 %");
        return metric(only_case(document), "gpu_time");
    };
    EXPECT_EQ(judged_on("board-b", 105'000).verdict, Verdict::pass);
    EXPECT_EQ(judged_on("board-a", 105'000).verdict, Verdict::regressed);
    EXPECT_EQ(judged_on("board-c", 100'000).verdict, Verdict::regressed);
    EXPECT_NEAR(judged_on("board-c", 95'000).baseline.value(), 95'000, 100);
}

TEST(Gate, OnANewBoardWhatItsBoardsDifferByIsLearnedFromThree) {
    Pair pair;
    pair.now().gates[0].cross_board = 0.5;
    const auto judged_against = [&](const std::vector<std::pair<std::string, double>>& boards,
                                    double time) {
        pair.then().provenance.board = boards.front().first;
        pair.then().metrics["gpu_time"] = on_boards(boards);
        pair.now().metrics["gpu_time"] = measured_on("board-new", time);
        pair.run.environment.device.board = "board-new";
        return judge(pair.run, stored(pair.baseline), Policy(), BatchRule(Policy()));
    };
    const std::vector<std::pair<std::string, double>> alike{
        {"board-a", 100'000}, {"board-b", 100'010}, {"board-c", 99'990}};
    VerdictDocument document = judged_against(alike, 110'000);
    EXPECT_EQ(only_case(document).verdict, Verdict::regressed);
    EXPECT_EQ(metric(only_case(document), "gpu_time").tolerance,
              "3 % and at most 50 % more for what the baseline's boards differ by");
    EXPECT_EQ(document.suites[0].notes,
              std::vector<std::string>{"another board than the baseline's"});
    EXPECT_EQ(only_case(judged_against(alike, 100'000)).verdict, Verdict::pass);

    const std::vector<std::pair<std::string, double>> apart{
        {"board-a", 100'000}, {"board-b", 105'000}, {"board-c", 95'000}};
    EXPECT_NE(only_case(judged_against(apart, 110'000)).verdict, Verdict::regressed);

    // Three boards say little, so the suite limits what is allowed.
    const auto with_limit = [&](double limit) {
        pair.now().gates[0].cross_board = limit;
        const model::VerdictDocument judged = judged_against(apart, 170'000);
        return metric(only_case(judged), "gpu_time");
    };
    EXPECT_EQ(with_limit(10).verdict, Verdict::inconclusive) << with_limit(10).sentence;
    EXPECT_GT(with_limit(10).minimum_detectable_change.value(), 1);
    EXPECT_EQ(with_limit(0.5).verdict, Verdict::regressed);
    EXPECT_LT(with_limit(0.5).minimum_detectable_change.value(), 0.7);
    EXPECT_EQ(with_limit(0).verdict, Verdict::regressed);
    EXPECT_GT(with_limit(0).interval.value().low, 0.5) << "no part of it is for boards";
    EXPECT_LT(with_limit(0.5).interval.value().low, 0.5);
    pair.now().gates[0].cross_board = 0.5;

    document = judged_against({alike[0], alike[1]}, 110'000);
    EXPECT_EQ(only_case(document).doubt, model::Doubt::not_shown) << "50 % of leeway";
    EXPECT_TRUE(says(document.suites[0].notes.back(), "it has 2 of the 3 boards"));
}

TEST(Gate, WhatTwoBoardsDifferByIsNotADriftBetweenSessions) {
    Pair pair;
    pair.now().gates[0].cross_board = 0.5;
    pair.then().provenance.board = "board-a";
    model::MetricSeries& before = pair.then().metrics["gpu_time"];
    before = on_boards({{"board-a", 100'000}, {"board-b", 105'000}});
    const auto judged = [&](double time) {
        pair.now().metrics["gpu_time"] = measured_on("board-new", time);
        pair.run.environment.device.board = "board-new";
        const VerdictDocument document =
            judge(pair.run, stored(pair.baseline), Policy(), BatchRule(Policy()));
        return metric(only_case(document), "gpu_time");
    };
    EXPECT_EQ(judged(110'000).doubt, model::Doubt::not_shown) << "50 % of leeway";
    EXPECT_EQ(judged(170'000).verdict, Verdict::regressed) << judged(170'000).sentence;
    EXPECT_LT(judged(110'000).minimum_detectable_change.value(), 0.8);

    // Sessions of one board count as before.
    for (std::size_t i = 0; i < before.batches.size(); ++i) {
        model::Batch& batch = before.batches[i];
        if (batch.device != "board-b") continue;
        batch.run = static_cast<std::int64_t>(2 + i % 2);
        batch.samples[0] += 4000 * static_cast<double>(i % 2);
    }
    EXPECT_NE(judged(170'000).verdict, Verdict::regressed) << judged(170'000).sentence;
}

TEST(Gate, WithFewerBoardsThanThreeALeewayKeepsATimeFromFailingAndShowsNothing) {
    for (const std::size_t boards : {1, 2}) {
        for (const auto& [leeway, time, verdict, shown] :
             {std::tuple(0.05, 100'000.0, Verdict::inconclusive, false),
              std::tuple(0.05, 107'500.0, Verdict::inconclusive, false),
              std::tuple(0.05, 108'500.0, Verdict::regressed, false),
              std::tuple(0.02, 100'000.0, Verdict::pass, true),
              std::tuple(0.02, 101'500.0, Verdict::inconclusive, false)}) {
            Pair pair;
            pair.now().gates[0].cross_board = leeway;
            pair.then().provenance.board = "board-a";
            pair.then().metrics["gpu_time"] =
                boards == 1 ? on_boards({{"board-a", 100'000}})
                            : on_boards({{"board-a", 99'990}, {"board-b", 100'010}});
            pair.now().metrics["gpu_time"] = measured_on("board-new", time);
            pair.run.environment.device.board = "board-new";
            const MetricVerdict found = metric(
                only_case(judge(pair.run, stored(pair.baseline), {}, BatchRule({}))), "gpu_time");
            EXPECT_EQ(found.verdict, verdict) << boards << " " << found.sentence;
            EXPECT_EQ(found.interval.value().high < 0.03, shown) << found.sentence;
        }
    }
}

TEST(Gate, WhatAllSuitesShareOfTheEnvironmentIsSaidOnce) {
    Pair pair;
    pair.then().provenance.board = "board-b";
    pair.then().provenance.driver = "570.0";
    BaselineSet baselines = stored(pair.baseline);
    model::SuiteResult second = pair.run.suites[0];
    second.name = "t";
    pair.run.suites.push_back(second);
    baselines["t"] = baselines["s"];
    baselines["t"].baseline.suite = "t";
    const VerdictDocument document = judged(pair.run, baselines);
    EXPECT_EQ(document.suites[0].notes.size(), 2U) << "board and driver";
    EXPECT_TRUE(document.suites[1].notes.empty());
    EXPECT_TRUE(document.suites[1].cases[0].notes.empty());

    // What only one of them has is its own.
    baselines["t"].baseline.cases.begin()->second.provenance.driver = "560.0";
    EXPECT_EQ(judged(pair.run, baselines).suites[1].notes.size(), 1U);
}

TEST(Gate, AnUnknownBoardIsNewToABaselineOfSeveral) {
    Pair pair;
    pair.now().gates[0].cross_board = 0.5;
    pair.then().metrics["gpu_time"] = on_boards({{"board-a", 100'000}, {"board-b", 105'000}});
    pair.now().metrics["gpu_time"] = measured_on("", 110'000);
    pair.run.environment.device.board = "";
    EXPECT_EQ(metric(only_case(pair.judged()), "gpu_time").tolerance,
              "3 % and 50 % more for another board");
}

TEST(Gate, OnTheSameBoardThereIsNoLeeway) {
    Pair pair;
    pair.now().metrics["gpu_time"] = series({1049});
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::regressed);
}

TEST(Gate, ABoardThatIsNotKnownIsNotCalledAnother) {
    Pair pair;
    pair.then().provenance.board.clear();
    pair.now().metrics["gpu_time"] = series({1049});
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::regressed);
    EXPECT_TRUE(document.suites[0].notes.empty());
}

TEST(Gate, ChangedToolsAreNotedOnceForTheSuite) {
    model::Run run = run_of({measured_case(1), measured_case(2)});
    const model::Baseline baseline = baseline_of(run);
    run.environment.driver = "590.2";
    run.environment.cuda_toolkit = "13.1";
    run.environment.cupti = "130100";
    run.tool_version = "0.2.0";
    const VerdictDocument document = judged(run, stored(baseline));
    const std::vector<std::string> expected{"driver changed since the baseline: 580.1 → 590.2",
                                            "CUDA toolkit changed since the baseline: 13.0 → 13.1",
                                            "CUPTI changed since the baseline: 130001 → 130100",
                                            "perfgate changed since the baseline: 0.1.0 → 0.2.0"};
    EXPECT_EQ(document.suites[0].notes, expected);
    EXPECT_TRUE(document.suites[0].cases[0].notes.empty());
    EXPECT_TRUE(document.suites[0].cases[1].notes.empty());
    EXPECT_EQ(document.exit_code, 0);
}

TEST(Gate, WhatChangedForSomeCasesIsNotedThere) {
    const model::Run run = run_of({measured_case(1), measured_case(2)});
    model::Baseline baseline = baseline_of(run);
    baseline.cases.at(first_id).provenance.driver = "570.0";
    const VerdictDocument document = judged(run, stored(baseline));
    EXPECT_TRUE(document.suites[0].notes.empty());
    EXPECT_EQ(document.suites[0].cases[0].notes,
              std::vector<std::string>{"driver changed since the baseline: 570.0 → 580.1"});
    EXPECT_TRUE(document.suites[0].cases[1].notes.empty());
}

TEST(Gate, ThePolicyDecidesWhetherAChangedToolIsAcceptedNamedOrRefused) {
    using model::ChangePolicy;
    using model::OnChange;
    struct Tool {
        OnChange ChangePolicy::*policy;
        std::string model::Provenance::*value;
        std::string note;
    };
    const std::vector<Tool> tools = {
        {&ChangePolicy::board, &model::Provenance::board, "another board"},
        {&ChangePolicy::driver, &model::Provenance::driver, "driver changed"},
        {&ChangePolicy::cuda_toolkit, &model::Provenance::cuda_toolkit, "CUDA toolkit changed"},
        {&ChangePolicy::cupti, &model::Provenance::cupti, "CUPTI changed"},
        {&ChangePolicy::tool_version, &model::Provenance::tool_version, "perfgate changed"}};
    for (const Tool& tool : tools) {
        Pair pair;
        pair.then().provenance.*tool.value = "other";
        Policy policy;
        policy.changed.*tool.policy = OnChange::accept;
        EXPECT_TRUE(pair.judged(policy).suites[0].notes.empty()) << tool.note;
        policy.changed.*tool.policy = OnChange::warn;
        VerdictDocument document = pair.judged(policy);
        ASSERT_EQ(document.suites[0].notes.size(), 1U) << tool.note;
        EXPECT_TRUE(says(document.suites[0].notes[0], tool.note));
        EXPECT_EQ(only_case(document).verdict, Verdict::pass);

        policy.changed.*tool.policy = OnChange::refuse;
        document = pair.judged(policy);
        const bool board = tool.value == &model::Provenance::board;
        EXPECT_EQ(document.exit_code, 3) << "nothing compared is no pass";
        EXPECT_EQ(metric(only_case(document), "gpu_time").verdict, Verdict::invalid);
        EXPECT_EQ(metric(only_case(document), "registers").verdict,
                  board ? Verdict::pass : Verdict::invalid)
            << "another board concerns times alone";
        EXPECT_TRUE(says(metric(only_case(document), "gpu_time").sentence, tool.note));

        (pair.then().provenance.*tool.value).clear();
        EXPECT_EQ(only_case(pair.judged(policy)).verdict, Verdict::pass) << "it is not known";
    }
}

// ---- a slower clock as the cause

/// A time and its cycles before and now, each with the clock of its batch.
struct Clocked {
    double time_before = 1000, time_now = 1100;
    double cycles_before = 1000, cycles_now = 1000;
    std::optional<double> mhz_before = 2200, mhz_now = 2000;
    Verdict verdict = Verdict::regressed;
    model::MetricClass metric_class = model::MetricClass::timing;
    std::string cycles_method = "counter", cycles_unit = "count";

    std::string explanation() const {
        const model::MetricDefinition definition =
            documents::definition("gpu_time", "ns", metric_class);
        model::MetricSeries before = series({time_before});
        model::MetricSeries now = series({time_now});
        before.batches[0].sm_clock_mhz = mhz_before;
        now.batches[0].sm_clock_mhz = mhz_now;
        CaseResult result;
        result.metrics["cycles"] = series({cycles_now}, "count", "counter");
        model::BaselineCase expected;
        expected.metrics["cycles"] = series({cycles_before}, cycles_unit, cycles_method);
        Judgement judgement;
        judgement.verdict = verdict;
        judgement.baseline = time_before;
        judgement.measured = time_now;
        return clock_explanation({&definition, &before, &now, {}, 0}, judgement, result, expected);
    }
};

TEST(ClockExplanation, NamesBothClocksWhereTheyExplainTheTimeAndTheCyclesDoNot) {
    const std::string text = Clocked().explanation();
    EXPECT_TRUE(says(text, "2200 → 2000 MHz")) << text;
    EXPECT_TRUE(says(text, "0.0 %")) << text;
    EXPECT_NE(Clocked{.verdict = Verdict::inconclusive}.explanation(), "");
    EXPECT_NE((Clocked{.time_before = 0.5, .time_now = 0.55}).explanation(), "");
}

TEST(ClockExplanation, ExplainsWorseTimesAlone) {
    for (const Verdict verdict : {Verdict::pass, Verdict::improved, Verdict::invalid}) {
        EXPECT_EQ(Clocked{.verdict = verdict}.explanation(), "");
    }
    EXPECT_EQ(Clocked{.metric_class = model::MetricClass::counter}.explanation(), "");
    EXPECT_EQ((Clocked{.time_now = 1000, .mhz_now = 2200}).explanation(), "") << "not slower";
    EXPECT_EQ((Clocked{.time_before = 0}).explanation(), "");
    EXPECT_EQ((Clocked{.time_before = -1000}).explanation(), "");
}

TEST(ClockExplanation, TheClockMustExplainFourFifthsAndTheCyclesAtMostOneFifth) {
    // 12.5 % slower: the clock may be 10 % lower, and 2.5 % more cycles may remain.
    const Clocked slower{.time_now = 1125, .mhz_before = 2200, .mhz_now = 2000};
    Clocked changed = slower;
    changed.mhz_now = 1990;
    EXPECT_NE(changed.explanation(), "");
    changed.mhz_now = 2010;
    EXPECT_EQ(changed.explanation(), "");
    changed = slower;
    changed.mhz_now = 1900;
    changed.cycles_now = 1025;
    EXPECT_NE(changed.explanation(), "");
    changed.cycles_now = 1026;
    EXPECT_EQ(changed.explanation(), "");
}

TEST(ClockExplanation, NeedsCyclesOfOneKindAndBothClocks) {
    EXPECT_EQ(Clocked{.cycles_method = "other"}.explanation(), "");
    EXPECT_EQ(Clocked{.cycles_unit = "1"}.explanation(), "");
    EXPECT_EQ(Clocked{.cycles_before = 0}.explanation(), "");
    EXPECT_EQ(Clocked{.mhz_before = std::nullopt}.explanation(), "");
    EXPECT_EQ(Clocked{.mhz_now = std::nullopt}.explanation(), "");
    EXPECT_EQ(Clocked{.mhz_now = 0}.explanation(), "");
}

/// A baseline at 1755 MHz and a run at 1980 MHz.
Pair at_a_higher_clock(double cycles, double time) {
    Pair pair;
    pair.then().metrics["cycles"] = series({1000}, "count", "counter");
    pair.now().metrics["cycles"] = series({1000 * cycles}, "count", "counter");
    pair.now().metrics["gpu_time"] = series({1000 * time});
    pair.then().metrics["gpu_time"].batches[0].sm_clock_mhz = 1755;
    pair.now().metrics["gpu_time"].batches[0].sm_clock_mhz = 1980;
    return pair;
}

TEST(HiddenByClock, MoreCyclesAtAHigherClockAreNotAPass) {
    const auto time_of = [](const Pair& pair) {
        return metric(only_case(pair.judged()), "gpu_time");
    };
    // 10 % more cycles take 2.5 % less time at this clock.
    const model::MetricVerdict hidden = time_of(at_a_higher_clock(1.1, 1.1 * 1755 / 1980));
    EXPECT_EQ(hidden.verdict, Verdict::inconclusive);
    EXPECT_EQ(hidden.doubt, model::Doubt::clock_hides);
    EXPECT_TRUE(says(hidden.sentence, "SM clock 1755 → 1980 MHz, cycles +10.0 %"))
        << hidden.sentence;
    // The code is as fast, or faster; or the clock is the same.
    EXPECT_EQ(time_of(at_a_higher_clock(1.0, 1755.0 / 1980)).verdict, Verdict::improved);
    EXPECT_EQ(time_of(at_a_higher_clock(1.02, 1.02 * 1755 / 1980)).verdict, Verdict::improved);
    EXPECT_EQ(time_of(at_a_higher_clock(1.0, 1.0)).verdict, Verdict::pass) << "cycles did not rise";
    Pair same = at_a_higher_clock(1.1, 1.0);
    same.then().metrics["gpu_time"].batches[0].sm_clock_mhz = 1980;
    EXPECT_EQ(time_of(same).verdict, Verdict::pass);
    Pair unknown = at_a_higher_clock(1.1, 1.0);
    unknown.then().metrics["gpu_time"].batches[0].sm_clock_mhz.reset();
    EXPECT_EQ(time_of(unknown).verdict, Verdict::pass);
    EXPECT_EQ(time_of(at_a_higher_clock(1.3, 1.1)).verdict, Verdict::regressed);
}

TEST(HiddenByClock, WithoutCyclesTheClocksAloneRaiseTheDoubt) {
    using Metrics = std::map<std::string, model::MetricSeries>;
    const auto time_of = [](double time, auto forget) {
        Pair pair = at_a_higher_clock(1.0, time);
        forget(pair.then().metrics, pair.now().metrics);
        return metric(only_case(pair.judged()), "gpu_time");
    };
    const auto everywhere = [](Metrics& then, Metrics& now) {
        then.erase("cycles");
        now.erase("cycles");
    };
    const auto hidden = time_of(1.0, everywhere);
    EXPECT_EQ(hidden.verdict, Verdict::inconclusive);
    EXPECT_EQ(hidden.doubt, model::Doubt::clock_hides);
    EXPECT_TRUE(says(hidden.sentence,
                     "SM clock 1755 → 1980 MHz, cycles not known; at the "
                     "baseline's clock it would be 1.128 µs"))
        << hidden.sentence;
    const auto forget_now = [](Metrics&, Metrics& now) { now.erase("cycles"); };
    const auto forget_then = [](Metrics& then, Metrics&) { then.erase("cycles"); };
    const auto of_another_method = [](Metrics&, Metrics& now) { now["cycles"].method = "x"; };
    EXPECT_EQ(time_of(1.0, forget_now).doubt, model::Doubt::clock_hides);
    EXPECT_EQ(time_of(1.0, forget_then).doubt, model::Doubt::clock_hides);
    EXPECT_EQ(time_of(1.0, of_another_method).doubt, model::Doubt::clock_hides);
    // At the baseline's clock it is within the tolerance of 3 %, or faster.
    EXPECT_EQ(time_of(1755.0 / 1980, everywhere).verdict, Verdict::improved);
    EXPECT_EQ(time_of(1.029 * 1755 / 1980, everywhere).verdict, Verdict::improved);
    EXPECT_EQ(time_of(1.031 * 1755 / 1980, everywhere).verdict, Verdict::inconclusive);
    EXPECT_EQ(time_of(1.5, everywhere).verdict, Verdict::regressed);
}

TEST(HiddenByClock, TheMirrorCaseWithoutCyclesIsNotExcusedEither) {
    Pair pair = at_a_higher_clock(1.0, 1980.0 / 1755);
    pair.then().metrics.erase("cycles");
    pair.now().metrics.erase("cycles");
    pair.then().metrics["gpu_time"].batches[0].sm_clock_mhz = 1980;
    pair.now().metrics["gpu_time"].batches[0].sm_clock_mhz = 1755;
    EXPECT_EQ(metric(only_case(pair.judged()), "gpu_time").verdict, Verdict::regressed);
}

TEST(HiddenByClock, UnchangedCodeHidesNothing) {
    Pair pair = at_a_higher_clock(1.128, 1.0);  // it waits for memory
    EXPECT_EQ(metric(only_case(pair.judged()), "gpu_time").verdict, Verdict::inconclusive);
    model::Kernel kernel;
    kernel.name = "k";
    kernel.code = "c0de";
    kernel.arguments = "a1";
    pair.now().kernels = pair.then().kernels = {kernel};
    EXPECT_EQ(metric(only_case(pair.judged()), "gpu_time").verdict, Verdict::pass);
}

TEST(ClockExplanation, MakesARegressionInconclusiveAndATenfoldTimeInvalid) {
    Pair pair;
    pair.then().metrics["cycles"] = pair.now().metrics["cycles"] = series({7}, "count", "counter");
    pair.then().metrics["gpu_time"].batches[0].sm_clock_mhz = 2000;
    const auto slower = [&](double times) {
        pair.now().metrics["gpu_time"] = series({1000 * times});
        pair.now().metrics["gpu_time"].batches[0].sm_clock_mhz = 2000 / times;
        return metric(only_case(pair.judged()), "gpu_time");
    };
    EXPECT_EQ(slower(1.02).verdict, Verdict::pass);
    EXPECT_EQ(slower(1.5).verdict, Verdict::inconclusive);
    EXPECT_TRUE(says(slower(1.5).sentence, "2000 → 1333 MHz")) << slower(1.5).sentence;
    EXPECT_EQ(slower(11).verdict, Verdict::invalid);
}

TEST(MeanClock, IsTheMeanOfTheBatchesThatCountAndNothingWhereOneHasNone) {
    model::MetricSeries all = series({1});
    EXPECT_EQ(mean_clock_mhz(all), std::nullopt);
    all.batches[0].sm_clock_mhz = 1000;
    all.batches.push_back(all.batches[0]);
    all.batches[1].sm_clock_mhz = 2000;
    EXPECT_EQ(mean_clock_mhz(all), 1500);
    all.batches[0].excluded = "throttled";
    EXPECT_EQ(mean_clock_mhz(all), 2000);
    all.batches[1].excluded = "throttled";
    EXPECT_EQ(mean_clock_mhz(all), std::nullopt);
}

}  // namespace
}  // namespace perfgate::gate
