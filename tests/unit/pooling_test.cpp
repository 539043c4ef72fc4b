// SPDX-License-Identifier: Apache-2.0
#include "baseline/pooling.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "gate/batch_rule.hpp"
#include "unit/gate_documents.hpp"
#include "unit/simulated.hpp"
#include "util/error.hpp"

namespace perfgate::baseline {
namespace pooling_test {

using namespace gate;

using documents::measured_case;
using documents::move_to_board;
using documents::run_of;

/// Its second case was measured on `board`, as by merged shards or several devices.
model::Run second_case_on(const std::string& board) {
    model::Run other = run_of({measured_case(2)});
    move_to_board(board, other);
    return run_of({measured_case(1), other.suites[0].cases[0]});
}

std::string refusal(const std::vector<model::Run>& runs) {
    try {
        combine_runs(runs);
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "not refused";
}

model::MetricSeries processes(const std::vector<double>& values) {
    model::MetricSeries series{"ns", values.front(), "activity/cold", {}};
    for (std::size_t i = 0; i < values.size(); ++i) {
        series.batches.push_back({static_cast<std::int64_t>(i), "board", 1, {values[i]}});
    }
    return series;
}

model::Tolerance within(double worse, double abs = 0) {
    return {worse, std::nullopt, abs};
}

TEST(Noisy, WhereProcessesLieFurtherApartThanHalfOfTheTolerance) {
    const model::MetricSeries apart = processes({990, 1010, 990, 1010});  // 1.15 %
    const auto is_noisy = [](const model::MetricSeries& series, const model::Tolerance& tolerance) {
        model::CaseResult result = measured_case(1);
        result.metrics["gpu_time"] = series;
        result.gates = {{"gpu_time", tolerance}};
        return noisy(result);
    };
    EXPECT_TRUE(is_noisy(apart, within(0.02)));
    EXPECT_FALSE(is_noisy(apart, within(0.03)));
    EXPECT_FALSE(is_noisy(apart, within(0.001, 30)));
    EXPECT_FALSE(is_noisy(processes({1000, 1000, 1000}), within(0)));
    // How far others lie, one alone cannot tell.
    EXPECT_FALSE(is_noisy(processes({1000}), within(0)));
}

TEST(Noisy, OnlyForWhatTheCaseGates) {
    model::CaseResult result = measured_case(1);
    result.metrics["gpu_time"] = processes({990, 1010, 990, 1010});
    result.gates.clear();
    EXPECT_FALSE(noisy(result));
    result.gates = {{"not_measured", within(0)}, {"gpu_time", within(0.02)}};
    EXPECT_TRUE(noisy(result));
}

TEST(CombineRuns, PutsTogetherTheBatchesOfEachCase) {
    const model::Run combined =
        combine_runs({second_case_on("board-b"), second_case_on("board-b")});
    for (const model::CaseResult& result : combined.suites[0].cases) {
        const auto& batches = result.metrics.at("gpu_time").batches;
        ASSERT_EQ(batches.size(), 2U);
        EXPECT_EQ(batches[0].device, batches[1].device);
        EXPECT_EQ(batches[0].run, 0);
        EXPECT_EQ(batches[1].run, 1);
    }
}

TEST(CombineRuns, ACaseOfTwoBoardsIsRefusedThoughTheRunsBoardsAreTheSame) {
    EXPECT_EQ(refusal({second_case_on("board-b"), second_case_on("board-c")}),
              "the runs cannot become one baseline: the board of gemm/tiled[m=2] is 'board-b' in "
              "the first and 'board-c' in another");
}

TEST(CombineRuns, ARunOfAnotherBoardIsRefused) {
    model::Run elsewhere = run_of({measured_case(1)});
    move_to_board("board-b", elsewhere);
    EXPECT_NE(refusal({run_of({measured_case(1)}), elsewhere}).find("the board of gemm/tiled[m=1]"),
              std::string::npos);
}

TEST(CombineRuns, RunsOfOtherToolsOrCasesAreRefused) {
    const model::Run run = run_of({measured_case(1)});
    model::Run newer = run;
    newer.environment.driver = "590.2";
    EXPECT_NE(refusal({run, newer}).find("driver is '580.1' in the first and '590.2'"),
              std::string::npos);
    EXPECT_NE(refusal({run, run_of({measured_case(2)})}).find("not of the same cases"),
              std::string::npos);
}

TEST(CombineRuns, EveryToolMustBeTheSame) {
    const model::Run run = run_of({measured_case(1)});
    const auto names = [&](const std::string& field, auto change) {
        model::Run other = run;
        change(other);
        EXPECT_NE(refusal({run, other}).find(field + " is '"), std::string::npos) << field;
    };
    names("device.key", [](model::Run& r) { r.environment.device.key = "x"; });
    names("driver", [](model::Run& r) { r.environment.driver = "x"; });
    names("cuda_toolkit", [](model::Run& r) { r.environment.cuda_toolkit = "x"; });
    names("cupti", [](model::Run& r) { r.environment.cupti = "x"; });
    names("tool_version", [](model::Run& r) { r.tool_version = "x"; });
    names("git_revision", [](model::Run& r) { r.git_revision = "x"; });
    EXPECT_EQ(refusal({}), "no run to accept");
    EXPECT_EQ(refusal({run}), "not refused");
}

TEST(CombineRuns, NumbersProcessesAndRunsAndAddsTheTimes) {
    const model::Run one = run_of({measured_case(1)});
    const model::Run combined = combine_runs({one, one, one});
    const auto& batches = combined.suites[0].cases[0].metrics.at("gpu_time").batches;
    ASSERT_EQ(batches.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(batches[i].process, static_cast<std::int64_t>(i));
        EXPECT_EQ(batches[i].run, static_cast<std::int64_t>(i));
    }
    EXPECT_EQ(combined.wall_s, 6);
    EXPECT_FALSE(combined.interrupted || combined.verify_only);
    for (bool model::Run::*flag : {&model::Run::interrupted, &model::Run::verify_only}) {
        model::Run flagged = one;
        flagged.*flag = true;
        EXPECT_TRUE(combine_runs({one, flagged}).*flag);
        EXPECT_TRUE(combine_runs({flagged, one}).*flag);
    }
}

TEST(CombineRuns, RunsOfOtherKernelsAreRefused) {
    model::Run one = run_of({measured_case(1)});
    model::CaseResult& before = one.suites[0].cases[0];
    before.host_code = "0057";
    before.kernels.resize(1);
    before.kernels[0].name = "k";
    before.kernels[0].code = "c0de";
    model::Run two = one;
    model::CaseResult& after = two.suites[0].cases[0];
    after.host_code = "0058";
    EXPECT_EQ(refusal({one, two}), "not refused") << "built again, the same kernels";
    after.kernels[0].code = "c1de";
    EXPECT_EQ(refusal({one, one, two}),
              "the runs cannot become one baseline: they did not measure the same: "
              "gemm/tiled[m=1]: the code of k differs");
    after.kernels[0].name = "j";
    EXPECT_EQ(refusal({one, two}), "not refused") << "a program chose another kernel";
}

TEST(CombineRuns, RunsOfOtherHostCodeAreRefusedUnlessTheyAreOfOneCommit) {
    model::Run one = run_of({measured_case(1)});
    one.suites[0].cases[0].host_code = "0057";
    model::Run two = one;
    two.suites[0].cases[0].host_code = "0058";
    EXPECT_EQ(refusal({one, two}), "not refused");
    for (const char* revision : {"", "abc-dirty"}) {
        one.git_revision = two.git_revision = revision;
        EXPECT_NE(refusal({one, two}).find("gemm/tiled[m=1]: its host code differs"),
                  std::string::npos);
        EXPECT_EQ(refusal({one, one}), "not refused");
    }
}

TEST(CombineRuns, RunsOfAnotherCommandAreRefused) {
    model::Run one = run_of({measured_case(1)});
    one.suites[0].cases[0].command = {"./app", "1"};
    model::Run two = one;
    two.suites[0].cases[0].command = {"./app", "2"};
    EXPECT_NE(refusal({one, two}).find("gemm/tiled[m=1]: its command differs"), std::string::npos);
    two = one;
    two.suites[0].cases[0].env = {{"OMP_NUM_THREADS", "1"}};
    EXPECT_NE(refusal({one, two}).find("gemm/tiled[m=1]: the environment that the suite sets"),
              std::string::npos);
    one.suites[0].cases[0].measured_as = {{"measure", "nvtx step"}};
    two = one;
    two.suites[0].cases[0].measured_as = {{"measure", "nvtx step, skip 1"}};
    EXPECT_NE(
        refusal({one, two}).find("gemm/tiled[m=1]: measure nvtx step → nvtx step, skip 1 differs"),
        std::string::npos);
}

TEST(CombineRuns, WhatOneRunDidNotMeasureIsNotMeasured) {
    const model::Run good = run_of({measured_case(1)});
    model::Run bad = good;
    model::CaseResult& failed = bad.suites[0].cases[0];
    failed.status = model::CaseStatus::error;
    failed.reason = "crashed";
    for (const auto& runs : {std::vector{good, bad}, std::vector{bad, good}}) {
        const model::Run both = combine_runs(runs);
        EXPECT_EQ(both.suites[0].cases[0].status, model::CaseStatus::error);
        EXPECT_EQ(both.suites[0].cases[0].reason, "crashed");
    }
    model::Run incomplete = good;
    incomplete.suites[0].cases[0].not_collected = {{"dram_bytes", "no permission"}};
    EXPECT_EQ(combine_runs({good, incomplete}).suites[0].cases[0].not_collected,
              incomplete.suites[0].cases[0].not_collected);
    for (const bool other_method : {true, false}) {
        model::Run other = good;
        auto& metrics = other.suites[0].cases[0].metrics;
        if (other_method) metrics["registers"].method = "x";
        if (!other_method) metrics.erase("registers");
        const model::CaseResult both = combine_runs({good, other}).suites[0].cases[0];
        ASSERT_EQ(both.not_collected.size(), 1U);
        EXPECT_EQ(both.not_collected[0].metric, "registers");
        EXPECT_EQ(both.metrics.at("gpu_time").batches.size(), 2U);
    }
}

TEST(CombineRuns, AnotherNumberOfKernelsIsNoCommonCode) {
    model::Run one = run_of({measured_case(1)});
    one.suites[0].cases[0].kernels.resize(1);
    one.suites[0].cases[0].kernels[0].code = "c0de";
    one.suites[0].cases[0].kernels[0].arguments = "a1";
    model::Run two = one;
    two.suites[0].cases[0].kernels.resize(2);
    const model::CaseResult both = combine_runs({one, two}).suites[0].cases[0];
    ASSERT_EQ(both.kernels.size(), 1U);
    EXPECT_EQ(both.kernels[0].code + both.kernels[0].arguments, "");
    model::Run other_arguments = one;
    other_arguments.suites[0].cases[0].kernels[0].arguments = "a2";
    const model::CaseResult kept = combine_runs({one, other_arguments}).suites[0].cases[0];
    EXPECT_EQ(kept.kernels[0].code, "c0de");
    EXPECT_EQ(kept.kernels[0].arguments, "");
}

TEST(Condensed, KeepsOneValueOfEachProcessThatCounts) {
    model::MetricSeries series = processes({10, 40, 20, 30});
    series.batches[0].excluded = "throttled";
    series.batches[1].samples = {40, 42};
    series.batches[2].process = 9;
    const model::MetricSeries kept = condensed(series);
    ASSERT_EQ(kept.batches.size(), 3U);
    EXPECT_EQ(kept.batches[0].samples, std::vector<double>{41});
    EXPECT_EQ(kept.batches[1].samples, std::vector<double>{20});
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(kept.batches[i].process, static_cast<std::int64_t>(i));
        EXPECT_EQ(kept.batches[i].round, 0);
    }
    EXPECT_EQ(kept.value, 30) << "the middle of 20, 30, 41";
    EXPECT_EQ(kept.unit, "ns");

    model::MetricSeries rounds = processes({10, 20, 30});
    rounds.batches[1].round = rounds.batches[2].round = 2;
    EXPECT_EQ(condensed(rounds).batches.size(), 2U) << "what got it flagged was selected";
    EXPECT_EQ(condensed(rounds).batches[0].round, 0);
    EXPECT_EQ(condensed(rounds).value, 25) << "of two the mean";

    model::MetricSeries one = processes({10});
    one.batches[0].samples = {10, 11, 12};
    EXPECT_EQ(condensed(one), one);
    EXPECT_EQ(condensed(processes({1, 2})).batches.size(), 2U);
}

/// A run of cases m=1, 2, … whose times spread by these fractions, and its baseline.
struct Pooled {
    explicit Pooled(const std::vector<double>& spreads, double tolerance = 0.03) {
        std::vector<model::CaseResult> cases;
        for (std::size_t i = 0; i < spreads.size(); ++i) {
            model::CaseResult result = measured_case(static_cast<std::int64_t>(i + 1));
            std::vector<double> values;
            for (int process = -10; process <= 10; ++process) {
                values.push_back(1e6 * (1 + spreads[i] * process / 10));
            }
            result.metrics["gpu_time"] = processes(values);
            result.gates = {{"gpu_time", within(tolerance), 0}, {"registers", within(0), 0}};
            cases.push_back(std::move(result));
        }
        run = run_of(cases);
        baseline = documents::baseline_of(run);
    }
    PoolingFindings findings() const {
        return pooling_findings(run, run.suites[0], baseline, model::Policy{});
    }

