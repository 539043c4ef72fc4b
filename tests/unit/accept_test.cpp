// SPDX-License-Identifier: Apache-2.0
#include "baseline/accept.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "baseline/refresh.hpp"
#include "document/baseline.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "median_rule.hpp"
#include "unit/gate_documents.hpp"
#include "unit/gate_pair.hpp"
#include "util/error.hpp"

namespace perfgate::baseline {
namespace {

using namespace gate;

using documents::baseline_of;
using documents::measured_case;
using documents::run_of;
using documents::series;
using documents::stored;
using model::CaseStatus;
using model::Verdict;

const std::string first_id = "gemm/tiled[m=1]";
const std::string second_id = "gemm/tiled[m=2]";
const std::string third_id = "gemm/tiled[m=3]";

Acceptance by_ada(bool reset = false) {
    Acceptance acceptance{"Ada", "meant"};
    acceptance.at = "2026-11-22T09:00:00Z";
    acceptance.reset_anchors = reset;
    return acceptance;
}

/// Three cases, of which the first is as it was, the second has become slower and the third faster.
model::Run before() {
    return run_of({measured_case(1), measured_case(2), measured_case(3)});
}
model::Run after(double slower = 1080) {
    model::Run run = before();
    run.started_at = "2026-11-22T08:00:00Z";
    run.git_revision = "def";
    auto& cases = run.suites[0].cases;
    cases[0].metrics["gpu_time"] = series({1005});
    cases[1].metrics["gpu_time"] = series({slower});
    cases[2].metrics["gpu_time"] = series({900});
    return run;
}

std::vector<Accepted> all_accepted(const model::Run& run, const BaselineSet& baselines,
                                   const AcceptChoice& choice = {},
                                   const Acceptance& acceptance = by_ada()) {
    const BatchRule rule{model::Policy{}};
    return accept(run, judge(run, baselines, {}, rule), baselines, choice, acceptance, rule);
}

Accepted accepted(const model::Run& run, const BaselineSet& baselines,
                  const AcceptChoice& choice = {}, const Acceptance& acceptance = by_ada()) {
    return all_accepted(run, baselines, choice, acceptance).at(0);
}

std::string refusal(const model::Run& run, const AcceptChoice& choice = {},
                    const Acceptance& acceptance = by_ada()) {
    try {
        all_accepted(run, stored(baseline_of(before())), choice, acceptance);
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "not refused";
}

Verdict verdict_of(const model::Run& run, const model::Baseline& baseline, std::size_t index = 1) {
    return judge(run, stored(baseline), {}, BatchRule{model::Policy{}})
        .suites.at(0)
        .cases.at(index)
        .verdict;
}

TEST(Accept, TakesWhatChangedAndLeavesTheRestToTheByte) {
    const model::Baseline old = baseline_of(before());
    const Accepted result = accepted(after(), stored(old));
    const auto& cases = result.baseline.cases;
    EXPECT_EQ(cases.at(first_id), old.cases.at(first_id)) << "5 ns are within the tolerance";
    EXPECT_EQ(result.unchanged, 1U);

    const model::BaselineCase& slower = cases.at(second_id);
    EXPECT_EQ(slower.metrics.at("gpu_time").value, 1080);
    EXPECT_EQ(slower.metrics.at("registers"), old.cases.at(second_id).metrics.at("registers"));
    EXPECT_EQ(slower.provenance.accepted_by, "Ada");
    EXPECT_EQ(slower.provenance.reason, "meant");
    EXPECT_EQ(slower.provenance.git_revision, "def");
    EXPECT_EQ(slower.provenance.wall_s, 0.25);
    EXPECT_EQ(verdict_of(after(), result.baseline), Verdict::inconclusive)
        << "nothing fails any more; one process shows nothing";
}

TEST(Accept, ATimeThatIsTooGoodToBeBelievedIsAccepted) {
    const model::Run collapsed = after(2);
    EXPECT_EQ(verdict_of(collapsed, baseline_of(before())), Verdict::inconclusive);
    const Accepted result = accepted(collapsed, stored(baseline_of(before())));
    EXPECT_EQ(result.baseline.cases.at(second_id).metrics.at("gpu_time").value, 2);
    const model::VerdictDocument now =
        judge(collapsed, stored(result.baseline), {}, BatchRule{model::Policy{}});
    EXPECT_EQ(now.suites[0].cases[1].doubt, model::Doubt::not_shown) << "one process";
}

TEST(Accept, ANegativeAmountIsRefused) {
    EXPECT_NE(refusal(after(-1)).find("is no amount"), std::string::npos) << refusal(after(-1));
}

TEST(Accept, WhatACaseIsMeasuredAsIsKeptWhereTheRunDoesNotKnowIt) {
    model::Baseline old = baseline_of(before());
    const model::MeasuredAs known{{"command", "./app"}, {"values.rate", "/rate"}};
    old.cases.at(second_id).measured_as = known;
    model::Run run = after();
    const auto accepted_as = [&] {
        return accepted(run, stored(old)).baseline.cases.at(second_id).measured_as;
    };
    EXPECT_EQ(accepted_as(), known) << "an older run";
    run.suites[0].cases[1].measured_as = {{"command", "./app"}};
    EXPECT_EQ(accepted_as(), known) << "the metric stays";
}

TEST(Accept, AcceptingAgainChangesNothing) {
    const Accepted first = accepted(after(), stored(baseline_of(before())));
    const Accepted second = accepted(after(), stored(first.baseline));
    EXPECT_TRUE(second.entries.empty());
    EXPECT_EQ(second.baseline, first.baseline);
}

TEST(Accept, TheLedgerSaysWhoWhatAndWhy) {
    const Accepted result = accepted(after(), stored(baseline_of(before())));
    ASSERT_EQ(result.entries.size(), 2U);
    model::LedgerEntry expected;
    expected.id = second_id;
    expected.at = "2026-11-22T09:00:00Z";
    expected.by = "Ada";
    expected.reason = "meant";
    expected.recorded_at = "2026-11-22T08:00:00Z";
    expected.git_revision = "def";
    expected.changes["gpu_time"] = {"ns", 1000, 1080, 1000};
    expected.digests[second_id] =
        document::digest_of_case(second_id, result.baseline.cases.at(second_id));
    EXPECT_EQ(result.entries[0], expected);
    EXPECT_EQ(result.entries[1].id, third_id);
    EXPECT_EQ(result.entries[1].changes.at("gpu_time"),
              (model::LedgerChange{"ns", 1000, 900, std::nullopt}))
        << "a better value is its own anchor";
}

TEST(Accept, ChoosesCasesByGlob) {
    const Accepted result =
        accepted(after(), stored(baseline_of(before())), AcceptChoice{{"*m=3*"}});
    ASSERT_EQ(result.entries.size(), 1U);
    EXPECT_EQ(result.entries[0].id, third_id);
    EXPECT_EQ(result.baseline.cases.at(second_id).metrics.at("gpu_time").value, 1000);
    EXPECT_EQ(refusal(after(), {{"*m=3*", "*m=9*"}}),
              "--filter '*m=9*' matches no case of the run; an id looks like 'gemm/tiled[m=3]'");
}

TEST(Accept, AnIdChoosesItsOwnCaseAlone) {
    model::Run run = after();
    auto& cases = run.suites[0].cases;
    cases[1].spec.params = {{"m", std::string("*")}};
    const std::string id = model::case_id(cases[1].spec);
    cases[2].spec.params = {{"m", std::string("**")}};
    model::Run old = run;
    for (auto& each : old.suites[0].cases) each.metrics["gpu_time"] = series({1000});
    const Accepted result = accepted(run, stored(baseline_of(old)), {{id}});
    ASSERT_EQ(result.entries.size(), 1U);
    EXPECT_EQ(result.entries[0].id, id);
}

TEST(Accept, RemovesACaseThatTheSuiteNoLongerHasIfItsIdIsNamed) {
    model::Run run = after();
    run.suites[0].cases.resize(2);
    const BaselineSet baselines = stored(baseline_of(before()));
    const Accepted result = accepted(run, baselines, {{second_id, third_id}});
    EXPECT_FALSE(result.baseline.cases.contains(third_id));
    ASSERT_EQ(result.entries.size(), 2U);
    EXPECT_EQ(result.entries[1].id, third_id);
    EXPECT_EQ(result.entries[1].action, model::LedgerAction::prune);
    EXPECT_EQ(result.entries[1].reason, "meant");

    EXPECT_TRUE(accepted(run, baselines).baseline.cases.contains(third_id)) << "nobody named it";
    EXPECT_TRUE(accepted(run, baselines, {{"gemm/*"}}).baseline.cases.contains(third_id));
    EXPECT_NE(refusal(run, {{third_id}, "2026-12-31"}).find("missing"), std::string::npos)
        << "what is gone cannot be acknowledged";
}

TEST(Accept, NamesWhatItWouldRefuse) {
    model::Run run = after();
    run.suites[0].cases[1].status = CaseStatus::error;
    const BaselineSet baselines = stored(baseline_of(before()));
    const BatchRule rule{model::Policy{}};
    EXPECT_EQ(not_acceptable(run, judge(run, baselines, {}, rule), baselines, rule),
              std::set<std::string>{second_id});
}

TEST(Accept, AcceptsCasesThatAreNewToTheBaseline) {
    model::Baseline old = baseline_of(before());
    old.cases.erase(second_id);
    const Accepted added = accepted(after(), stored(old), AcceptChoice{{second_id}});
    EXPECT_EQ(added.baseline.cases.at(second_id).metrics, after().suites[0].cases[1].metrics);
    EXPECT_TRUE(added.baseline.cases.at(second_id).anchors.empty());
    EXPECT_EQ(added.entries.at(0).changes.at("gpu_time").before, std::nullopt);

    const Accepted first = accepted(after(), {});
    EXPECT_EQ(first.baseline.suite, "s");
    EXPECT_EQ(first.baseline.device.key, documents::device().key);
    EXPECT_EQ(first.baseline.device.board, "");
    EXPECT_EQ(first.entries.size(), 3U);
}

TEST(Accept, WhatIsNotGatedFollowsWhereItMoved) {
    model::Run then = before();
    model::Run now = after();
    for (model::Run* run : {&then, &now}) {
        for (auto& result : run->suites[0].cases) {
            result.metrics["spill_sectors"] = series({0}, "count", "counter");
            result.metrics["l2_hit_rate"] = series({50}, "%", "counter");
        }
    }
    now.suites[0].cases[0].metrics["spill_sectors"] = series({7}, "count", "counter");
    now.suites[0].cases[1].metrics["spill_sectors"] = series({7}, "count", "counter");
    const Accepted result = accepted(now, stored(baseline_of(then)));
    const auto& cases = result.baseline.cases;
    EXPECT_EQ(cases.at(second_id).metrics.at("spill_sectors").value, 7);
    EXPECT_EQ(cases.at(first_id).metrics.at("spill_sectors").value, 0)
        << "nothing gated changed in this case";
    EXPECT_FALSE(result.entries.at(0).changes.contains("spill_sectors"));
}

TEST(Accept, OtherCodeIsNotStoredBesideATimeThatIsNotShown) {
    const auto coded = [](model::MetricSeries times, const std::string& code, double registers) {
        model::Run run = run_of({measured_case(1)});
        model::CaseResult& result = run.suites[0].cases[0];
        result.kernels.emplace_back().code = code;
        result.kernels[0].arguments = "0";
        result.host_code = "h";
        result.metrics["registers"] = series({registers}, "registers", "record");
        result.metrics["gpu_span"] = times;
        result.metrics["gpu_time"] = std::move(times);
        run.metric_definitions["gpu_span"] =
            documents::definition("gpu_span", "ns", model::MetricClass::timing);
        return run;
    };
    const model::Run usual = coded(pairs::processes(10'000, 0.01, 20), "1", 64);
    model::Baseline baseline = baseline_of(usual);
    baseline.cases.at(first_id).kernels = usual.suites[0].cases[0].kernels;
    baseline.cases.at(first_id).host_code = "h";
    const BaselineSet old = stored(baseline);
    const auto refused = [&](const model::Run& run) {
        try {
            accepted(run, old);
        } catch (const util::InputError& error) {
            return std::string(error.what());
        }
        return std::string("not refused");
    };
    const model::Run slow = coded(pairs::processes(10'100, 0.08, 5), "2", 63);
    EXPECT_NE(refused(slow).find("1 of 5 processes is slower than each of the baseline's by more"),
              std::string::npos)
        << refused(slow);
    const model::Run noisy = coded(pairs::processes(10'200, 0.04, 3), "2", 63);
    EXPECT_NE(refused(noisy).find("gemm/tiled[m=1] (gpu_time is not shown to be within its "
                                  "tolerance, and the code is not the baseline's: measure in more"),
              std::string::npos)
        << refused(noisy);

    const model::Run shown = coded(pairs::processes(10'100, 0.01, 5), "2", 63);
    const model::BaselineCase after = accepted(shown, old).baseline.cases.at(first_id);
    EXPECT_EQ(after.kernels.at(0).code, "2");
    EXPECT_EQ(after.metrics.at("gpu_time"),
              old.at("s").baseline.cases.at(first_id).metrics.at("gpu_time"))
        << "it is shown to be within the tolerance";
    EXPECT_EQ(after.metrics.at("gpu_span").batches.size(), 5U) << "nobody judged it";
}

TEST(Accept, DeviceTimesAndCountersThatTheRunDidNotMeasureAreNotTheNewCodes) {
    const auto coded = [](double time, const std::string& code) {
        model::Run run = run_of({measured_case(1)});
        model::CaseResult& result = run.suites[0].cases[0];
        result.kernels.emplace_back().code = code;
        result.kernels[0].arguments = "0";
        result.host_code = "h";
        result.metrics["gpu_time"] = series({time});
        return run;
    };
    model::Run usual = coded(1000, "1");
    for (const char* metric : {"gpu_span", "energy", "host_time"}) {
        usual.suites[0].cases[0].metrics[metric] = series({1000});
    }
    usual.suites[0].cases[0].metrics["cycles"] = series({1000}, "count", "counter/auto-range");
    model::Baseline baseline = baseline_of(usual);
    baseline.cases.at(first_id).kernels = usual.suites[0].cases[0].kernels;
    baseline.cases.at(first_id).host_code = "h";
    const auto kept = [&](const model::Run& run) {
        const Accepted result = accepted(run, stored(baseline));
        std::set<std::string> names;
        for (const auto& [metric, series] : result.baseline.cases.at(first_id).metrics) {
            names.insert(metric);
        }
        return names;
    };
    using Names = std::set<std::string>;
    EXPECT_EQ(kept(coded(1200, "2")), (Names{"gpu_time", "host_time", "registers"}));
    model::Run same = coded(1000, "1");
    same.suites[0].cases[0].metrics["registers"] = series({63}, "registers", "record");
    EXPECT_EQ(kept(same),
              (Names{"cycles", "energy", "gpu_span", "gpu_time", "host_time", "registers"}))
        << "of the same code they are still true";
    same.suites[0].cases[0].host_code = "h2";
    same.suites[0].cases[0].metrics.erase("gpu_time");
    same.suites[0].cases[0].gates = {{"registers", {}, 0}};
    EXPECT_EQ(kept(same), (Names{"gpu_time", "host_time", "registers"}))
        << "new host code may fill buffers in another way";
}

TEST(Accept, FromAnotherBoardAllMetricsOfTheCaseAreReplaced) {
    model::Run now = after(1200);
    documents::move_to_board("board-b", now);
    const Accepted result =
        accepted(now, stored(baseline_of(before())), AcceptChoice{{second_id}}, by_ada(true));
    const model::BaselineCase& stored_case = result.baseline.cases.at(second_id);
    EXPECT_EQ(stored_case.provenance.board, "board-b");
    EXPECT_EQ(stored_case.metrics, now.suites[0].cases[1].metrics);
    EXPECT_TRUE(result.entries.at(0).changes.contains("registers"));
}

TEST(Accept, RefusesWhatIsNotDecidedAndNamesEach) {
    model::Run run = after();
    auto& cases = run.suites[0].cases;
    cases[0].status = CaseStatus::error;
    cases[0].reason = "signal 11";
    cases[1].not_collected.push_back({"dram_bytes", "no permission"});
    cases[2].verification->passed = false;
    EXPECT_EQ(refusal(run),
              "these cases cannot be accepted: measure them again, or accept others with --filter\n"
              "  gemm/tiled[m=1] (error: signal 11)\n"
              "  gemm/tiled[m=2] (dram_bytes was not collected: no permission)\n"
              "  gemm/tiled[m=3] (not verified)");
    run = after();
    run.suites[0].cases[0].status = CaseStatus::invalid;
    run.suites[0].cases[0].reason = "power brake";
    run.suites[0].cases[1].status = CaseStatus::incorrect;
    run.suites[0].cases[1].reason = "element 7";
    EXPECT_EQ(refusal(run),
              "these cases cannot be accepted: measure them again, or accept others with --filter\n"
              "  gemm/tiled[m=1] (invalid: power brake)\n"
              "  gemm/tiled[m=2] (incorrect: element 7)");
    EXPECT_EQ(refusal(run, {{third_id}}), "not refused");
}

TEST(Accept, TakesASourceThatStatesNoCheckAndNoneThatFailedOne) {
    model::Run run = after();
    for (auto& result : run.suites[0].cases) {
        result.source = "k.cu";
        result.verification.reset();
    }
    EXPECT_EQ(refusal(run), "not refused");
    run.suites[0].cases[0].verification = model::Verification{false, 0, "element 7"};
    EXPECT_NE(refusal(run).find("gemm/tiled[m=1] (not verified)"), std::string::npos);
}

TEST(Accept, RefusesAnInconclusiveCase) {
    const model::Run run = after();
    model::VerdictDocument document =
        judge(run, stored(baseline_of(before())), {}, BatchRule{model::Policy{}});
    model::CaseVerdict& verdict = document.suites[0].cases[1];
    verdict.verdict = verdict.metrics[0].verdict = Verdict::inconclusive;
    verdict.metrics[0].sentence = "gpu_time is inconclusive";
    try {
        accept(run, document, stored(baseline_of(before())), {}, by_ada(), MedianRule());
        FAIL();
    } catch (const util::InputError& error) {
        EXPECT_NE(std::string(error.what()).find("gemm/tiled[m=2] (gpu_time is inconclusive)"),
                  std::string::npos);
    }
}

TEST(Accept, LeavesSkippedCasesAlone) {
    model::Run run = after();
    run.suites[0].cases[1].status = CaseStatus::skipped;
    const Accepted result = accepted(run, stored(baseline_of(before())));
    EXPECT_EQ(result.skipped, 1U);
    EXPECT_EQ(result.entries.size(), 1U);
}

TEST(Accept, RefusesARunThatIsNotWhole) {
    model::Run run = after();
    run.interrupted = true;
    EXPECT_NE(refusal(run).find("interrupted"), std::string::npos);
    run = after();
    run.verify_only = true;
    EXPECT_NE(refusal(run).find("--verify-only"), std::string::npos);
}

TEST(Creep, AcceptedChangesAddUpAgainstTheAnchor) {
    const AcceptChoice second{{second_id}};
    const Accepted once = accepted(after(1060), stored(baseline_of(before())), second);
    EXPECT_EQ(once.baseline.cases.at(second_id).anchors.at("gpu_time"), 1000);

    const auto again = [&](double slower, const Acceptance& acceptance) {
        return accepted(after(slower), stored(once.baseline), second, acceptance);
    };
    // 4 % more is let through: 10 % in all.
    EXPECT_EQ(again(1100, by_ada()).baseline.cases.at(second_id).anchors.at("gpu_time"), 1000);
    try {
        again(1120, by_ada());
        FAIL();
    } catch (const util::InputError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "accepted changes add up: accept these with --reset-anchor if that is meant, or "
                  "others with --filter\n"
                  "  gemm/tiled[m=2]: gpu_time goes from its anchor of 1.000 µs to 1.120 µs "
                  "(+12.0 %); changes since the anchor may add up to 10 %");
    }
    const Accepted reset = again(1120, by_ada(true));
    EXPECT_TRUE(reset.baseline.cases.at(second_id).anchors.empty());
    EXPECT_TRUE(reset.entries.at(0).anchor_reset);
    Acceptance generous = by_ada();
    generous.creep_bound = 0.2;
    EXPECT_EQ(again(1120, generous).baseline.cases.at(second_id).metrics.at("gpu_time").value,
              1120);
}

TEST(Creep, ABetterValueIsTheAnchorFromThenOn) {
    const AcceptChoice third{{third_id}};
    const Accepted faster = accepted(after(), stored(baseline_of(before())), third);
    EXPECT_TRUE(faster.baseline.cases.at(third_id).anchors.empty());
    model::Run back = after();
    back.suites[0].cases[2].metrics["gpu_time"] = series({940});
    const Accepted slower = accepted(back, stored(faster.baseline), third);
    EXPECT_EQ(slower.baseline.cases.at(third_id).anchors.at("gpu_time"), 900);
    back.suites[0].cases[2].metrics["gpu_time"] = series({1000});
    EXPECT_THROW(accepted(back, stored(slower.baseline), third), util::InputError)
        << "11 % slower than 900 ns";
}

TEST(Creep, AFirstChangeMayBeLargerAndTheNextOnesCountTogetherWithIt) {
    const AcceptChoice second{{second_id}};
    const auto next = [&](double time, const model::Baseline& baseline) {
        return accepted(after(time), stored(baseline), second).baseline;
    };
    const model::Baseline old = baseline_of(before());
    const model::Baseline large = next(1500, old);
    EXPECT_EQ(large.cases.at(second_id).anchors.at("gpu_time"), 1000);
    for (const double time : {1550.0, 1700.0, 3000.0}) {
        EXPECT_THROW(next(time, large), util::InputError) << time;
    }
    EXPECT_THROW(next(1300, next(1060, old)), util::InputError) << "the second change";
    EXPECT_EQ(next(1300, large).cases.at(second_id).metrics.at("gpu_time").value, 1300)
        << "better than what was accepted";

    // What a refresh replaced within the tolerance is no change that anybody accepted.
    const model::Run measured_anew = after(1010);
    const model::Baseline noise =
        refresh(measured_anew, measured_anew.suites[0], old, by_ada()).baseline;
    EXPECT_EQ(noise.cases.at(second_id).anchors.at("gpu_time"), 1000);
    EXPECT_EQ(next(1500, noise).cases.at(second_id).anchors.at("gpu_time"), 1000);
}

TEST(Creep, AMetricThatStaysIsNoReasonToRefuseAnother) {
    const AcceptChoice second{{second_id}};
    const model::Baseline large =
        accepted(after(1500), stored(baseline_of(before())), second).baseline;
    model::Run more = after(1500);
    more.suites[0].cases[1].metrics["registers"] = series({65}, "registers", "record");
    const Accepted result = accepted(more, stored(large), second);
    ASSERT_EQ(result.entries.size(), 1U);
    EXPECT_EQ(result.entries[0].changes.count("gpu_time"), 0U);
    EXPECT_EQ(result.baseline.cases.at(second_id).metrics.at("registers").value, 65);
}

TEST(Creep, ARefreshCannotCreepEither) {
    const model::Baseline old = baseline_of(before());
    const auto refreshed = [&](double slower, const model::Baseline& from, const Acceptance& how) {
        const model::Run run = after(slower);
        return refresh(run, run.suites[0], from, how);
    };
    const model::Baseline once = refreshed(1060, old, by_ada()).baseline;
    EXPECT_EQ(once.cases.at(second_id).anchors.at("gpu_time"), 1000);
    EXPECT_THROW(refreshed(1120, once, by_ada()), util::InputError);
    EXPECT_THROW(refreshed(1120, old, by_ada()), util::InputError) << "nobody chose this case";
    const Refreshed reset = refreshed(1120, once, by_ada(true));
    EXPECT_TRUE(reset.baseline.cases.at(second_id).anchors.empty());
    ASSERT_TRUE(reset.entry);
    EXPECT_EQ(reset.entry->action, model::LedgerAction::refresh);
    EXPECT_EQ(reset.entry->cases, 1) << "the others were in it already";
    EXPECT_TRUE(reset.entry->anchor_reset);
    const model::Run same = after(1120);
    EXPECT_FALSE(refresh(same, same.suites[0], reset.baseline, by_ada()).entry)
        << "what changes nothing is no entry";
}

TEST(Acknowledge, KeepsWhatIsExpectedAndLetsTheRegressionPassUntilTheDay) {
    const model::Baseline old = baseline_of(before());
    const AcceptChoice choice{{second_id}, "2026-11-30"};
    const Accepted result = accepted(after(), stored(old), choice);
    ASSERT_EQ(result.entries.size(), 1U);
    EXPECT_EQ(result.entries[0].action, model::LedgerAction::acknowledge);
    EXPECT_EQ(result.entries[0].until, "2026-11-30");
    const model::BaselineCase& known = result.baseline.cases.at(second_id);
    EXPECT_EQ(known.metrics, old.cases.at(second_id).metrics);
    EXPECT_EQ(known.provenance, old.cases.at(second_id).provenance);

    model::Run run = after();
    const auto judged = [&](const std::string& started_at) {
        run.started_at = started_at;
        return judge(run, stored(result.baseline), {}, BatchRule{model::Policy{}});
    };
    model::VerdictDocument document = judged("2026-11-30T23:59:59Z");
    EXPECT_EQ(document.suites[0].cases[1].verdict, Verdict::acknowledged);
    EXPECT_EQ(document.exit_code, 0);
    EXPECT_EQ(document.suites[0].cases[1].reason,
              "gpu_time regressed: 1.000 µs → 1.080 µs (+8.0 %), tolerance 3 %; acknowledged until "
              "2026-11-30 by Ada: meant");
    EXPECT_TRUE(flagged(run, stored(result.baseline), {}, BatchRule{model::Policy{}}).empty())
        << "what is known is not measured again";

    document = judged("2026-12-01T00:00:00Z");
    EXPECT_EQ(document.suites[0].cases[1].verdict, Verdict::regressed);
    EXPECT_EQ(document.exit_code, 1);
    EXPECT_NE(document.suites[0].cases[1].reason.find(
                  "; its acknowledgement ended on 2026-11-30 by Ada: meant"),
              std::string::npos);

    EXPECT_EQ(judged("").suites[0].cases[1].verdict, Verdict::regressed)
        << "nobody knows when that was";
}

TEST(Acknowledge, WhatIsStillWorseIsNotAcknowledged) {
    const Accepted result =
        accepted(after(), stored(baseline_of(before())), AcceptChoice{{second_id}, "2026-11-30"});
    EXPECT_EQ(verdict_of(after(1100), result.baseline), Verdict::acknowledged)
        << "within the tolerance of what is known";
    const model::VerdictDocument worse =
        judge(after(1150), stored(result.baseline), {}, BatchRule{model::Policy{}});
    EXPECT_EQ(worse.suites[0].cases[1].verdict, Verdict::regressed);
    EXPECT_NE(worse.suites[0].cases[1].reason.find(
                  "worse than the 1.080 µs that are acknowledged until 2026-11-30"),
              std::string::npos);
    EXPECT_EQ(verdict_of(after(1000), result.baseline), Verdict::inconclusive)
        << "it was repaired, which one process does not show";
}

/// Four cases, measured as often as these rounds have processes, all `factor` times as slow.
model::Run four(double factor, const std::vector<std::size_t>& rounds) {
    std::vector<model::CaseResult> cases;
    for (std::int64_t m = 1; m <= 4; ++m) {
        model::MetricSeries& time = cases.emplace_back(measured_case(m)).metrics["gpu_time"];
        time.batches.clear();
        for (std::size_t round = 0; round < rounds.size(); ++round) {
            for (model::Batch batch :
                 pairs::processes(10'000 * factor, 0.004, rounds[round]).batches) {
                batch.round = static_cast<std::int64_t>(round);
                batch.process = static_cast<std::int64_t>(time.batches.size());
                time.batches.push_back(std::move(batch));
            }
        }
        time.value = 10'000 * factor;
    }
    model::Run run = run_of(std::move(cases));
    run.started_at = "2026-11-22T08:00:00Z";
    return run;
}

TEST(Acknowledge, SeveralDoNotHideWhatGetsWorse) {
    const BaselineSet known = stored(accepted(four(1.2, {5, 8}), stored(baseline_of(four(1, {20}))),
                                              AcceptChoice{{}, "2026-11-30"})
                                         .baseline);
    const BatchRule rule{model::Policy{}};
    const auto verdict_at = [&](const model::Run& run) {
        return judge(run, known, {}, rule).suites.at(0).cases.at(0).verdict;
    };
    const auto flagged_at = [&](const model::Run& run) {
        return flagged(run, known, {}, rule).size();
    };
    EXPECT_EQ(verdict_at(four(1.2, {5})), Verdict::acknowledged);
    EXPECT_EQ(flagged_at(four(1.2, {5})), 0U);
    EXPECT_EQ(verdict_at(four(1.1, {5})), Verdict::acknowledged) << "better than what is known";

    for (const double factor : {1.26, 1.5, 3.0, 9.0}) {
        EXPECT_EQ(flagged_at(four(factor, {5})), 4U) << factor;
        EXPECT_EQ(verdict_at(four(factor, {5})), Verdict::invalid) << factor;
        EXPECT_EQ(flagged_at(four(factor, {5, 8})), 4U) << factor;
        EXPECT_EQ(verdict_at(four(factor, {5, 8, 32})), Verdict::regressed) << factor;
        EXPECT_EQ(flagged_at(four(factor, {5, 8, 32})), 0U) << factor;
    }
    EXPECT_EQ(flagged_at(four(100, {5})), 4U);
    EXPECT_EQ(verdict_at(four(100, {5})), Verdict::invalid) << "whatever the policy";
    EXPECT_EQ(verdict_at(four(100, {5, 8})), Verdict::invalid);
    EXPECT_EQ(verdict_at(four(100, {5, 8, 32})), Verdict::regressed);

    const model::VerdictDocument unclear = judge(four(1.5, {5, 8}), known, {}, rule);
    EXPECT_NE(unclear.suites[0].cases[0].reason.find(
                  "worse than the 12.00 µs that are acknowledged until 2026-11-30 by Ada"),
              std::string::npos)
        << unclear.suites[0].cases[0].reason;
    EXPECT_EQ(unclear.exit_code, 3) << "whatever the policy";
}

TEST(Acknowledge, AHigherClockIsADoubtThatMoreProcessesDoNotResolve) {
    const auto at_clock = [](model::Run run, double mhz) {
        for (model::CaseResult& result : run.suites[0].cases) {
            for (model::Batch& batch : result.metrics["gpu_time"].batches) batch.sm_clock_mhz = mhz;
        }
        return run;
    };
    const BaselineSet known = stored(accepted(at_clock(four(1.2, {20}), 1500),
                                              stored(baseline_of(at_clock(four(1, {20}), 1500))),
                                              AcceptChoice{{}, "2026-11-30"})
                                         .baseline);
    const BatchRule rule{model::Policy{}};
    const model::Run faster_clock = at_clock(four(1.2, {20}), 1980);
    const model::VerdictDocument found = judge(faster_clock, known, {}, rule);
    EXPECT_EQ(found.suites[0].cases[0].verdict, Verdict::inconclusive);
    EXPECT_EQ(found.suites[0].cases[0].doubt, model::Doubt::clock_hides);
    EXPECT_TRUE(flagged(faster_clock, known, {}, rule).empty());
    EXPECT_EQ(judge(at_clock(four(1.2, {20}), 1500), known, {}, rule).suites[0].cases[0].verdict,
              Verdict::acknowledged);
}

TEST(Acknowledge, OneThatIsTooFarAheadDoesNotHold) {
    Accepted result =
        accepted(after(), stored(baseline_of(before())), AcceptChoice{{second_id}, "2026-11-30"});
    result.baseline.cases.at(second_id).acknowledged.at("gpu_time").until = "9999-12-31";
    model::Policy policy;
    const auto judged = [&] {
        return judge(after(), stored(result.baseline), policy, BatchRule{policy});
    };
    EXPECT_EQ(judged().suites[0].cases[1].verdict, Verdict::regressed);
    EXPECT_NE(judged().suites[0].cases[1].reason.find("more than 90 days ahead"),
              std::string::npos);
    result.baseline.cases.at(second_id).acknowledged.at("gpu_time").until = "2027-03-01";
    EXPECT_EQ(judged().exit_code, 1);
    policy.acknowledgement_days = 120;
    EXPECT_EQ(judged().suites[0].cases[1].verdict, Verdict::acknowledged);
}

TEST(Acknowledge, AWarningComesAWeekBeforeTheEnd) {
    const Accepted result =
        accepted(after(), stored(baseline_of(before())), AcceptChoice{{second_id}, "2026-11-30"});
    model::Run run = after();
    const auto notes = [&](const std::string& started_at) {
        run.started_at = started_at;
        std::string text;
        const model::VerdictDocument document =
            judge(run, stored(result.baseline), {}, BatchRule{model::Policy{}});
        for (const std::string& note : document.suites[0].notes) {
            if (note.find("acknowledgement") != std::string::npos) text += note;
        }
        return text;
    };
    EXPECT_EQ(notes("2026-11-22T10:00:00Z"), "");
    EXPECT_EQ(
        notes("2026-11-23T10:00:00Z"),
        "gpu_time of gemm/tiled[m=2]: its acknowledgement ends in 7 days, on 2026-11-30; from "
        "the next day on it fails the run");
    EXPECT_NE(notes("2026-11-30T10:00:00Z").find("ends today"), std::string::npos);
    EXPECT_TRUE(notes("2026-12-01T10:00:00Z")
                    .starts_with("gpu_time of gemm/tiled[m=2]: its acknowledgement ended on "))
        << "it is over and fails";
}

TEST(Acknowledge, OnlyRegressionsAreAcknowledged) {
    const Accepted result = accepted(after(), stored(baseline_of(before())),
                                     AcceptChoice{{first_id, third_id}, "2026-11-30"});
    EXPECT_TRUE(result.entries.empty());
    EXPECT_EQ(result.unchanged, 2U);
    EXPECT_EQ(result.baseline, baseline_of(before()));
}

TEST(Acknowledge, RefusesADayThatIsOverOrNone) {
    EXPECT_EQ(refusal(after(), {{second_id}, "2026-11-21"}),
              "--expires 2026-11-21: that day is over, today is 2026-11-22");
    EXPECT_EQ(refusal(after(), {{second_id}, "2027-02-20"}), "not refused") << "90 days";
    for (const char* day : {"2027-02-21", "9999-12-31"}) {
        EXPECT_EQ(refusal(after(), {{second_id}, day}),
                  std::string("--expires ") + day +
                      ": that is more than 90 days ahead; name an earlier day, or raise "
                      "acknowledgement_days in the config's policy");
    }
    EXPECT_EQ(refusal(after(), {{second_id}, "next week"}),
              "--expires 'next week': expected a day, as 2026-12-31");
}

TEST(Acknowledge, AcceptingEndsItAndARefreshDoesNot) {
    const Accepted known =
        accepted(after(), stored(baseline_of(before())), AcceptChoice{{second_id}, "2026-11-30"});
    const Accepted ended = accepted(after(), stored(known.baseline), AcceptChoice{{second_id}});
    EXPECT_TRUE(ended.baseline.cases.at(second_id).acknowledged.empty());
    EXPECT_EQ(ended.baseline.cases.at(second_id).metrics.at("gpu_time").value, 1080);

    model::Run run = after();
    Refreshed refreshed = refresh(run, run.suites[0], known.baseline, by_ada());
    EXPECT_EQ(refreshed.acknowledged, 1U);
    EXPECT_EQ(refreshed.baseline.cases.at(second_id).metrics.at("gpu_time").value, 1000);
    EXPECT_EQ(verdict_of(run, refreshed.baseline), Verdict::acknowledged);

    run.started_at = "2026-12-01T08:00:00Z";
    refreshed = refresh(run, run.suites[0], known.baseline, by_ada());
    EXPECT_EQ(refreshed.acknowledged, 0U);
    EXPECT_EQ(refreshed.baseline.cases.at(second_id).metrics.at("gpu_time").value, 1080);
}

}  // namespace
}  // namespace perfgate::baseline
