// SPDX-License-Identifier: Apache-2.0
#include "gate/self_test.hpp"

#include <gtest/gtest.h>

#include "gate/batch_rule.hpp"
#include "runner/canary.hpp"
#include "unit/gate_documents.hpp"

namespace perfgate::gate {
namespace {

using runner::keep_canary;

using documents::measured_case;
using documents::run_of;

std::optional<Canary> choose(const model::Run& run) {
    return runner::choose_canary(run, model::Policy{});
}

/// Cases 1, 2 and 3, of which the second took least time.
model::Run three_cases() {
    model::Run run = run_of({measured_case(1), measured_case(2), measured_case(3)});
    double wall_s = 3;
    for (model::CaseResult& result : run.suites[0].cases) {
        result.wall_s = wall_s;
        wall_s = wall_s == 3 ? 1 : 2;
    }
    return run;
}

model::VerdictDocument verdict_of(const Canary& canary, model::Verdict verdict, int exit_code) {
    model::VerdictDocument document;
    document.exit_code = exit_code;
    document.suites.resize(1);
    document.suites[0].name = canary.suite;
    document.suites[0].cases.resize(1);
    document.suites[0].cases[0].id = canary.id;
    document.suites[0].cases[0].verdict = verdict;
    document.suites[0].cases[0].reason = "too little is known";
    return document;
}

TEST(Canary, IsTheQuickestMeasuredCaseThatGatesATime) {
    model::Run run = three_cases();
    EXPECT_EQ(choose(run)->id, "gemm/tiled[m=2]");
    run.suites[0].cases[1].status = model::CaseStatus::error;
    EXPECT_EQ(choose(run)->id, "gemm/tiled[m=3]");
    run.suites[0].cases[2].gates = {{"registers", {}, 0}};
    const std::optional<Canary> canary = choose(run);
    EXPECT_EQ(canary->id, "gemm/tiled[m=1]");
    EXPECT_EQ(canary->suite, "s");
    EXPECT_EQ(canary->metric, "gpu_time");
    EXPECT_EQ(canary->baselines.at("s").baseline.cases.size(), 1U);
    run.suites[0].cases[0].gates.clear();
    EXPECT_FALSE(choose(run));
}

TEST(Canary, WithoutACaseThatCanBeSlowedDownEverySuiteSaysSo) {
    const auto notes_of = [](const model::Run& run) {
        model::VerdictDocument verdict;
        verdict.suites.resize(1);
        runner::note_without_canary(run, verdict);
        return verdict.suites[0].notes;
    };
    model::Run run = three_cases();
    EXPECT_TRUE(notes_of(run).empty());
    for (model::CaseResult& result : run.suites[0].cases) result.command = {"./train"};
    ASSERT_EQ(notes_of(run).size(), 1U);
    EXPECT_NE(notes_of(run)[0].find("the canary was not tried"), std::string::npos);
    run.verify_only = true;
    EXPECT_TRUE(notes_of(run).empty()) << "nothing was judged";
    run = run_of({});
    EXPECT_EQ(notes_of(run).size(), 1U);
}

TEST(Canary, WorkIsAddedToATimeNotToAShareOfACeiling) {
    model::Run run = three_cases();
    run.metric_definitions["ceiling_share"] = documents::definition(
        "ceiling_share", "%", model::MetricClass::timing, model::Direction::higher);
    for (model::CaseResult& result : run.suites[0].cases) {
        result.metrics["ceiling_share"] = documents::series({80}, "%");
        result.gates.insert(result.gates.begin(), {"ceiling_share", {0, {}, 2}, 0});
    }
    EXPECT_EQ(choose(run)->metric, "gpu_time");
    for (model::CaseResult& result : run.suites[0].cases) result.gates.resize(1);
    EXPECT_FALSE(choose(run));
}

model::MetricSeries processes(std::size_t count, double spread) {
    model::MetricSeries series = documents::series({});
    series.batches.clear();
    for (std::size_t i = 0; i < count; ++i) {
        series.batches.push_back({static_cast<std::int64_t>(i),
                                  "board-a",
                                  1,
                                  {1000 * (1 + spread * static_cast<double>(i))}});
    }
    series.value = 1000;
    return series;
}

TEST(Canary, OfOneProcessIsSlowerByTwiceTheTolerance) {
    model::Run run = run_of({measured_case()});
    model::CaseResult& result = run.suites[0].cases[0];
    result.metrics["gpu_time"] = documents::series({1000});
    result.gates = {{"gpu_time", {.worse = 0.8, .better = {}, .abs = 900}, 0}};
    EXPECT_DOUBLE_EQ(choose(run)->added, 2 * 0.9);
    EXPECT_EQ(choose(run)->processes, 1U);
}

TEST(Canary, IsSlowerByTwiceWhatIsClaimedInAsManyProcessesAsTheTestNeeds) {
    model::Run run = run_of({measured_case()});
    model::MetricSeries& time = run.suites[0].cases[0].metrics["gpu_time"];
    time = processes(5, 0.001);
    const std::optional<Canary> canary = choose(run);
    EXPECT_EQ(canary->processes, 8U) << "1 / C(13, 5) is less than 0.1 %, 1 / C(12, 5) is not";
    EXPECT_GT(canary->added, 2 * 0.03);
    // The gate finds what the canary says.
    model::Run slower = run;
    model::MetricSeries& now = slower.suites[0].cases[0].metrics["gpu_time"];
    now = processes(8, 0.0006);
    for (model::Batch& batch : now.batches) batch.samples[0] *= 1 + canary->added;
    model::Policy policy;
    policy.rounds = 0;
    const auto document = judge(slower, canary->baselines, policy, BatchRule(policy));
    EXPECT_TRUE(judge_canary(*canary, document).found) << judge_canary(*canary, document).sentence;

    time = processes(5, 0.1);
    EXPECT_GT(choose(run)->added, 10 * canary->added) << "a noisy time must be much slower";
    time = processes(2, 0.001);
    EXPECT_EQ(choose(run)->processes, 0U) << "no test of two against forty reaches 0.1 %";
}

TEST(Canary, IsAllThatIsLeftOfAPlan) {
    const model::Run run = three_cases();
    const Canary canary = choose(run).value();
    model::Plan plan;
    plan.suites.resize(2);
    plan.suites[0].name = "other";
    plan.suites[1].name = "s";
    plan.suites[1].relations.resize(1);
    for (const model::CaseResult& result : run.suites[0].cases) {
        model::PlannedCase planned;
        planned.spec = result.spec;
        planned.metrics = {"gpu_time", "registers"};
        planned.gates = {{"gpu_time", {}, 0}, {"registers", {}, 0}};
        plan.suites[1].cases.push_back(planned);
    }
    keep_canary(plan, canary);
    ASSERT_EQ(plan.suites.size(), 1U);
    EXPECT_TRUE(plan.suites[0].relations.empty());
    ASSERT_EQ(plan.suites[0].cases.size(), 1U);
    const model::PlannedCase& left = plan.suites[0].cases[0];
    EXPECT_EQ(model::case_id(left.spec), canary.id);
    EXPECT_EQ(left.metrics, std::vector<std::string>{"gpu_time"});
    ASSERT_EQ(left.gates.size(), 1U);
    EXPECT_EQ(left.gates[0].metric, "gpu_time");
    EXPECT_EQ(left.added_work, canary.added);
}

TEST(Canary, IsFoundWhereItIsARegressionAndTheExitCodeSaysSo) {
    const Canary canary = choose(three_cases()).value();
    const CanaryResult found =
        judge_canary(canary, verdict_of(canary, model::Verdict::regressed, 1));
    EXPECT_TRUE(found.found);
    EXPECT_NE(found.sentence.find("gemm/tiled[m=2], made "), std::string::npos) << found.sentence;
}

TEST(Canary, AnythingElseIsNamed) {
    const Canary canary = choose(three_cases()).value();
    const auto sentence = [&](model::Verdict verdict, int exit_code) {
        const CanaryResult result = judge_canary(canary, verdict_of(canary, verdict, exit_code));
        EXPECT_FALSE(result.found);
        return result.sentence;
    };
    EXPECT_NE(sentence(model::Verdict::inconclusive, 0).find("inconclusive"), std::string::npos);
    EXPECT_NE(sentence(model::Verdict::pass, 0).find("too little is known"), std::string::npos);
    EXPECT_NE(sentence(model::Verdict::regressed, 0).find("the exit code is 0"), std::string::npos);
    model::VerdictDocument empty;
    EXPECT_NE(judge_canary(canary, empty).sentence.find("was not judged"), std::string::npos);
}

}  // namespace
}  // namespace perfgate::gate
