// SPDX-License-Identifier: Apache-2.0
// The loop of a run: what the gate flags is measured again until it is clear. The measurement is a
// fake that adds batches of known values.
#include "runner/confirm.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "baseline/store.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "gate/rule.hpp"
#include "metrics/catalogue.hpp"
#include "runner/judging.hpp"
#include "unit/gate_documents.hpp"
#include "unit/temporary_folder.hpp"

namespace perfgate::runner {
namespace {

namespace documents = gate::documents;
using model::CaseIndex;
using Cases = std::vector<CaseIndex>;

/// One call of measure_again.
struct Call {
    Cases cases;
    std::int64_t round = 0;
    std::size_t processes = 0;

    bool operator==(const Call&) const = default;
};

/// Processes a little apart, as real ones are: around `centre` by up to 0.2 %.
double value_near(double centre, std::size_t process) {
    return centre * (1 + 0.0004 * (static_cast<double>(process * 7 % 11) - 5));
}

void add_batches(model::CaseResult& result, double centre, std::int64_t round,
                 std::size_t processes) {
    std::vector<model::Batch>& batches = result.metrics.at("gpu_time").batches;
    for (std::size_t n = 0; n < processes; ++n) {
        model::Batch batch;
        batch.process = static_cast<std::int64_t>(batches.size());
        batch.device = "board-a";
        batch.round = round;
        batch.samples = {value_near(centre, batches.size())};
        batches.push_back(std::move(batch));
    }
}

model::CaseResult measured_around(double centre, std::size_t processes, std::int64_t m = 1) {
    model::CaseResult result = documents::measured_case(m);
    result.metrics.at("gpu_time").batches.clear();
    add_batches(result, centre, 0, processes);
    return result;
}

class FakeMeasuring final : public measure::Measuring {
  public:
    explicit FakeMeasuring(model::Run run) : run_(std::move(run)) {}

    const model::Run& run() const override { return run_; }
    bool interrupted() const override { return calls.size() >= interrupted_after; }
    void measure_again(const Cases& cases, std::int64_t round, std::size_t processes) override {
        calls.push_back({cases, round, processes});
        for (const CaseIndex& at : cases) {
            model::CaseResult& result = run_.suites.at(at.suite).cases.at(at.index);
            add_batches(result, further_ns, round, processes);
            if (fails) result.status = model::CaseStatus::error;
        }
    }

    std::vector<Call> calls;
    double further_ns = 1000;  ///< what is measured again
    bool fails = false;        ///< every case that is measured again
    std::size_t interrupted_after = 1000;

