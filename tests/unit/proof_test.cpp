// SPDX-License-Identifier: Apache-2.0
#include "gate/proof.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gate/batch_rule.hpp"
#include "gate/rule.hpp"
#include "model/benchmark_settings.hpp"
#include "stats/rank_tests.hpp"
#include "unit/gate_pair.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace {

using model::Direction;
using model::MetricClass;
using pairs::Pair;
using pairs::processes;
using pairs::says;

/// A case that gates one metric, of which the baseline has these processes and the run five.
Pair gating(const model::MetricDefinition& definition, double centre, double spread,
            model::Tolerance tolerance, std::size_t in_baseline = 20) {
    Pair pair;
    pair.run.metric_definitions[definition.name] = definition;
    pair.now().gates = {{definition.name, tolerance, 0}};
    pair.now().metrics[definition.name] = processes(centre, spread, 5, definition.unit);
    pair.then().metrics[definition.name] = processes(centre, spread, in_baseline, definition.unit);
    return pair;
}

Proof proved(const Pair& pair, const model::Policy& policy = {}) {
    return prove(pair.run, documents::stored(pair.baseline), policy,
                 [](std::string_view) { return std::nullopt; });
}

std::string problem_of(const Pair& pair) {
    const Proof proof = proved(pair);
    return proof.problems.size() == 1 ? proof.problems.front()
                                      : std::to_string(proof.problems.size()) + " problems";
}

TEST(Proof, GatesOfEveryClassAndDirectionFailWhereTheyShould) {
    for (const auto metric_class :
         {MetricClass::timing, MetricClass::counter, MetricClass::exact}) {
        for (const auto direction : {Direction::lower, Direction::higher, Direction::none}) {
            for (const double spread : {0.0, 0.002, 0.05}) {
                const auto definition =
                    documents::definition("x", "count", metric_class, direction);
                const Proof proof = proved(gating(definition, 5000, spread, {0.04, {}, 0}));
                EXPECT_EQ(proof.gates, 1U);
                EXPECT_TRUE(proof.problems.empty())
                    << static_cast<int>(metric_class) << static_cast<int>(direction) << ' '
                    << spread << ": " << proof.problems.front();
            }
        }
    }
}

TEST(Proof, AGateThatWarnsMustWarnAndMustNotFail) {
    for (const auto metric_class :
         {MetricClass::timing, MetricClass::counter, MetricClass::exact}) {
        const auto definition = documents::definition("x", "count", metric_class);
        Pair pair = gating(definition, 5000, 0.002, {0.04, {}, 0, model::Severity::warn});
        const Proof proof = proved(pair);
        EXPECT_EQ(proof.warning, 1U);
        EXPECT_TRUE(proof.problems.empty()) << proof.problems.front();
        EXPECT_NE(proof.sentence().find("; 1 of them only warns"), std::string::npos);
    }
}

TEST(Proof, CoversOneProcessAbsAndABaselineOfZero) {
    const auto time = documents::definition("gpu_time", "ns", MetricClass::timing);
    EXPECT_TRUE(proved(gating(time, 1000, 0, {0.03, {}, 500}, 1)).problems.empty());
    EXPECT_TRUE(proved(gating(time, 1000, 0.01, {0.03, {}, 500})).problems.empty());
    const auto count = documents::definition("spill_sectors", "count", MetricClass::exact);
    EXPECT_TRUE(proved(gating(count, 0, 0, {0, {}, 0})).problems.empty());
    EXPECT_TRUE(proved(gating(count, 0, 0, {0.1, {}, 7})).problems.empty());
    EXPECT_TRUE(proved(gating(count, 64, 0, {0, {}, 0}, 1)).problems.empty());
}

TEST(Proof, ATimeThatIsTooGoodWhenItGetsBetterDoesNotFail) {
    // Twice what the gate claims is more than all of it.
    const auto time = documents::definition("gpu_time", "ns", MetricClass::timing);
    model::Policy policy;
    policy.not_shown_fails = policy.inconclusive_fails = true;
    for (const double spread : {0.0, 0.02}) {
        const Proof proof = proved(gating(time, 1000, spread, {0.6, {}, 0}), policy);
        EXPECT_EQ(proof.gates, 1U);
        EXPECT_TRUE(proof.problems.empty()) << proof.problems.front();
    }
}