    model::Run run;
    model::Baseline baseline;
};

TEST(PoolingFindings, ProposeTolerancesForHalfMostAndAllOfTheCases) {
    const Pooled pooled({0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.2});
    const PoolingFindings findings = pooled.findings();
    ASSERT_EQ(findings.proposals.size(), 1U) << "of the registers no spread is known";
    const Proposal& proposal = findings.proposals[0];
    EXPECT_EQ(proposal.metric, "gpu_time");
    EXPECT_EQ(proposal.cases, 10U);
    EXPECT_EQ(proposal.worst_id, "gemm/tiled[m=10]");
    EXPECT_TRUE(findings.demotions.empty());
    const auto alone = [](double spread) {
        return Pooled({spread}).findings().proposals.at(0).all;
    };
    // Alone a case has a larger share of the budget: what it needs is a little less.
    EXPECT_NEAR(proposal.half / alone(0.05), 1.1, 0.15);
    EXPECT_NEAR(proposal.most / alone(0.09), 1.1, 0.15);
    EXPECT_NEAR(proposal.all / alone(0.2), 1.1, 0.15);
    // Two digits, rounded up.
    for (const double written : {proposal.half, proposal.most, proposal.all}) {
        const double digits = written * std::pow(10, 1 - std::floor(std::log10(written)));
        EXPECT_NEAR(digits, std::round(digits), 1e-6) << written;
    }
}

TEST(PoolingFindings, CountTheTolerancesOfCountersThatAreTooFine) {
    const auto counted = [](Pooled pooled) {
        pooled.run.metric_definitions.at("gpu_time").metric_class = model::MetricClass::counter;
        return pooled.findings().proposals.at(0);
    };
    const double needed = counted(Pooled({0.05})).all;
    const auto too_fine = [&](const Pooled& pooled) { return counted(pooled).too_fine; };
    EXPECT_TRUE(too_fine(Pooled({0.05}, needed * 1.2)).empty());
    const auto one = too_fine(Pooled({0.05}, needed / 2));
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].id, "gemm/tiled[m=1]");
    EXPECT_EQ(one[0].needed, needed);
    const auto two = too_fine(Pooled({0.05, 0.0001, 0.2}, needed / 2));
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two[0].id, "gemm/tiled[m=3]");  // it needs more
    EXPECT_GT(two[0].needed, two[1].needed);
}