  private:
    model::Run run_;
};

model::Run two_cases() {
    return documents::run_of({measured_around(1000, 5, 1), measured_around(1000, 5, 2)});
}

/// Flags the same cases each of the first `times` times it is asked.
Flagged always(const Cases& cases, std::size_t times = 1000) {
    return [cases, left = times](const model::Run&) mutable {
        return left == 0 ? Cases{} : (--left, cases);
    };
}

TEST(Confirm, NothingFlaggedIsNothingMeasured) {
    FakeMeasuring measuring(two_cases());
    confirm(measuring, always({}));
    EXPECT_TRUE(measuring.calls.empty());
}

TEST(Confirm, EachRoundHasTheProcessesOfItsNumber) {
    FakeMeasuring measuring(two_cases());
    confirm(measuring, always({{0, 1}}, 2));
    EXPECT_EQ(measuring.calls, (std::vector<Call>{{{{0, 1}}, 1, gate::round_size(1)},
                                                  {{{0, 1}}, 2, gate::round_size(2)}}));
}

TEST(Confirm, ARoundOfPairsIsLargeEnoughToDecide) {
    FakeMeasuring measuring(two_cases());
    confirm(measuring, always({{0, 1}}, 2), gate::Processes::paired);
    EXPECT_EQ(measuring.calls, (std::vector<Call>{{{{0, 1}}, 1, 13}, {{{0, 1}}, 2, 32}}));
    model::Run run = two_cases();
    add_batches(run.suites[0].cases[1], 1000, 1, 8);
    FakeMeasuring begun(std::move(run));
    confirm(begun, always({}), gate::Processes::paired);
    EXPECT_EQ(begun.calls, (std::vector<Call>{{{{0, 1}}, 1, 5}}));
}

TEST(Confirm, CasesThatAreFlaggedLaterBeginWithTheFirstRound) {
    FakeMeasuring measuring(two_cases());
    std::vector<Cases> answers{{{0, 0}}, {{0, 0}, {0, 1}}, {}};
    std::size_t asked = 0;
    confirm(measuring, [&](const model::Run&) { return answers.at(asked++); });
    EXPECT_EQ(measuring.calls, (std::vector<Call>{{{{0, 0}}, 1, gate::round_size(1)},
                                                  {{{0, 1}}, 1, gate::round_size(1)},
                                                  {{{0, 0}}, 2, gate::round_size(2)}}));
}

TEST(Confirm, ACaseThatFailsIsNotMeasuredAgain) {
    FakeMeasuring measuring(two_cases());
    measuring.fails = true;
    confirm(measuring, always({{0, 0}}));
    EXPECT_EQ(measuring.calls.size(), 1U);
}

TEST(Confirm, AGateThatIsNeverSatisfiedDoesNotKeepItForEver) {
    FakeMeasuring measuring(two_cases());
    confirm(measuring, always({{0, 0}}));
    EXPECT_EQ(measuring.calls.size(), 20U);
}

TEST(Confirm, AnInterruptionEndsIt) {
    FakeMeasuring measuring(two_cases());
    measuring.interrupted_after = 1;
    confirm(measuring, always({{0, 0}}));
    EXPECT_EQ(measuring.calls.size(), 1U);

    FakeMeasuring before(two_cases());
    before.interrupted_after = 0;
    confirm(before, always({{0, 0}}));
    EXPECT_TRUE(before.calls.empty());
}

TEST(Confirm, ARunThatOnlyVerifiesHasNothingToConfirm) {
    model::Run run = two_cases();
    run.verify_only = true;
    FakeMeasuring measuring(std::move(run));
    confirm(measuring, always({{0, 0}}));
    EXPECT_TRUE(measuring.calls.empty());
}

TEST(Confirm, ARoundThatAnEarlierExecutionBeganIsFinishedFirst) {
    model::Run run = two_cases();
    add_batches(run.suites[0].cases[1], 1000, 1, 3);
    FakeMeasuring measuring(std::move(run));
    confirm(measuring, always({}));
    EXPECT_EQ(measuring.calls, (std::vector<Call>{{{{0, 1}}, 1, gate::round_size(1) - 3}}));
}

/// The real gate, on a case whose first processes were 10 % slower than the baseline's.
class ConfirmWithTheGate : public testing::Test {
  protected:
    model::VerdictDocument verdict_where_further_processes_take(double ns) {
        measuring_.further_ns = ns;
        confirm(measuring_, [&](const model::Run& run) {
            return gate::flagged(run, baselines_, policy_, rule_);
        });
        return gate::judge(measuring_.run(), baselines_, policy_, rule_);
    }

