// SPDX-License-Identifier: Apache-2.0
// A board that the baseline does not know: which cases their base would decide, and how pairs do.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "gate/batch_rule.hpp"
#include "gate/proof.hpp"
#include "metrics/catalogue.hpp"
#include "unit/gate_pair.hpp"

namespace perfgate::gate {
namespace {

using namespace pairs;
using documents::move_to_board;

/// gpu_time of 20 processes on board-a against a run on board-b, at a tolerance of 0.5 %.
struct OtherBoard : Pair {
    Policy policy;

    explicit OtherBoard(double faster = 1) {
        now().gates = {{"gpu_time", {0.005, std::nullopt, 0}, 0.05}};
        policy.not_shown_fails = true;
        then().metrics = {{"gpu_time", processes(100'000, 0.002, 20)}};
        now().metrics = {{"gpu_time", processes(100'000 / faster, 0.002, 5)}};
        move_to_board("board-b", run);
    }

    /// 13 pairs, of which the head takes `change` times the base's.
    model::Settled& settle(double base, double change, std::size_t pairs = 13) {
        now().settled.emplace();
        now().settled->base = "the baseline's build";
        const auto side = [&](double time) {
            model::MetricSeries series = processes(time, 0.002, pairs);
            for (model::Batch& batch : series.batches) {
                batch.device = "board-b";
                batch.round = 1;
            }
            return series;
        };
        now().settled->before["gpu_time"] = side(base);
        now().settled->after["gpu_time"] = side(base * change);
        return *now().settled;
    }

    bool undecided() const {
        return !undecided_on_board(run, stored(baseline), policy, BatchRule(policy)).empty();
    }
    VerdictDocument judged() const {
        return judge(run, stored(baseline), policy, BatchRule(policy));
    }
    const MetricVerdict time() const { return metric(only_case(judged()), "gpu_time"); }
};

TEST(GateSettled, ATimeThatIsNotShownOnAnotherBoardIsUndecided) {
    EXPECT_TRUE(OtherBoard().undecided()) << "the board's leeway is larger than the tolerance";
    EXPECT_TRUE(OtherBoard(0.8).undecided()) << "it looks slower";
    OtherBoard known;
    move_to_board("board-a", known.run);
    EXPECT_FALSE(known.undecided()) << "the baseline's own board";
}

TEST(GateSettled, WhatRunsTheBaselinesCodeIsNot) {
    OtherBoard same(0.9);
    model::Kernel kernel;
    kernel.name = "k";
    kernel.code = "c";
    kernel.arguments = "a";
    same.now().kernels = same.then().kernels = {kernel};
    same.now().host_code = same.then().host_code = "h";
    same.now().libraries = same.then().libraries = model::Libraries{};
    same.now().memory_operations.emplace();
    same.then().memory_operations.emplace();
    EXPECT_FALSE(same.undecided());
    same.now().host_code = "other";
    EXPECT_TRUE(same.undecided()) << "only what it launches is the baseline's";
}

TEST(GateSettled, PairsDecide) {
    OtherBoard slower_board(0.9);
    slower_board.settle(111'000, 1);
    EXPECT_EQ(slower_board.time().verdict, Verdict::pass);
    EXPECT_EQ(slower_board.judged().exit_code, 0);
    EXPECT_FALSE(slower_board.undecided());

    OtherBoard faster_board(1.05);
    faster_board.settle(95'000, 1.02);
    EXPECT_EQ(faster_board.time().verdict, Verdict::regressed) << "the board hid +2 %";
    EXPECT_EQ(faster_board.judged().exit_code, 1);
    EXPECT_NEAR(*faster_board.time().change, 0.02, 0.002);
}

TEST(GateSettled, ReportsSayWhichCasesWereSettled) {
    OtherBoard pair;
    pair.settle(100'000, 1);
    const VerdictDocument document = pair.judged();
    EXPECT_NE(only_case(document).metrics[0].sentence.find("settled here"), std::string::npos);
    const auto has = [](const std::vector<std::string>& notes, const std::string& words) {
        return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
            return note.find(words) != std::string::npos;
        });
    };
    EXPECT_TRUE(has(only_case(document).notes, "the baseline's build"));
    EXPECT_TRUE(has(document.suites[0].notes, "1 case is settled here"));
    pair.now().settled = model::Settled{{}, "no build", {}, {}};
    EXPECT_TRUE(
        has(pair.judged().suites[0].notes, "1 case is not settled on this board: no build"));
    EXPECT_TRUE(pair.undecided());
}

TEST(GateSettled, AGateThatOnlyWarnsWarns) {
    OtherBoard pair(1.05);
    pair.now().gates.front().tolerance.severity = model::Severity::warn;
    pair.settle(95'000, 1.02);
    EXPECT_EQ(pair.time().verdict, Verdict::warned);
    EXPECT_NE(pair.time().tolerance.find("only warns"), std::string::npos);
    EXPECT_EQ(pair.judged().exit_code, 0);
}

TEST(GateSettled, WhatCannotDecideLeavesTheCaseAsItWas) {
    const auto verdict_of = [](const auto& change) {
        OtherBoard pair(0.9);
        model::Settled& settled = pair.settle(111'000, 1);
        change(settled);
        return pair.time().verdict;
    };
    const Verdict unsettled = OtherBoard(0.9).time().verdict;
    ASSERT_NE(unsettled, Verdict::pass);
    const auto keep = [](model::Settled&) {};
    EXPECT_EQ(verdict_of(keep), Verdict::pass);
    EXPECT_EQ(verdict_of([](auto& settled) { settled.problem = "why"; }), unsettled);
    EXPECT_EQ(verdict_of([](auto& settled) { settled.before.clear(); }), unsettled);
    EXPECT_EQ(verdict_of([](auto& settled) { settled.after.clear(); }), unsettled);
    EXPECT_EQ(verdict_of([](auto& settled) { settled.before.at("gpu_time").method = "other"; }),
              unsettled);
    EXPECT_EQ(verdict_of([](auto& settled) { settled.before.at("gpu_time").batches.resize(5); }),
              unsettled)
        << "too few pairs";
    EXPECT_EQ(verdict_of([](auto& settled) {
                  for (auto& batch : settled.before.at("gpu_time").batches) {
                      batch.samples = {200'000};
                  }
              }),
              unsettled)
        << "a base that takes twice the baseline's time hides anything";
}

TEST(GateSettled, PairsThatDoNotDecideAreSaid) {
    const auto note_of = [](const auto& change) {
        OtherBoard pair;
        change(pair.settle(100'000, 1));
        const VerdictDocument document = pair.judged();
        for (const std::string& note : document.suites[0].notes) {
            if (note.find("not settled on this board") != std::string::npos) return note;
        }
        return std::string();
    };
    EXPECT_EQ(note_of([](model::Settled&) {}), "");
    EXPECT_NE(note_of([](auto& settled) {
                  settled.before.at("gpu_time").batches.resize(5);
              }).find("5 pairs"),
              std::string::npos);
    EXPECT_NE(note_of([](auto& settled) { settled.after.clear(); }).find("both sides"),
              std::string::npos);
    EXPECT_NE(note_of([](auto& settled) {
                  for (auto& batch : settled.before.at("gpu_time").batches) {
                      batch.samples = {200'000};
                  }
              }).find("200.0 µs here and 100"),
              std::string::npos);
}

TEST(GateSettled, AnAcknowledgedValueIsMovedToTheBoard) {
    const auto verdict_of = [](double change) {
        OtherBoard pair(0.9);
        pair.now().gates.front().tolerance.worse = 0.01;
        pair.run.started_at = "2026-01-01T00:00:00Z";
        model::Acknowledgement& known = pair.then().acknowledged["gpu_time"];
        known.until = "2026-01-20";
        known.known = processes(110'000, 0.002, 20);
        pair.settle(90'000, change);
        return pair.time().verdict;
    };
    EXPECT_EQ(verdict_of(1.1), Verdict::acknowledged) << "10 % more than its base, as accepted";
    EXPECT_EQ(verdict_of(1.2), Verdict::regressed) << "108 µs, and twice what was accepted";
}

TEST(GateSettled, OnTheBaselinesBoardPairsDoNotCount) {
    OtherBoard pair(0.9);
    pair.settle(111'000, 1);
    move_to_board("board-a", pair.run);
    EXPECT_EQ(pair.time().verdict, Verdict::regressed);
}

TEST(GateSettled, TheProofTriesTheGateAgainstTheBaseline) {
    OtherBoard pair;
    pair.settle(100'000, 1);
    const auto known = [](std::string_view) { return std::optional(model::Direction::lower); };
    const Proof proof = prove(pair.run, stored(pair.baseline), pair.policy, known);
    EXPECT_EQ(proof.problems, std::vector<std::string>{});
    EXPECT_EQ(proof.gates, 1U);
}

}  // namespace
}  // namespace perfgate::gate
