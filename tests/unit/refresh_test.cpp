// SPDX-License-Identifier: Apache-2.0
#include "baseline/refresh.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "document/baseline.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "gate/series.hpp"
#include "median_rule.hpp"
#include "model/case.hpp"
#include "unit/gate_documents.hpp"
#include "util/error.hpp"

namespace perfgate::baseline {
namespace refresh_test {

using namespace gate;

using documents::measured_case;
using documents::run_of;
using documents::series;
using model::CaseResult;
using model::CaseStatus;

using Ids = std::vector<std::string>;

Refreshed refreshed(const model::Run& run, const std::optional<model::Baseline>& existing = {},
                    const Acceptance& acceptance = {}) {
    return refresh(run, run.suites.at(0), existing, acceptance);
}

std::string refusal(const model::Run& run) {
    try {
        const Refreshed result = refreshed(run);
        std::string text;
        for (const Refused& each : result.refused) text += each.id + " (" + each.why + ")";
        return text.empty() ? "not refused" : text;
    } catch (const util::InputError& error) {
        return error.what();
    }
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// The same suite measured later, on a newer revision.
model::Run later(model::Run run) {
    run.started_at = "2026-12-01T10:00:00Z";
    run.git_revision = "def";
    return run;
}

TEST(Refresh, TheFirstAcceptanceStoresValuesAndWhereTheyComeFrom) {
    const model::Run run = run_of({measured_case()});
    const Refreshed result = refreshed(run, {}, {"Ada", "first baseline"});
    EXPECT_EQ(result.accepted, Ids{"gemm/tiled[m=1]"});
    EXPECT_EQ(result.baseline.suite, "s");
    EXPECT_EQ(result.baseline.device.key, run.environment.device.key);
    EXPECT_EQ(result.baseline.device.board, "") << "the board is each case's";
    const model::BaselineCase& stored = result.baseline.cases.at("gemm/tiled[m=1]");
    EXPECT_EQ(stored.metrics, run.suites[0].cases[0].metrics);
    const model::Provenance expected{"board-a", "580.1",        "13.0", "130001",         "0.1.0",
                                     "abc",     run.started_at, "Ada",  "first baseline", 0.25};
    EXPECT_EQ(stored.provenance, expected);
}

TEST(Refresh, TheSameRunTwiceIsTheSameToTheByte) {
    const model::Run run = run_of({measured_case(1), measured_case(2)});
    const Refreshed first = refreshed(run, {}, {"Ada", "why"});
    const Refreshed second = refreshed(run, first.baseline, {"Ada", "why"});
    EXPECT_EQ(document::write_baseline(second.baseline), document::write_baseline(first.baseline));
    EXPECT_TRUE(second.accepted.empty());
    EXPECT_EQ(second.unchanged.size(), 2U);
}

TEST(Refresh, ACaseThatMeasuresTheSameLaterIsLeftAlone) {
    const model::Run run = run_of({measured_case(1), measured_case(2)});
    const Refreshed first = refreshed(run, {}, {"Ada", "why"});
    model::Run second_run = later(run);
    second_run.suites[0].cases[1].metrics["gpu_time"] = series({1010});
    const Refreshed second = refreshed(second_run, first.baseline);
    EXPECT_EQ(second.unchanged, Ids{"gemm/tiled[m=1]"});
    EXPECT_EQ(second.accepted, Ids{"gemm/tiled[m=2]"});
    const auto& cases = second.baseline.cases;
    EXPECT_EQ(second.entry->digests,
              (std::map<std::string, std::string>{
                  {"gemm/tiled[m=2]",
                   document::digest_of_case("gemm/tiled[m=2]", cases.at("gemm/tiled[m=2]"))}}))
        << "what was left alone is not vouched for anew";
    EXPECT_EQ(cases.at("gemm/tiled[m=1]"), first.baseline.cases.at("gemm/tiled[m=1]"));
    EXPECT_EQ(cases.at("gemm/tiled[m=2]").provenance.recorded_at, second_run.started_at);
    EXPECT_EQ(cases.at("gemm/tiled[m=2]").provenance.accepted_by, "");
}

TEST(Refresh, EqualValuesFromAnotherDriverOrBoardAreAcceptedAnew) {
    const model::Run run = run_of({measured_case()});
    const Refreshed first = refreshed(run);
    model::Run newer_driver = later(run);
    newer_driver.environment.driver = "590.2";
    EXPECT_EQ(refreshed(newer_driver, first.baseline).accepted, Ids{"gemm/tiled[m=1]"});
    model::Run other_board = later(run);
    documents::move_to_board("board-b", other_board);
    EXPECT_EQ(refreshed(other_board, first.baseline).accepted, Ids{"gemm/tiled[m=1]"});
}

TEST(Refresh, EachCaseKeepsTheBoardThatMeasuredIt) {
    model::Run run = run_of({measured_case(1)});
    model::Run elsewhere = run_of({measured_case(2)});
    documents::move_to_board("board-b", elsewhere);
    run.suites[0].cases.push_back(elsewhere.suites[0].cases[0]);
    const auto cases = refreshed(run).baseline.cases;
    EXPECT_EQ(cases.at("gemm/tiled[m=1]").provenance.board, "board-a");
    EXPECT_EQ(cases.at("gemm/tiled[m=2]").provenance.board, "board-b");
}

/// A run of one case whose time has 20 processes around this.
model::Run run_on(const std::string& board, double time) {
    model::Run run = run_of({measured_case()});
    model::MetricSeries& times = run.suites[0].cases[0].metrics["gpu_time"];
    times.batches.clear();
    for (int i = 0; i < 20; ++i) {
        times.batches.push_back({i, board, 1, {time + i % 5}});
    }
    times.value = time + 2;
    documents::move_to_board(board, run);
    return run;
}

Acceptance adding() {
    Acceptance acceptance;
    acceptance.add_board = true;
    return acceptance;
}

std::map<std::string, std::size_t> boards_in(const Refreshed& result) {
    return boards_of(result.baseline.cases.begin()->second.metrics.at("gpu_time"));
}

using Boards = std::map<std::string, std::size_t>;

TEST(Refresh, AddBoardAddsTimesAndLeavesTheRest) {
    const Refreshed first = refreshed(run_on("board-a", 10'000));
    model::Run other = later(run_on("board-b", 10'200));
    const Refreshed second = refreshed(other, first.baseline, adding());
    EXPECT_EQ(second.accepted, Ids{"gemm/tiled[m=1]"});
    EXPECT_EQ(boards_in(second), (Boards{{"board-a", 20}, {"board-b", 20}}));
    const model::BaselineCase& before = first.baseline.cases.begin()->second;
    const model::BaselineCase& after = second.baseline.cases.begin()->second;
    EXPECT_EQ(after.provenance, before.provenance);
    EXPECT_EQ(after.metrics.at("registers"), before.metrics.at("registers"));
    EXPECT_EQ(series_of_board(after.metrics.at("gpu_time"), "board-a").batches,
              before.metrics.at("gpu_time").batches);
    EXPECT_EQ(after.metrics.at("gpu_time").batches.back().run, 1);
    ASSERT_TRUE(second.entry);
    EXPECT_EQ(second.entry->added_boards, (std::vector<std::string>{"board-b"}));
    EXPECT_TRUE(first.entry->added_boards.empty());
    EXPECT_EQ(second.entry->digests.at("gemm/tiled[m=1]"),
              document::digest_of_case("gemm/tiled[m=1]", after));
    EXPECT_EQ(document::parse_baseline(document::write_baseline(second.baseline), "b"),
              second.baseline);

    const Refreshed again = refreshed(run_on("board-b", 10'100), second.baseline, adding());
    EXPECT_EQ(boards_in(again), (Boards{{"board-a", 20}, {"board-b", 20}})) << "replaced";
    EXPECT_EQ(refreshed(run_on("board-b", 10'100), again.baseline, adding()).unchanged,
              Ids{"gemm/tiled[m=1]"});
    const Refreshed third = refreshed(run_on("board-c", 9'900), again.baseline, adding());
    EXPECT_EQ(boards_in(third).size(), 3U);
}

TEST(Refresh, AddBoardRefusesWhatIsNotTheSameCode) {
    const auto refused = [](const model::Run& run, const std::optional<model::Baseline>& existing) {
        try {
            refreshed(run, existing, adding());
        } catch (const util::InputError& error) {
            return std::string(error.what());
        }
        return std::string("not refused");
    };
    const Refreshed first = refreshed(run_on("board-a", 10'000));
    EXPECT_TRUE(says(refused(run_on("board-b", 10'000), {}), "the baseline does not have it"));
    // 3 % and 2 % for another board.
    EXPECT_EQ(refused(run_on("board-b", 10'490), first.baseline), "not refused");
    EXPECT_TRUE(
        says(refused(run_on("board-b", 10'520), first.baseline), "more than boards differ"));
    EXPECT_EQ(refused(run_on("board-b", 5'000), first.baseline), "not refused");
    // A board that the baseline has may differ from its own times by the tolerance alone.
    const Refreshed both = refreshed(run_on("board-b", 10'400), first.baseline, adding());
    EXPECT_EQ(refused(run_on("board-a", 10'280), both.baseline), "not refused");
    EXPECT_EQ(refused(run_on("board-b", 10'700), both.baseline), "not refused");
    EXPECT_TRUE(says(refused(run_on("board-a", 10'350), both.baseline),
                     "10.00 µs → 10.35 µs is more than the tolerance on this board"));
    model::Run other_method = run_on("board-b", 10'000);
    other_method.suites[0].cases[0].metrics["gpu_time"].method = "event/hot";
    EXPECT_TRUE(says(refused(other_method, first.baseline), "by the same method"));
    model::Run other_command = run_on("board-b", 10'000);
    other_command.suites[0].cases[0].measured_as = {{"command", "./app 5"}};
    model::Baseline of_command = first.baseline;
    EXPECT_EQ(refused(other_command, of_command), "not refused") << "not known in the baseline";
    of_command.cases.begin()->second.measured_as = {{"command", "./app 4"}};
    EXPECT_TRUE(says(refused(other_command, of_command),
                     "the suite changed what is measured: command ./app 4 → ./app 5"));
    model::Run more = run_on("board-b", 10'000);
    more.suites[0].cases.push_back(measured_case(2));
    EXPECT_TRUE(says(refused(more, first.baseline), "gemm/tiled[m=2]: the baseline does not"));

    model::Run coded = run_on("board-a", 10'000);
    coded.suites[0].cases[0].kernels.emplace_back().code = "1";
    const Refreshed with_code = refreshed(coded);
    documents::move_to_board("board-b", coded);
    EXPECT_EQ(refused(coded, with_code.baseline), "not refused");
    coded.suites[0].cases[0].kernels[0].dynamic_smem = 1024;
    EXPECT_TRUE(says(refused(coded, with_code.baseline), "dynamic shared memory of "));
    coded.suites[0].cases[0].kernels[0].dynamic_smem = 0;
    coded.suites[0].cases[0].host_code = "other";
    EXPECT_EQ(refused(coded, with_code.baseline), "not refused") << "it launches the same";
    coded.suites[0].cases[0].kernels[0].code = "2";
    EXPECT_TRUE(says(refused(coded, with_code.baseline), "gemm/tiled[m=1]: "));

    model::Run copies = run_on("board-a", 10'000);
    copies.suites[0].cases[0].host_code = "first";
    copies.suites[0].cases[0].memory_operations = {{model::MemoryOperationKind::device_to_device,
                                                    4096, model::MemoryKind::device,
                                                    model::MemoryKind::device}};
    const Refreshed of_copies = refreshed(copies);
    documents::move_to_board("board-b", copies);
    copies.suites[0].cases[0].host_code = "other";
    EXPECT_EQ(refused(copies, of_copies.baseline), "not refused") << "the same copies, no kernels";
    copies.suites[0].cases[0].memory_operations->front().bytes = 8192;
    EXPECT_TRUE(says(refused(copies, of_copies.baseline), "copy 1: "));

    model::Run counts = run_on("board-b", 10'000);
    model::MetricSeries& registers = counts.suites[0].cases[0].metrics["registers"];
    registers = series({63}, "registers", "record");
    EXPECT_TRUE(says(refused(counts, first.baseline), "its code is not known and registers"));
    registers = series({64}, "registers", "compiler");
    EXPECT_TRUE(says(refused(counts, first.baseline),
                     "its code is not known and the baseline has no registers by the same method"));
    registers = series({64}, "count", "record");
    EXPECT_TRUE(says(refused(counts, first.baseline), "no registers by the same method"));
    registers = series({64}, "registers", "record");
    EXPECT_EQ(refused(counts, first.baseline), "not refused");
    model::Baseline without = first.baseline;
    without.cases.begin()->second.metrics.erase("registers");
    EXPECT_TRUE(says(refused(counts, without), "the baseline has no registers"));
    registers = series({63}, "registers", "record");
    model::Baseline varied = first.baseline;
    model::MetricSeries& before = varied.cases.begin()->second.metrics["registers"];
    before.batches.push_back(before.batches.front());
    before.batches[1].samples = {66};
    counts.suites[0].cases[0].gates[1].tolerance.worse = 0.1;
    EXPECT_EQ(refused(counts, varied), "not refused") << "within the tolerance of what varies";
}

TEST(Refresh, AddBoardKeepsCasesThatWereNotMeasured) {
    model::Run both = run_on("board-a", 10'000);
    both.suites[0].cases.push_back(measured_case(2));
    const Refreshed first = refreshed(both);
    const Refreshed second = refreshed(run_on("board-b", 10'000), first.baseline, adding());
    EXPECT_EQ(second.kept, Ids{"gemm/tiled[m=2]"});
    EXPECT_TRUE(second.removed.empty());
}

TEST(Refresh, ANewReasonIsRecordedEvenForEqualValues) {
    const model::Run run = run_of({measured_case()});
    const Refreshed first = refreshed(run, {}, {"Ada", "why"});
    const Refreshed second = refreshed(run, first.baseline, {"", "looked at again"});
    EXPECT_EQ(second.accepted, Ids{"gemm/tiled[m=1]"});
    EXPECT_EQ(second.baseline.cases.begin()->second.provenance.reason, "looked at again");
}

TEST(Refresh, APartialRunLeavesTheOtherCasesAndTheHeadAlone) {
    const model::Run whole = run_of({measured_case(1), measured_case(2)});
    const Refreshed first = refreshed(whole);
    model::Run part = later(run_of({measured_case(2)}));
    part.suites[0].partial = true;
    part.suites[0].cases[0].metrics["gpu_time"] = series({900});
    part.environment.device.memory_bytes -= 1;
    const Refreshed second = refreshed(part, first.baseline);
    EXPECT_EQ(second.kept, Ids{"gemm/tiled[m=1]"});
    EXPECT_EQ(second.accepted, Ids{"gemm/tiled[m=2]"});
    EXPECT_TRUE(second.removed.empty());
    EXPECT_EQ(second.baseline.device, first.baseline.device);
    EXPECT_EQ(second.baseline.cases.at("gemm/tiled[m=1]"),
              first.baseline.cases.at("gemm/tiled[m=1]"));
    EXPECT_EQ(second.baseline.cases.at("gemm/tiled[m=2]").metrics.at("gpu_time").value, 900);
}

TEST(Refresh, AWholeRunDropsCasesThatTheSuiteNoLongerHas) {
    const Refreshed first = refreshed(run_of({measured_case(1), measured_case(2)}));
    const Refreshed second = refreshed(run_of({measured_case(2)}), first.baseline);
    EXPECT_EQ(second.removed, Ids{"gemm/tiled[m=1]"});
    EXPECT_EQ(second.baseline.cases.size(), 1U);
}

TEST(Refresh, CasesOfABenchmarkThatDidNotRunKeepWhatTheyHad) {
    const Refreshed first = refreshed(run_of({measured_case(1), measured_case(2)}));
    CaseResult skipped = measured_case(1);
    skipped.spec.variant = model::unknown_cases;
    skipped.spec.params.clear();
    skipped.status = CaseStatus::skipped;
    CaseResult other = measured_case(1);
    other.spec.workload = "softmax";
    const Refreshed result = refreshed(run_of({skipped, other}), first.baseline);
    EXPECT_TRUE(result.removed.empty());
    EXPECT_EQ(result.kept.size(), 2U);
    EXPECT_EQ(result.baseline.cases.size(), 3U);
}

/// The case in this many processes, all with the same time.
CaseResult in_processes(std::size_t count, double time_ns) {
    CaseResult result = measured_case();
    model::MetricSeries& times = result.metrics["gpu_time"] = series({time_ns});
    times.batches.assign(count, times.batches.front());
    for (std::size_t i = 0; i < count; ++i) {
        times.batches[i].process = static_cast<std::int64_t>(i);
    }
    return result;
}

TEST(Refresh, APassingCaseKeepsTheBaselineIfTheRunHasFewerProcesses) {
    const Refreshed first = refreshed(run_of({in_processes(20, 1000)}));
    const auto again = [&](std::size_t processes, const std::set<std::string>& passing) {
        const model::Run run = later(run_of({in_processes(processes, 1001)}));
        return refresh(run, run.suites.at(0), first.baseline, {"Ada", "new"}, passing);
    };
    const std::string id = "gemm/tiled[m=1]";
    const Refreshed kept = again(3, {id});
    EXPECT_EQ(kept.better_known, Ids{id});
    EXPECT_EQ(kept.baseline, first.baseline);
    EXPECT_FALSE(kept.entry);

    const Refreshed changed = again(3, {});
    EXPECT_EQ(changed.accepted, Ids{id});
    EXPECT_EQ(changed.fewer, 1U);
    EXPECT_EQ(changed.baseline.cases.at(id).metrics.at("gpu_time").batches.size(), 3U);

    // Measured as a baseline it may have so few, from a stored run not.
    model::Baseline known = first.baseline;
    known.cases.at(id).measured_as = {{"command", "one"}};
    const auto from_stored_run = [&](CaseResult result, const std::string& command = "one",
                                     bool reset = false) {
        result.measured_as = {{"command", command}};
        const model::Run run = later(run_of({std::move(result)}));
        Acceptance acceptance{"Ada", "new"};
        acceptance.stored_run = true;
        acceptance.reset_anchors = reset;
        return refresh(run, run.suites.at(0), known, acceptance);
    };
    const Refreshed worse = from_stored_run(in_processes(8, 1001));
    ASSERT_EQ(worse.refused.size(), 1U);
    EXPECT_EQ(worse.refused[0].id, id);
    EXPECT_FALSE(worse.stored_any());
    EXPECT_EQ(worse.baseline, known);
    EXPECT_EQ(from_stored_run(in_processes(9, 1001)).fewer, 1U);
    EXPECT_EQ(from_stored_run(in_processes(8, 1001), "another").accepted, Ids{id});
    EXPECT_EQ(from_stored_run(in_processes(8, 1001), "one", true).accepted, Ids{id}) << "meant";

    const Refreshed measured_as_a_baseline = again(20, {id});
    EXPECT_EQ(measured_as_a_baseline.accepted, Ids{id});
    EXPECT_EQ(measured_as_a_baseline.fewer, 0U);
}

/// The same kernel each time, in processes whose times are a little apart.
CaseResult of_one_code(std::size_t processes, double time_ns) {
    CaseResult result = in_processes(processes, time_ns);
    model::Kernel& kernel = result.kernels.emplace_back();
    kernel.name = "tiled";
    kernel.code = "c0de";
    kernel.arguments = "a1";
    result.host_code = "h0st";
    result.libraries.emplace();
    double step = 0;
    for (model::Batch& batch : result.metrics["gpu_time"].batches) {
        batch.samples = {time_ns + ++step / 8};
    }
    return result;
}

TEST(Refresh, ProcessesOfTheSameCodeJoinABaselineThatHasFew) {
    const std::string id = "gemm/tiled[m=1]";
    const Refreshed first = refreshed(run_of({of_one_code(8, 1000)}));
    const auto joined = [&](const model::Baseline& existing, const CaseResult& result) {
        const model::Run run = later(run_of({result}));
        return refresh(run, run.suites.at(0), existing, {"Ada", "more"}, {id});
    };
    const auto processes = [&](const Refreshed& result) {
        return result.baseline.cases.at(id).metrics.at("gpu_time").batches.size();
    };
    for (const std::size_t more : {5U, 8U, 11U}) {
        const Refreshed second = joined(first.baseline, of_one_code(more, 1001));
        EXPECT_EQ(second.pooled, Ids{id}) << more;
        EXPECT_EQ(processes(second), 8 + more);
        const Refreshed again = joined(second.baseline, of_one_code(more, 1001));
        EXPECT_TRUE(again.pooled.empty()) << "the baseline has these";
        EXPECT_EQ(processes(again), 8 + more);
    }
    EXPECT_EQ(processes(joined(first.baseline, of_one_code(19, 1001))), 20U);
    EXPECT_TRUE(joined(first.baseline, of_one_code(20, 1001)).pooled.empty()) << "it is enough";
    CaseResult other = of_one_code(8, 1001);
    other.kernels[0].code = "0ther";
    EXPECT_TRUE(joined(first.baseline, other).pooled.empty());
    CaseResult flagged = of_one_code(13, 1001);
    for (std::size_t i = 5; i < 13; ++i) flagged.metrics["gpu_time"].batches[i].round = 1;
    const Refreshed eighteen = refreshed(run_of({of_one_code(18, 1000)}));
    EXPECT_EQ(processes(joined(eighteen.baseline, flagged)), 20U) << "none of the baseline's goes";
    const Refreshed one = refreshed(run_of({of_one_code(1, 1000)}));
    EXPECT_EQ(processes(joined(one.baseline, of_one_code(8, 1001))), 8U) << "they replace it";
    const Refreshed nine = joined(first.baseline, of_one_code(1, 1001));
    EXPECT_EQ(processes(nine), 9U);
    EXPECT_EQ(processes(joined(nine.baseline, of_one_code(1, 1001))), 9U);
    CaseResult sessions = of_one_code(8, 1001);
    for (std::size_t i = 4; i < 8; ++i) sessions.metrics["gpu_time"].batches[i].run = 1;
    EXPECT_TRUE(joined(first.baseline, sessions).pooled.empty()) << "what they differ by is known";
}

TEST(Refresh, ACaseThatStaysStillGetsItsTags) {
    const Refreshed first = refreshed(run_of({in_processes(20, 1000)}));
    CaseResult tagged = in_processes(3, 1000);
    tagged.tags = {"quick"};
    const model::Run run = later(run_of({tagged}));
    const std::string id = "gemm/tiled[m=1]";
    const Refreshed result = refresh(run, run.suites.at(0), first.baseline, {}, {id});
    EXPECT_EQ(result.baseline.cases.at(id).tags, tagged.tags);
    EXPECT_EQ(result.baseline.cases.at(id).metrics, first.baseline.cases.at(id).metrics);
    ASSERT_TRUE(result.entry) << "the ledger has the new digest";
    EXPECT_TRUE(result.entry->digests.contains(id));
}

TEST(Refresh, SkippedCasesKeepWhatTheyHad) {
    const model::Run run = run_of({measured_case(1), measured_case(2), measured_case(3)});
    model::Baseline existing = refreshed(run).baseline;
    existing.cases.erase("gemm/tiled[m=3]");
    model::Run second_run = run;
    second_run.suites[0].cases[1].status = CaseStatus::skipped;
    second_run.suites[0].cases[2].status = CaseStatus::skipped;
    const Refreshed second = refreshed(second_run, existing);
    EXPECT_EQ(second.kept, Ids{"gemm/tiled[m=2]"});
    EXPECT_TRUE(second.removed.empty());
    EXPECT_EQ(second.baseline, existing) << "what never ran does not appear";
}

TEST(Refresh, RefusesCasesThatAreNoTruthAndNamesThem) {
    const auto refused = [](auto spoil) {
        model::Run run = run_of({measured_case(1), measured_case(2)});
        spoil(run.suites[0].cases[1]);
        return refusal(run);
    };
    EXPECT_EQ(refused([](model::CaseResult& c) {
                  c.status = CaseStatus::incorrect;
                  c.reason = "element 7 is off";
              }),
              "gemm/tiled[m=2] (incorrect: element 7 is off)");
    EXPECT_TRUE(says(refused([](model::CaseResult& c) { c.status = CaseStatus::error; }),
                     "gemm/tiled[m=2] (error"));
    EXPECT_TRUE(says(refused([](model::CaseResult& c) { c.verification.reset(); }),
                     "gemm/tiled[m=2] (not verified)"));
    EXPECT_TRUE(says(refused([](model::CaseResult& c) { c.verification->passed = false; }),
                     "gemm/tiled[m=2] (not verified)"));
    EXPECT_TRUE(says(refused([](model::CaseResult& c) {
                         c.not_collected = {{"l2_hit_rate", "no permission"}};
                     }),
                     "l2_hit_rate was not collected: no permission"));
    EXPECT_TRUE(says(refused([](model::CaseResult& c) { c.metrics.erase("gpu_time"); }),
                     "it has no value of gpu_time"));
    EXPECT_TRUE(says(refused([](model::CaseResult& c) {
                         c.gates.clear();
                         c.metrics.clear();
                     }),
                     "it has no values"));
}

TEST(Refresh, AGatedMetricThatDoesNotApplyIsNotAskedFor) {
    model::Run run = run_of({measured_case()});
    run.suites[0].cases[0].metrics.erase("registers");
    run.suites[0].cases[0].not_applicable = {"registers"};
    EXPECT_EQ(refreshed(run).accepted.size(), 1U);
}

TEST(Refresh, OfManyRefusedCasesSomeAreNamedAndTheRestCounted) {
    model::Run run = run_of({});
    for (int i = 1; i <= 30; ++i) {
        model::CaseResult failed = measured_case(i);
        failed.status = CaseStatus::error;
        run.suites[0].cases.push_back(failed);
    }
    try {
        require_stored({refreshed(run)}, "measure them again");
        FAIL() << "nothing was stored";
    } catch (const util::InputError& error) {
        const std::string message = error.what();
        EXPECT_TRUE(says(message, "gemm/tiled[m=20]\n")) << message;
        EXPECT_FALSE(says(message, "gemm/tiled[m=21]")) << message;
        EXPECT_TRUE(says(message, "\n  and 10 more\n")) << message;
        EXPECT_EQ(message.find("error: "), message.rfind("error: ")) << "the reason, once";
        EXPECT_TRUE(message.ends_with("\nnothing was stored: measure them again")) << message;
    }
    run.suites[0].cases[4].status = CaseStatus::measured;
    EXPECT_NO_THROW(require_stored({refreshed(run)}, ""));
}

TEST(Refresh, WhatIsFitIsStoredAndWhatTheBaselineHasOfOthersStays) {
    const model::Run run = run_of({measured_case(1), measured_case(2)});
    const model::Baseline existing = refreshed(run).baseline;
    model::Run second = later(run_of({in_processes(20, 1020), measured_case(2), measured_case(3)}));
    second.suites[0].cases[1].status = CaseStatus::error;
    second.suites[0].cases[2].status = CaseStatus::error;
    const Refreshed result = refreshed(second, existing);
    EXPECT_EQ(result.accepted, Ids{"gemm/tiled[m=1]"});
    ASSERT_EQ(result.refused.size(), 2U);
    EXPECT_EQ(result.baseline.cases.size(), 2U);
    EXPECT_EQ(result.baseline.cases.at("gemm/tiled[m=2]"), existing.cases.at("gemm/tiled[m=2]"));
    EXPECT_TRUE(result.removed.empty());
    EXPECT_FALSE(result.entry->digests.contains("gemm/tiled[m=2]"));
}

TEST(Refresh, ARenamedCaseThatIsNotFitKeepsItsFormerName) {
    const model::Baseline existing =
        refreshed(run_of({measured_case(1), measured_case(2)})).baseline;
    model::Run run = later(run_of({in_processes(20, 1020), measured_case(2)}));
    run.suites[0].cases[1].status = CaseStatus::error;
    const Refreshed result =
        refresh(run, run.suites[0], existing, {}, {}, {{"gemm/tiled[m=2]", "gemm/old[m=2]"}});
    EXPECT_EQ(result.accepted, Ids{"gemm/tiled[m=1]"});
    EXPECT_EQ(result.refused.size(), 1U);
    EXPECT_TRUE(result.removed.empty());
    EXPECT_FALSE(result.baseline.cases.contains("gemm/tiled[m=2]"));
    EXPECT_EQ(result.baseline.cases.at("gemm/old[m=2]"), existing.cases.at("gemm/tiled[m=2]"));
}

TEST(Refresh, RefusesAnInterruptedRunAndOneThatMeasuredNothing) {
    model::Run interrupted = run_of({measured_case()});
    interrupted.interrupted = true;
    EXPECT_TRUE(says(refusal(interrupted), "interrupted"));
    model::Run skipped = run_of({measured_case()});
    skipped.suites[0].cases[0].status = CaseStatus::skipped;
    EXPECT_TRUE(says(refusal(skipped), "no case was measured"));
    EXPECT_TRUE(says(refusal(run_of({})), "no case was measured"));
}

TEST(Refresh, RefusesACaseThatIsThereTwice) {
    EXPECT_TRUE(says(refusal(run_of({measured_case(1), measured_case(1)})), "twice"));
}

TEST(Refresh, WhatIsAcceptedPassesTheGate) {
    const model::Run run = run_of({measured_case(1), measured_case(2)});
    const model::VerdictDocument document =
        judge(run, documents::stored(refreshed(run).baseline), {true, true}, MedianRule());
    EXPECT_EQ(document.exit_code, 0);
    EXPECT_EQ(model::count_verdicts(document).at(model::Verdict::pass), 2);
}

TEST(Refresh, RefusesProcessesThatDisagreeByMoreThanTheTolerance) {
    model::Run run = run_of({measured_case()});
    model::MetricSeries& time = run.suites[0].cases[0].metrics.at("gpu_time");
    time.batches.clear();
    for (std::int64_t i = 0; i < 16; ++i) {
        time.batches.push_back({i, "board-a", 1, {i < 10 ? 1000.0 : 2400.0}});
    }
    EXPECT_TRUE(says(refusal(run),
                     "gemm/tiled[m=1] (the processes disagree about gpu_time by more than its "
                     "tolerance of 3 %, so that a regression could hide in it"))
        << refusal(run);
    EXPECT_FALSE(says(refusal(run), "cpu_time"));
    model::Run wall = run;
    model::CaseResult& benchmark = wall.suites[0].cases[0];
    benchmark.metrics["real_time"] = time;
    wall.metric_definitions["real_time"] = wall.metric_definitions.at("gpu_time");
    benchmark.gates[0].metric = "real_time";
    EXPECT_TRUE(says(refusal(wall), "gate cpu_time")) << refusal(wall);
    for (model::Batch& batch : time.batches) {
        if (batch.samples[0] > 1000) batch.samples = {1020};
    }
    EXPECT_EQ(refusal(run), "not refused") << "two modes within the tolerance";
}

TEST(Refresh, KeepsTheTagsOfEachCase) {
    model::Run run = run_of({measured_case()});
    const Refreshed first = refreshed(run);
    EXPECT_EQ(first.baseline.cases.at("gemm/tiled[m=1]").tags, Ids{});
    run.suites[0].cases[0].tags = {"nightly"};
    const Refreshed second = refreshed(run, first.baseline);
    EXPECT_EQ(second.accepted, Ids{"gemm/tiled[m=1]"});
    EXPECT_EQ(second.baseline.cases.at("gemm/tiled[m=1]").tags, Ids{"nightly"});
    const std::string text = document::write_baseline(second.baseline);
    EXPECT_TRUE(says(text, "\"tags\": [\"nightly\"]") || says(text, "\"tags\":[\"nightly\"]"));
    EXPECT_EQ(document::parse_baseline(text, "b"), second.baseline);
}

TEST(Refresh, KeepsOfAKernelWhatTheNextRunIsComparedWith) {
    model::Run run = run_of({measured_case()});
    model::Kernel kernel;
    kernel.name = "k";
    kernel.code = "c0de";
    kernel.duration_ns = 5;
    kernel.theoretical_occupancy = 50;
    kernel.metrics["instructions"] = 7;
    kernel.source = {"k.cu", 3};
    kernel.waves = 1.5;
    kernel.code_bytes = 384;
    kernel.stack_bytes = 0;
    run.suites[0].cases[0].kernels = {kernel};
    run.suites[0].cases[0].wall_s = 12.3456;
    const Refreshed result = refreshed(run);
    const model::BaselineCase& kept = result.baseline.cases.begin()->second;
    ASSERT_EQ(kept.kernels.size(), 1U);
    EXPECT_EQ(kept.kernels[0].theoretical_occupancy, 0);
    EXPECT_EQ(kept.kernels[0].duration_ns, 0);
    EXPECT_TRUE(kept.kernels[0].metrics.empty());
    EXPECT_EQ(kept.kernels[0].source, model::SourcePlace());
    EXPECT_EQ(kept.kernels[0].waves, std::nullopt);
    EXPECT_EQ(kept.kernels[0].code_bytes, std::nullopt);
    EXPECT_EQ(kept.kernels[0].stack_bytes, std::nullopt);
    EXPECT_EQ(kept.kernels[0].code, "c0de");
    EXPECT_EQ(kept.provenance.wall_s, 12.3);
    for (const auto& [seconds, rounded] :
         std::vector<std::pair<double, double>>{{0, 0},
                                                {-1, 0},
                                                {0.0012345, 0.00123},
                                                {1234.5, 1230},
                                                {86'412, 86'400},
                                                {99.96, 100}}) {
        run.suites[0].cases[0].wall_s = seconds;
        EXPECT_DOUBLE_EQ(refreshed(run).baseline.cases.begin()->second.provenance.wall_s, rounded);
    }
}

TEST(Refresh, WhateverAcceptingWouldChangeIsAcceptedAnew) {
    model::Run run = run_of({measured_case()});
    run.suites[0].cases[0].kernels.resize(1);
    run.suites[0].cases[0].host_code = "0057";
    run.suites[0].cases[0].libraries = model::Libraries{};
    run.suites[0].cases[0].memory_operations.emplace();
    const Acceptance acceptance{"Ada", "first"};
    const model::Baseline before = refreshed(run, {}, acceptance).baseline;
    EXPECT_EQ(refreshed(run, before, acceptance).unchanged.size(), 1U);
    EXPECT_EQ(refreshed(run, before).unchanged.size(), 1U) << "without a name or a reason";
    const auto accepted_anew = [&](auto change, Acceptance how = {"Ada", "first"}) {
        model::Run other = run;
        change(other, other.suites[0].cases[0]);
        return refreshed(other, before, how).accepted.size() == 1;
    };
    using model::CaseResult;
    using model::Run;
    const auto none = [](Run&, CaseResult&) {};
    EXPECT_FALSE(accepted_anew([](Run& r, CaseResult&) { r.git_revision = "def"; }));
    EXPECT_FALSE(accepted_anew([](Run& r, CaseResult&) { r.started_at = "2027-01-01T00:00:00Z"; }));
    EXPECT_FALSE(accepted_anew([](Run&, CaseResult& c) { c.wall_s = 77; }));
    EXPECT_TRUE(accepted_anew([](Run&, CaseResult& c) { c.metrics["gpu_time"] = series({1001}); }));
    EXPECT_TRUE(accepted_anew([](Run&, CaseResult& c) { c.kernels[0].code = "x"; }));
    EXPECT_TRUE(accepted_anew([](Run&, CaseResult& c) { c.host_code = "x"; }));
    EXPECT_TRUE(accepted_anew([](Run&, CaseResult& c) { (*c.libraries)["x"] = "y"; }));
    EXPECT_TRUE(accepted_anew([](Run&, CaseResult& c) { c.memory_operations->resize(1); }));
    EXPECT_TRUE(accepted_anew([](Run&, CaseResult& c) { c.tags = {"x"}; }));
    EXPECT_TRUE(accepted_anew([](Run&, CaseResult& c) { c.measured_as = {{"command", "x"}}; }));
    EXPECT_TRUE(accepted_anew([](Run& r, CaseResult&) { r.environment.driver = "x"; }));
    EXPECT_TRUE(accepted_anew([](Run& r, CaseResult&) { r.environment.cuda_toolkit = "x"; }));
    EXPECT_TRUE(accepted_anew([](Run& r, CaseResult&) { r.environment.cupti = "x"; }));
    EXPECT_TRUE(accepted_anew([](Run& r, CaseResult&) { r.tool_version = "x"; }));
    EXPECT_TRUE(accepted_anew(none, {"Grace", "first"}));
    EXPECT_TRUE(accepted_anew(none, {"Ada", "second"}));
}

TEST(Refresh, TellsTheLedgerWhoWhatAndWhy) {
    model::Run run = run_of({measured_case(1), measured_case(2)});
    Acceptance acceptance{"Ada", "first"};
    acceptance.at = "2026-11-22T09:00:00Z";
    acceptance.reset_anchors = true;
    const Refreshed first = refreshed(run, {}, acceptance);
    ASSERT_TRUE(first.entry.has_value());
    const model::LedgerEntry& entry = *first.entry;
    EXPECT_EQ(entry.at, acceptance.at);
    EXPECT_EQ(entry.action, model::LedgerAction::refresh);
    EXPECT_EQ(entry.by, "Ada");
    EXPECT_EQ(entry.reason, "first");
    EXPECT_EQ(entry.recorded_at, run.started_at);
    EXPECT_EQ(entry.git_revision, "abc");
    EXPECT_TRUE(entry.anchor_reset);
    EXPECT_EQ(entry.cases, 2);
    EXPECT_EQ(entry.digests.size(), 2U);
    EXPECT_TRUE(entry.removed.empty());
    EXPECT_FALSE(refreshed(run, first.baseline).entry.has_value()) << "nothing changed";
    run.suites[0].cases.pop_back();
    const Refreshed smaller = refreshed(run, first.baseline);
    ASSERT_TRUE(smaller.entry.has_value());
    EXPECT_EQ(smaller.entry->removed, Ids{"gemm/tiled[m=2]"});
    EXPECT_EQ(smaller.entry->cases, 0);
}

TEST(Refresh, WithAnAcknowledgedTimeTheNewCodeIsNotStored) {
    const auto coded = [](const std::string& code, const std::string& host_code, double time) {
        model::Run run = run_on("board-a", time);
        CaseResult& result = run.suites[0].cases[0];
        result.kernels.emplace_back().code = code;
        result.host_code = host_code;
        return run;
    };
    model::Baseline before = refreshed(coded("1", "a", 10'000)).baseline;
    const model::Run slower = coded("2", "b", 12'000);
    before.cases.begin()->second.acknowledged["gpu_time"] = {
        "2026-11-30", "Ada", "known", slower.suites[0].cases[0].metrics.at("gpu_time")};
    const model::Baseline after = refreshed(slower, before).baseline;

    BaselineSet set;
    set["s"] = {"s.json", after};
    model::Run later_run = later(slower);
    const auto judged = [&] {
        const model::VerdictDocument document =
            judge(later_run, set, {}, BatchRule{model::Policy{}});
        return document.suites.at(0).cases.at(0);
    };
    EXPECT_EQ(judged().verdict, model::Verdict::regressed)
        << "after the last day: " << judged().reason;
    EXPECT_EQ(judged().code, model::CodeChange::unknown);
    later_run.started_at = "2026-11-29T10:00:00Z";
    EXPECT_EQ(judged().verdict, model::Verdict::acknowledged);

    Acceptance acceptance;
    acceptance.creep_bound = 1;
    const Refreshed over = refreshed(later(slower), after, acceptance);
    EXPECT_EQ(over.baseline.cases.begin()->second.kernels.at(0).code, "2") << "with the new time";
    before.cases.begin()->second.acknowledged.clear();
    before.cases.begin()->second.acknowledged["registers"] = {"2026-11-30", "Ada", "known",
                                                              series({64}, "registers", "record")};
    EXPECT_EQ(refreshed(slower, before, acceptance).baseline.cases.begin()->second.host_code, "b")
        << "registers are not excused by code";
}

TEST(Refresh, WithAnAcknowledgedCounterTheNewCodeIsNotStored) {
    const auto counted = [](const std::string& code, double count) {
        model::Run run = run_on("board-a", 10'000);
        CaseResult& result = run.suites[0].cases[0];
        result.kernels.emplace_back().code = code;
        result.host_code = "a";
        result.gates.push_back({"spill_sectors", {}, 0});
        result.metrics["spill_sectors"] =
            series({count}, "count", "counter/auto-range/user-replay/cold");
        return run;
    };
    model::Baseline before = refreshed(counted("1", 100)).baseline;
    const model::Run worse = counted("2", 120);
    before.cases.begin()->second.acknowledged["spill_sectors"] = {
        "2026-11-30", "Ada", "known", worse.suites[0].cases[0].metrics.at("spill_sectors")};
    BaselineSet set;
    set["s"] = {"s.json", refreshed(worse, before).baseline};
    const model::CaseVerdict over =
        judge(later(worse), set, {}, BatchRule{model::Policy{}}).suites.at(0).cases.at(0);
    EXPECT_EQ(over.verdict, model::Verdict::regressed) << over.reason;
}

TEST(Refresh, AnAcknowledgementIsKeptUntilItsDayWhereTheValuesAreOfOneKind) {
    const model::Run run = run_of({measured_case()});
    model::Baseline before = refreshed(run).baseline;
    before.cases.begin()->second.acknowledged["gpu_time"] = {"2026-11-21", "Ada", "known",
                                                             series({1200})};
    model::Run slower = run;
    slower.suites[0].cases[0].metrics["gpu_time"] = series({1200});
    const auto kept = [&](const model::Run& now) {
        Acceptance acceptance;
        acceptance.creep_bound = 1;
        const Refreshed result = refreshed(now, before, acceptance);
        const model::BaselineCase& found = result.baseline.cases.begin()->second;
        EXPECT_EQ(result.acknowledged, found.acknowledged.size());
        EXPECT_EQ(found.metrics.at("gpu_time").value, found.acknowledged.empty() ? 1200 : 1000);
        return result.acknowledged == 1;
    };
    EXPECT_TRUE(kept(slower)) << "on its last day";
    model::Run changed = slower;
    changed.started_at = "2026-11-22T10:00:00Z";
    EXPECT_FALSE(kept(changed));
    changed = slower;
    changed.suites[0].cases[0].metrics["gpu_time"].method = "x";
    EXPECT_FALSE(kept(changed));
}

TEST(Refresh, OfACaseThatMeasuresSomethingElseNothingIsKept) {
    const auto measuring = [](const std::string& command, double time) {
        model::Run run = run_of({measured_case()});
        run.suites[0].cases[0].measured_as = {{"command", command}};
        run.suites[0].cases[0].metrics["gpu_time"] = series({time});
        return run;
    };
    model::Baseline before = refreshed(measuring("./app 4", 1000)).baseline;
    model::BaselineCase& known = before.cases.begin()->second;
    known.anchors["gpu_time"] = 950;
    known.acknowledged["registers"] = {"2026-11-30", "Ada", "known",
                                       series({70}, "registers", "record")};
    EXPECT_EQ(refreshed(measuring("./app 4", 1010), before)
                  .baseline.cases.begin()
                  ->second.anchors.at("gpu_time"),
              950);
    EXPECT_THROW(refreshed(measuring("./app 4", 5000), before), util::InputError) << "creep";

    const Refreshed after = refreshed(measuring("./app 5", 5000), before);
    const model::BaselineCase& stored = after.baseline.cases.begin()->second;
    EXPECT_EQ(stored.measured_as, (model::MeasuredAs{{"command", "./app 5"}}));
    EXPECT_EQ(stored.metrics.at("gpu_time").value, 5000);
    EXPECT_TRUE(stored.anchors.empty());
    EXPECT_TRUE(stored.acknowledged.empty());
    EXPECT_EQ(after.acknowledged, 0U);

    // What an older baseline measured is not known: it may be the same.
    known.measured_as.clear();
    EXPECT_THROW(refreshed(measuring("./app 5", 5000), before), util::InputError);
    EXPECT_EQ(refreshed(measuring("./app 5", 1010), before)
                  .baseline.cases.begin()
                  ->second.measured_as.at("command"),
              "./app 5");
}

}  // namespace refresh_test
}  // namespace perfgate::baseline