TEST(PoolingFindings, ATimeThatWouldOftenNotBeShownIsNamedWithAToleranceThatWouldBe) {
    const auto unshown = [](double spread, double tolerance) {
        return Pooled({spread}, tolerance).findings().unshown;
    };
    EXPECT_TRUE(unshown(0.01, 0.03).empty());
    const auto found = unshown(0.05, 0.03);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, "gemm/tiled[m=1]");
    EXPECT_EQ(found[0].metric, "gpu_time");
    EXPECT_DOUBLE_EQ(found[0].tolerance, 0.03);
    // Two deviations of the run's mean of five, and its own: with a deviation of 2.9 % about 4 %.
    EXPECT_GT(found[0].needed.value(), 0.03);
    EXPECT_LT(found[0].needed.value(), 0.07);
    EXPECT_TRUE(unshown(0.05, *found[0].needed).empty()) << "the one that is offered is enough";
    for (int thousandths = 40; thousandths < 200; ++thousandths) {
        const double spread = thousandths / 1000.0;
        const double needed = unshown(spread, 0.01).at(0).needed.value();
        const double read = std::stod(fmt::format("{:.4g}", needed * 100)) / 100;
        EXPECT_TRUE(unshown(spread, read).empty()) << "written as " << read * 100 << "%";
    }
}