TEST(Proof, ATimeWhoseCodeIsUnchangedFailsWithOtherCode) {
    Pair pair = gating(documents::definition("gpu_time", "ns", MetricClass::timing), 1000, 0.01,
                       {0.03, {}, 0});
    model::Kernel kernel;
    kernel.name = "k";
    kernel.code = "c0de";
    kernel.arguments = "a1";
    pair.now().kernels = pair.then().kernels = {kernel};
    pair.now().host_code = pair.then().host_code = "0057";
    EXPECT_TRUE(proved(pair).problems.empty());
}

TEST(Proof, ABenchmarkThatReportsOneCoarseTimeCanFail) {
    // Multiplied it has more digits, with which so many equal values would look repeated.
    Pair pair = gating(documents::definition("real_time", "ns", MetricClass::timing), 100, 0,
                       {0.05, {}, 0});
    pair.now().instance = model::benchmark_instance;
    EXPECT_EQ(proved(pair).gates, 1U);
    EXPECT_TRUE(proved(pair).problems.empty()) << problem_of(pair);
}

TEST(Proof, TheNoteOfAnotherHostNeedNotNameIt) {
    Pair pair = gating(documents::definition("real_time", "ns", MetricClass::timing), 1000, 0.01,
                       {0.05, {}, 0});
    pair.run.backend = "imported";
    EXPECT_TRUE(proved(pair).problems.empty()) << proved(pair).problems.front();
    documents::move_to_board("board-b", pair.run);
    EXPECT_TRUE(proved(pair).problems.empty()) << proved(pair).problems.front();
}

TEST(Proof, FewProcessesCannotFail) {
    const auto time = documents::definition("gpu_time", "ns", MetricClass::timing);
    EXPECT_TRUE(says(problem_of(gating(time, 1000, 0.01, {0.03, {}, 0}, 2)), "cannot fail"));
}

TEST(Proof, AShareThatCannotGetWorseByTheToleranceCannotFail) {
    const auto hits =
        documents::definition("l2_hit_rate", "%", MetricClass::counter, Direction::higher);
    EXPECT_TRUE(says(problem_of(gating(hits, 3, 0, {0.01, {}, 5}, 1)), "cannot fail"));
    EXPECT_TRUE(proved(gating(hits, 60, 0, {0.01, {}, 5}, 1)).problems.empty());
    const auto rate = documents::definition("rate", "GB/s", MetricClass::timing, Direction::higher);
    EXPECT_EQ(problem_of(gating(rate, 100, 0.002, {0, {}, 200})),
              "rate of gemm/tiled[m=1] cannot fail: its tolerance allows 0");
    const auto idle = documents::definition("idle_share", "%", MetricClass::counter);
    EXPECT_TRUE(says(problem_of(gating(idle, 98, 0, {0.05, {}, 0}, 1)), "cannot fail"));
}

TEST(Proof, AWrongDirectionIsAProblem) {
    const Pair pair =
        gating(documents::definition("throughput", "count", MetricClass::counter, Direction::lower),
               1000, 0, {0.03, {}, 0}, 1);
    const Proof proof =
        prove(pair.run, documents::stored(pair.baseline), {},
              [](std::string_view) -> std::optional<Direction> { return Direction::higher; });
    ASSERT_EQ(proof.problems.size(), 1U);
    EXPECT_TRUE(says(proof.problems[0], "'lower'")) << proof.problems[0];
}

TEST(Proof, WhatHasNoBaselineIsCountedAndNothingIsClaimed) {
    Pair pair = gating(documents::definition("gpu_time", "ns", MetricClass::timing), 1000, 0.01,
                       {0.03, {}, 0});
    pair.then().metrics.clear();
    const Proof proof = proved(pair);
    EXPECT_EQ(proof.gates, 0U);
    EXPECT_EQ(proof.without_baseline, 1U);
    expect_sentence(proof.sentence());
}

/// What the sentence says after its first clause of two cases, the second of which was changed.
std::string said_of_second(const std::function<void(Pair&, model::CaseResult&)>& change) {
    Pair pair = gating(documents::definition("gpu_time", "ns", MetricClass::timing), 1000, 0.01,
                       {0.03, {}, 0});
    model::CaseResult second = pair.now();
    second.spec.params["m"] = 2;
    pair.baseline.cases["gemm/tiled[m=2]"] = pair.then();
    change(pair, second);
    pair.run.suites[0].cases.push_back(second);
    const Proof proof = proved(pair);
    EXPECT_EQ(proof.gates, 1U);
    EXPECT_EQ(proof.cases, 1U);
    EXPECT_TRUE(proof.problems.empty()) << proof.problems.front();
    const std::string text = proof.sentence();
    EXPECT_EQ(text.find("1 gate of 1 case tried: "), 0U) << text;
    return text.substr(text.find("better") + 6);
}