    model::Policy policy_;
    gate::BatchRule rule_{policy_};
    gate::BaselineSet baselines_ =
        documents::stored(documents::baseline_of(documents::run_of({measured_around(100000, 20)})));
    FakeMeasuring measuring_{documents::run_of({measured_around(110000, 3)})};
};

TEST_F(ConfirmWithTheGate, ARegressionIsConfirmedByFreshProcesses) {
    const model::VerdictDocument verdict = verdict_where_further_processes_take(110000);
    EXPECT_EQ(measuring_.calls, (std::vector<Call>{{{{0, 0}}, 1, gate::round_size(1)}}));
    EXPECT_EQ(verdict.suites[0].cases[0].verdict, model::Verdict::regressed);
    EXPECT_EQ(verdict.exit_code, 1);
}

TEST_F(ConfirmWithTheGate, FiveOfFiveDecideWithoutAnotherRound) {
    FakeMeasuring five{documents::run_of({measured_around(110000, 5)})};
    confirm(five,
            [&](const model::Run& run) { return gate::flagged(run, baselines_, policy_, rule_); });
    EXPECT_TRUE(five.calls.empty());
    EXPECT_EQ(gate::judge(five.run(), baselines_, policy_, rule_).exit_code, 1);
}

TEST_F(ConfirmWithTheGate, ACaseOfWhichACountFailsIsNotMeasuredAgain) {
    const auto further_calls = [&](const char* metric) {
        model::Run then = documents::run_of({measured_around(100000, 20)});
        model::Run now = documents::run_of({measured_around(110000, 3)});
        for (auto [run, value] : {std::pair{&then, 0.0}, std::pair{&now, 1.0}}) {
            model::CaseResult& result = run->suites[0].cases[0];
            run->metric_definitions[metric] = metrics::find_metric(metric)->definition;
            result.gates.push_back({metric, {}, 0});
            result.metrics[metric] = documents::series({value}, "count", "x");
        }
        const gate::BaselineSet known = documents::stored(documents::baseline_of(then));
        FakeMeasuring measuring(std::move(now));
        confirm(measuring, [&](const model::Run& run) {
            return worth_measuring_again(run, known, policy_, rule_);
        });
        return measuring.calls.size();
    };
    EXPECT_EQ(further_calls("syncs"), 0U);
    EXPECT_GT(further_calls("instructions"), 0U) << "counters are collected again";
}

TEST_F(ConfirmWithTheGate, CountersThatLookWorseAreCollectedAgainAndOnlyTestedOnesOften) {
    const auto failing = [&](const std::vector<double>& then, double now, bool again) {
        const auto run_with = [](const std::vector<double>& values) {
            model::Run run = documents::run_of({measured_around(100000, 8)});
            model::CaseResult& result = run.suites[0].cases[0];
            run.metric_definitions["dram_bytes"] = metrics::find_metric("dram_bytes")->definition;
            result.gates.push_back({"dram_bytes", {0.01, std::nullopt, 0}, 0});
            model::MetricSeries& series = result.metrics["dram_bytes"];
            series = documents::series({}, "bytes", "x");
            series.value = values.front();
            for (const double value : values) {
                model::Batch& batch = series.batches.emplace_back();
                batch.process = static_cast<std::int64_t>(series.batches.size()) - 1;
                batch.device = "board-a";
                batch.samples = {value};
            }
            return run;
        };
        const TemporaryFolder folder;
        baseline::save_baseline(folder.path(), documents::baseline_of(run_with(then)));
        model::Run run = run_with({now});
        run.suites[0].cases[0].host_code = "other";
        run.suites[0].cases[0].kernels.clear();
        const Judge judge({.baselines = folder.path().string(), .policy = policy_}, run);
        return judge.failing_counters(run, again).size();
    };
    const std::vector<double> three{1000, 1001, 999};
    EXPECT_EQ(failing(three, 1009, false), 0U);
    EXPECT_EQ(failing(three, 1050, false), 1U) << "unclear";
    EXPECT_EQ(failing(three, 1050, true), 1U);
    EXPECT_EQ(failing(three, 5000, true), 1U) << "regressed";
    EXPECT_EQ(failing({1000}, 1050, false), 1U);
    EXPECT_EQ(failing({1000}, 1050, true), 0U) << "by its tolerance alone";
}

TEST_F(ConfirmWithTheGate, AnUnluckyFirstRoundIsNoRegressionAndIsNotForgotten) {
    const model::VerdictDocument verdict = verdict_where_further_processes_take(100000);
    EXPECT_EQ(measuring_.calls, (std::vector<Call>{{{{0, 0}}, 1, gate::round_size(1)}}));
    EXPECT_EQ(verdict.suites[0].cases[0].verdict, model::Verdict::inconclusive);
    EXPECT_EQ(verdict.suites[0].cases[0].doubt, model::Doubt::slow_processes);
    EXPECT_EQ(verdict.exit_code, 0);
}

/// A broken relation about this metric of the case, alone.
Cases sampled_for(const std::string& metric) {
    const model::CaseResult result = measured_around(1000, 3);
    model::Relation relation;
    relation.left_text = case_id(result.spec) + '.' + metric;
    relation.right_text = "1";
    relation.left = {model::OperandMetric{0, metric}};
    relation.right = {1.0};
    relation.instances = {{case_id(result.spec)}};
    model::Run run = documents::run_of({result});
    run.suites[0].relations = {relation};
    model::VerdictDocument verdict;
    model::SuiteVerdict& suite = verdict.suites.emplace_back();
    suite.cases.emplace_back().id = case_id(result.spec);
    model::RelationVerdict& broken = suite.relations.emplace_back();
    broken.relation = to_text(relation);
    broken.leading = case_id(result.spec);
    broken.verdict = model::Verdict::regressed;
    return failing_host_times(run, verdict);
}

TEST(FailingHostTimes, ABrokenRelationOfAHostTimeHasItsCaseSampled) {
    EXPECT_EQ(Cases({{0, 0}}), sampled_for("span"));
    EXPECT_EQ(Cases(), sampled_for("gpu_span"));
}

}  // namespace
}  // namespace perfgate::runner