TEST(PoolingFindings, TheToleranceThatIsNamedDoesForTheNextRecording) {
    for (const double deviation : {0.01, 0.03, 0.5}) {
        simulated::Random random(20261127);
        const auto recording = [&] {
            std::vector<double> values(12);
            for (double& value : values) value = 1e6 * std::exp(deviation * random.normal());
            return processes(values);
        };
        constexpr int pairs = 200;
        int refused = 0;
        for (int i = 0; i < pairs; ++i) {
            Pooled pooled({0});
            auto& stored = pooled.baseline.cases.begin()->second.metrics.at("gpu_time");
            stored = pooled.run.suites[0].cases[0].metrics["gpu_time"] = recording();
            const PoolingFindings findings = pooled.findings();
            const double named = findings.proposals.at(0).all;
            for (const Unshown& each : findings.unshown) EXPECT_EQ(each.needed, named);
            pooled.run.suites[0].cases[0].gates[0].tolerance = within(10);
            EXPECT_EQ(pooled.findings().proposals.at(0).all, named) << "whatever the suite has";
            const auto& definition = pooled.run.metric_definitions.at("gpu_time");
            EXPECT_FALSE(gate::disagrees(definition, stored, within(named)));
            if (gate::disagrees(definition, recording(), within(named))) ++refused;
        }
        EXPECT_LE(refused, pairs / 10) << deviation;
    }
}