TEST(Proof, GatesWithoutAValidValueAreCounted) {
    const std::string one = "; 1 gate without a valid value could not be tried";
    EXPECT_EQ(said_of_second([](Pair& pair, model::CaseResult& second) {
                  pair.run.environment.ceilings = {2e12, {}, ""};
                  second.work = {0, 1e9, ""};
              }),
              one)
        << "too fast to be true";
    EXPECT_EQ(said_of_second([](Pair&, model::CaseResult& second) {
                  second.status = model::CaseStatus::error;
                  second.metrics.clear();
              }),
              one);
    EXPECT_EQ(said_of_second([](Pair&, model::CaseResult& second) {
                  second.metrics.clear();
                  second.not_collected = {{"gpu_time", "no permission"}};
              }),
              one);
    EXPECT_EQ(said_of_second([](Pair& pair, model::CaseResult&) {
                  pair.baseline.cases["gemm/tiled[m=2]"].metrics["gpu_time"].batches[3].samples = {
                      std::numeric_limits<double>::quiet_NaN()};
              }),
              one)
        << "the baseline's";
    EXPECT_EQ(said_of_second([](Pair&, model::CaseResult& second) {
                  second.status = model::CaseStatus::skipped;
                  second.skipped_by_suite = true;
              }),
              "")
        << "what the suite leaves out is no gate";
}

TEST(Proof, WithoutAnyValidValueNothingWasProved) {
    Pair pair = gating(documents::definition("gpu_time", "ns", MetricClass::timing), 1000, 0.01,
                       {0.03, {}, 0});
    pair.now().status = model::CaseStatus::invalid;
    expect_sentence(proved(pair).sentence());
}

TEST(Proof, AnAcknowledgedRegressionFailsWhereItGetsWorse) {
    Pair pair = gating(documents::definition("gpu_time", "ns", MetricClass::timing), 1000, 0.002,
                       {0.03, {}, 0});
    pair.then().acknowledged["gpu_time"] = {"2026-12-01", "Ada", "meant",
                                            processes(1100, 0.002, 20)};
    EXPECT_TRUE(proved(pair).problems.empty());
}

/// So many processes of a time on a board.
model::MetricSeries on_board(const std::string& board, double centre, std::size_t count = 20) {
    model::MetricSeries result = processes(centre, 0.01, count);
    for (model::Batch& batch : result.batches) batch.device = board;
    return result;
}

/// A time that the baseline has of these boards and the run of the last one.
Pair of_boards(const std::vector<std::pair<std::string, double>>& boards) {
    Pair pair = gating(documents::definition("gpu_time", "ns", MetricClass::timing), 1000, 0.01,
                       {0.03, {}, 0});
    model::MetricSeries& baseline = pair.then().metrics["gpu_time"];
    baseline.batches.clear();
    for (const auto& [board, centre] : boards) {
        const model::MetricSeries part = on_board(board, centre);
        baseline.batches.insert(baseline.batches.end(), part.batches.begin(), part.batches.end());
    }
    pair.now().metrics["gpu_time"] = on_board(boards.back().first, boards.back().second, 5);
    documents::move_to_board(boards.back().first, pair.run);
    return pair;
}

TEST(Proof, ATimeIsTriedAgainstItsOwnBoardsProcesses) {
    for (const double other : {800, 980, 1020, 1250}) {
        const Pair pair = of_boards({{"board-a", other}, {"board-b", 1000}});
        const Proof proof = proved(pair);
        EXPECT_EQ(proof.gates, 1U);
        EXPECT_TRUE(proof.problems.empty()) << other << ": " << proof.problems.front();
    }
    const Pair three = of_boards({{"board-a", 900}, {"board-c", 1150}, {"board-b", 1000}});
    EXPECT_TRUE(proved(three).problems.empty()) << proved(three).problems.front();
}

TEST(Proof, AnotherBoardIsTriedWithTheLeewayBetweenBoards) {
    Pair pair =
        gating(documents::definition("bandwidth", "count", MetricClass::timing, Direction::higher),
               1000, 0.01, {0.03, {}, 0});
    documents::move_to_board("board-b", pair.run);
    EXPECT_TRUE(proved(pair).problems.empty());
    pair.now().gates.front().cross_board = 1;
    EXPECT_TRUE(says(problem_of(pair), "cannot fail")) << problem_of(pair);
    Pair one = gating(documents::definition("gpu_time", "ns", MetricClass::timing), 1000, 0,
                      {0.03, {}, 0}, 1);
    documents::move_to_board("board-b", one.run);
    one.now().gates.front().cross_board = 0.05;
    EXPECT_TRUE(proved(one).problems.empty()) << problem_of(one);
}