TEST(PoolingFindings, ATimeWhoseProcessesAgreeNeedsNoMoreThanItsIntervals) {
    const auto found = Pooled({0.002}, 0.0005).findings().unshown;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_GT(found[0].needed.value(), 0.0005);
    EXPECT_LT(found[0].needed.value(), 0.005) << "not the least by which processes disagree";
}

TEST(PoolingFindings, ATimeHasOneToleranceThatWouldDo) {
    const PoolingFindings findings = Pooled({0.01, 0.2}).findings();
    const Proposal& proposal = findings.proposals.at(0);
    EXPECT_EQ(proposal.all, findings.unshown.at(0).needed);
    EXPECT_EQ(proposal.worst_id, findings.unshown.at(0).id);
    EXPECT_TRUE(proposal.too_fine.empty());
}

TEST(PoolingFindings, ATimeThatMayMoveNeitherWayNeedsTheLargerTolerance) {
    const auto needed = [](model::Direction direction, double skew) {
        Pooled pooled({0}, 0.001);
        pooled.run.metric_definitions.at("gpu_time").direction = direction;
        auto& batches = pooled.baseline.cases.begin()->second.metrics.at("gpu_time").batches;
        for (std::size_t i = 0; i < batches.size(); ++i) {
            const double place = static_cast<double>(i) / static_cast<double>(batches.size());
            batches[i].samples = {1e6 * std::exp(skew * place * place * place)};
        }
        return pooled.findings().unshown.at(0).needed.value();
    };
    for (const double skew : {0.1, -0.1}) {
        const double slower = needed(model::Direction::lower, skew);
        const double faster = needed(model::Direction::higher, skew);
        EXPECT_GT(std::fabs(slower - faster), 0.001) << skew;
        EXPECT_GE(needed(model::Direction::none, skew), std::max(slower, faster)) << skew;
    }
}

TEST(PoolingFindings, OfASharePointsAreOffered) {
    Pooled share({0.05});
    model::MetricDefinition& definition = share.run.metric_definitions.at("gpu_time");
    const std::vector<Unshown> time = share.findings().unshown;
    const Proposal of_time = share.findings().proposals.at(0);
    definition.unit = "%";
    for (auto* metrics :
         {&share.run.suites[0].cases[0].metrics, &share.baseline.cases.begin()->second.metrics}) {
        for (model::Batch& batch : metrics->at("gpu_time").batches) batch.samples[0] /= 2e4;
    }
    share.run.suites[0].cases[0].gates[0].tolerance = {0, {}, 1.5};
    const std::vector<Unshown> found = share.findings().unshown;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].points);
    EXPECT_DOUBLE_EQ(found[0].tolerance, 1.5);
    EXPECT_NEAR(found[0].needed.value(), 50 * time.at(0).needed.value(), 0.1) << "of 50 %";
    const Proposal proposal = share.findings().proposals.at(0);
    EXPECT_TRUE(proposal.points);
    EXPECT_NEAR(proposal.all, 50 * of_time.all, 0.1);
    EXPECT_FALSE(time[0].points || of_time.points);
}

TEST(PoolingFindings, WithTooFewProcessesNoToleranceIsOffered) {
    Pooled few({0.01});
    few.baseline.cases.begin()->second.metrics["gpu_time"] = processes({1e6, 1e6, 1e6});
    few.run.suites[0].cases[0].metrics["gpu_time"] = processes({1e6, 1e6, 1e6});
    const auto found = few.findings().unshown;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_FALSE(found[0].needed);
}

TEST(PoolingFindings, ABaselineOfOneSessionDoesNotTellWhatSessionsDifferBy) {
    Pooled pooled({0.01, 0.01});
    EXPECT_EQ(pooled.findings().sessions, 1U);
    std::vector<model::Batch>& times =
        pooled.baseline.cases.at("gemm/tiled[m=2]").metrics.at("gpu_time").batches;
    times[3].run = 1;
    EXPECT_EQ(pooled.findings().sessions, 2U) << "one time is enough";
    times[3].device = "board-b";
    EXPECT_EQ(pooled.findings().sessions, 1U) << "that may be what boards differ by";
    for (auto& [id, expected] : pooled.baseline.cases) expected.metrics.erase("gpu_time");
    EXPECT_EQ(pooled.findings().sessions, 0U) << "only times drift";
}

TEST(PoolingFindings, OthersWorkBesideTheBaselineIsItsMeanOfTheWorstCase) {
    Pooled pooled({0.01, 0.01});
    EXPECT_EQ(pooled.findings().others_busy, 0);
    for (auto& [id, expected] : pooled.baseline.cases) {
        double busy = id == "gemm/tiled[m=2]" ? 0.4 : 0.2;
        for (model::Batch& batch : expected.metrics.at("gpu_time").batches) {
            batch.other_work = {0, busy};
        }
    }
    EXPECT_NEAR(pooled.findings().others_busy, 0.4, 1e-12);
}

TEST(PoolingFindings, OfSeveralBoardsAreThoseOfTheRunsBoard) {
    const Pooled alone({0.01});
    Pooled joined({0.01});
    std::vector<model::Batch>& times =
        joined.baseline.cases.begin()->second.metrics.at("gpu_time").batches;
    std::vector<model::Batch> others = times;
    for (model::Batch& batch : others) {
        batch.device = "board-b";
        batch.samples[0] *= 1.06;
    }
    times.insert(times.end(), others.begin(), others.end());
    joined.run.suites[0].cases[0].gates[0].tolerance = within(0.03);
    EXPECT_TRUE(joined.findings().unshown.empty());
    EXPECT_EQ(joined.findings().proposals, alone.findings().proposals);
}

TEST(PoolingFindings, TheDriftIsThatOfTheSuite) {
    // Of one case alone two sessions tell little; twelve cases tell how far they differ.
    Pooled pooled(std::vector<double>(12, 0.001));
    std::size_t i = 0;
    for (auto& [id, expected] : pooled.baseline.cases) {
        const double difference = ++i % 2 == 0 ? 0.004 : -0.004;
        for (model::Batch& batch : expected.metrics.at("gpu_time").batches) {
            batch.run = batch.process % 2;
            if (batch.run == 1) batch.samples[0] *= 1 + difference;
        }
    }
    EXPECT_TRUE(pooled.findings().unshown.empty());
}

/// Moves the processes of all cases to sessions of four, each slower by `rise` than the one before.
void in_sessions(Pooled& pooled, double rise) {
    for (auto& [id, stored] : pooled.baseline.cases) {
        for (model::Batch& batch : stored.metrics["gpu_time"].batches) {
            batch.run = batch.process / 4;
            batch.samples[0] = 1e6 * (1 + rise * static_cast<double>(batch.run)) +
                               static_cast<double>(batch.process * 7919 % 13) * 20;
        }
    }
}