TEST(Proof, ANewBoardIsTriedWithWhatTheBaselinesBoardsDifferBy) {
    Pair pair = of_boards({{"board-a", 900}, {"board-b", 1000}, {"board-c", 1100}});
    documents::move_to_board("board-d", pair.run);
    for (const double limit : {0.0, 0.05, 10.0}) {
        pair.now().gates[0].cross_board = limit;
        const Proof proof = proved(pair);
        EXPECT_EQ(proof.gates, 1U);
        EXPECT_TRUE(proof.problems.empty()) << limit << ": " << proof.problems.front();
    }
}

/// Cases of a throughput, whose two sessions differ by these fractions; at 0 there is one session.
Pair of_two_sessions(const std::vector<double>& differences) {
    Pair pair =
        gating(documents::definition("throughput", "count", MetricClass::timing, Direction::higher),
               1000, 0.01, {0.03, {}, 0});
    const model::CaseResult result = pair.now();
    const model::BaselineCase expected = pair.then();
    pair.run.suites[0].cases.clear();
    pair.baseline.cases.clear();
    for (std::size_t i = 0; i < differences.size(); ++i) {
        model::CaseResult& one = pair.run.suites[0].cases.emplace_back(result);
        one.spec.params["m"] = static_cast<std::int64_t>(i + 1);
        model::BaselineCase& stored = pair.baseline.cases[model::case_id(one.spec)];
        stored = expected;
        for (model::Batch& batch : stored.metrics.at("throughput").batches) {
            if (differences[i] == 0 || batch.process % 2 == 0) continue;
            batch.run = 1;
            batch.samples[0] *= 1 + differences[i];
        }
    }
    return pair;
}

TEST(Proof, TheDriftBetweenSessionsIsThatOfTheSuite) {
    // Alone two sessions tell little of further ones; those of twelve cases tell more.
    const Pair own =
        of_two_sessions({.02, -.02, .02, -.02, .02, -.02, .02, -.02, .02, -.02, .02, -.02});
    EXPECT_TRUE(proved(own).problems.empty()) << proved(own).problems.front();
    const auto detected = [](const Pair& pair) {
        const model::VerdictDocument document = judge(pair.run, documents::stored(pair.baseline),
                                                      model::Policy(), BatchRule(model::Policy()));
        return document.suites[0].cases[0].metrics[0].minimum_detectable_change.value();
    };
    EXPECT_LT(detected(own), 0.3);
    // What all cases share is allowed to those of one session, too.
    const Pair shared = of_two_sessions({0, .02, .02, .02, .02, .02});
    EXPECT_TRUE(proved(shared).problems.empty()) << proved(shared).problems.front();
    EXPECT_GT(detected(shared), 0.33);
}

TEST(Proof, TheLevelIsThatOfTheWholeRun) {
    // Alone 5 processes are enough; 400 cases leave each test too small a share.
    const auto time = documents::definition("gpu_time", "ns", MetricClass::timing);
    Pair one = gating(time, 1000, 0.01, {0.03, {}, 0}, 5);
    EXPECT_TRUE(proved(one).problems.empty());
    std::vector<model::CaseResult> cases;
    for (std::int64_t m = 1; m <= 400; ++m) {
        cases.push_back(one.now());
        cases.back().spec.params["m"] = m;
    }
    one.run.suites[0].cases = cases;
    const model::BaselineCase expected = one.then();
    for (const model::CaseResult& result : cases) {
        one.baseline.cases[model::case_id(result.spec)] = expected;
    }
    EXPECT_EQ(proved(one).problems.size(), 400U);
}

TEST(Proof, ALoneTestHasTheWholeLevel) {
    // The last round's processes and the baseline's 5, in ranks, and the level that they just
    // reach.
    const Pair one = gating(documents::definition("gpu_time", "ns", MetricClass::timing), 1000,
                            0.01, {0.03, {}, 0}, 5);
    const double least = stats::rank_sum_least(5, round_size(1) + round_size(2));
    model::Policy policy;
    const double shares = static_cast<double>(policy.rounds) / 0.35;
    policy.false_alarms = 1.5 * shares * least;
    EXPECT_TRUE(proved(one, policy).problems.empty());
    policy.false_alarms = 0.9 * shares * least;
    EXPECT_EQ(proved(one, policy).problems.size(), 1U);
}

}  // namespace
}  // namespace perfgate::gate