TEST(PoolingFindings, ASteadyTrendOverTheSessionsIsNamed) {
    Pooled pooled({0.001, 0.001, 0.001});
    in_sessions(pooled, 0.003);
    const std::vector<SteadyTrend> trends = pooled.findings().trends;
    ASSERT_EQ(trends.size(), 1U);
    EXPECT_EQ(trends[0].metric, "gpu_time");
    EXPECT_TRUE(trends[0].sessions);
    EXPECT_NEAR(trends[0].change, 0.015, 0.001) << "six sessions";
    in_sessions(pooled, 0);
    EXPECT_TRUE(pooled.findings().trends.empty());
}

TEST(PoolingFindings, ASteadyTrendOverOneSessionIsNamed) {
    // The processes of `Pooled` rise from the first to the last.
    const std::vector<SteadyTrend> trends = Pooled({0.01, 0.01}).findings().trends;
    ASSERT_EQ(trends.size(), 1U);
    EXPECT_FALSE(trends[0].sessions);
    EXPECT_NEAR(trends[0].change, 0.02, 0.001);
}

TEST(PoolingFindings, TolerancesInUnitsThatAllowMoreThanTheirPerCentAreCounted) {
    Pooled pooled({0.01, 0.01});
    EXPECT_TRUE(pooled.findings().by_abs.empty());
    pooled.run.suites[0].cases[1].gates[0].tolerance = within(0.04, 110'000);
    const std::vector<AllowedByAbs> by_abs = pooled.findings().by_abs;
    ASSERT_EQ(by_abs.size(), 1U);
    EXPECT_EQ(by_abs[0].metric, "gpu_time");
    EXPECT_EQ(by_abs[0].cases, 1U);
    EXPECT_EQ(by_abs[0].worst_id, "gemm/tiled[m=2]");
    EXPECT_NEAR(by_abs[0].most, 0.11, 0.001);
    pooled.run.suites[0].cases[1].gates[0].tolerance = within(0.04, 30'000);
    EXPECT_TRUE(pooled.findings().by_abs.empty()) << "4 % allows more";
}

TEST(PoolingFindings, TolerancesOfCountersAreNamed) {
    Pooled pooled({0.01, 0.01});
    const auto counted = [](double value) {
        model::MetricSeries series = processes({value, value * 1.002, value * 0.999});
        series.unit = "%";
        return series;
    };
    for (std::size_t i = 0; i < 2; ++i) {
        model::CaseResult& result = pooled.run.suites[0].cases[i];
        result.metrics["l2_hit_rate"] = counted(50);
        result.gates = {{"l2_hit_rate", within(0.02), 0}};
    }
    pooled.baseline = documents::baseline_of(pooled.run);
    const PoolingFindings findings = pooled.findings();
    ASSERT_EQ(findings.proposals.size(), 1U);
    EXPECT_EQ(findings.proposals[0].metric, "l2_hit_rate");
    EXPECT_EQ(findings.proposals[0].cases, 2U);
    EXPECT_GT(findings.proposals[0].all, 0);
}

TEST(PoolingFindings, AnExactMetricThatVariesIsNamed) {
    Pooled pooled({0.01});
    model::MetricSeries& registers = pooled.baseline.cases.begin()->second.metrics.at("registers");
    registers = processes({64, 64, 65});
    EXPECT_EQ(pooled.findings().demotions,
              (std::vector<Demotion>{{"gemm/tiled[m=1]", "registers"}}));
}

TEST(PoolingFindings, AreOfMeasuredCasesAndGatedMetricsThatTheBaselineHas) {
    Pooled skipped({0.01, 0.02});
    skipped.run.suites[0].cases[1].status = model::CaseStatus::skipped;
    EXPECT_EQ(skipped.findings().proposals.at(0).cases, 1U);
    Pooled unknown({0.01, 0.02});
    unknown.baseline.cases.erase("gemm/tiled[m=1]");
    EXPECT_EQ(unknown.findings().proposals.at(0).cases, 1U);
    Pooled ungated({0.01});
    ungated.run.suites[0].cases[0].gates.clear();
    EXPECT_TRUE(ungated.findings().proposals.empty());
    Pooled undefined({0.01});
    undefined.run.metric_definitions.clear();
    EXPECT_TRUE(undefined.findings().proposals.empty());
    Pooled lonely({0.01});
    lonely.baseline.cases.begin()->second.metrics["gpu_time"] = processes({1e6});
    EXPECT_TRUE(lonely.findings().proposals.empty());
}

}  // namespace pooling_test
}  // namespace perfgate::baseline
