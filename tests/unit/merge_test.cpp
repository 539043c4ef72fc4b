// SPDX-License-Identifier: Apache-2.0
#include "runner/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "document/run.hpp"
#include "gate/batch_rule.hpp"
#include "unit/gate_documents.hpp"
#include "util/error.hpp"

namespace perfgate::runner {
namespace {

using namespace gate;

using documents::measured_case;
using documents::run_of;

std::string id(int m) {
    return "gemm/tiled[m=" + std::to_string(m) + "]";
}

/// A relation between the first and the second case, which are in different shards.
model::Relation relation() {
    model::Relation result;
    result.left_text = "one.gpu_time";
    result.right_text = "two.gpu_time";
    result.comparator = model::Comparator::less_equal;
    result.unit = "ns";
    result.operands = {"one", "two"};
    result.left = {model::OperandMetric{0, "gpu_time"}};
    result.right = {model::OperandMetric{1, "gpu_time"}};
    result.instances = {{id(1), id(2)}};
    return result;
}

NamedRun shard(std::int64_t index, std::vector<model::CaseResult> cases) {
    NamedRun named{"shard-" + std::to_string(index) + ".json", run_of(std::move(cases))};
    named.run.suites[0].partial = true;
    named.run.suites[0].relations = {relation()};
    named.run.shard = model::Shard{index, 2, {{"s", false, {id(1), id(2), id(3)}}}};
    return named;
}

std::vector<NamedRun> shards() {
    return {shard(1, {measured_case(1), measured_case(3)}), shard(2, {measured_case(2)})};
}

std::string refusal(const std::vector<NamedRun>& runs) {
    try {
        merge_shards(runs);
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "not refused";
}

template <typename Spoil>
std::string spoilt(const Spoil& spoil) {
    std::vector<NamedRun> runs = shards();
    spoil(runs);
    return refusal(runs);
}

TEST(Merge, MakesTheRunThatWouldHaveBeen) {
    model::Run whole = run_of({measured_case(1), measured_case(2), measured_case(3)});
    whole.suites[0].relations = {relation()};
    whole.wall_s = 4;
    EXPECT_EQ(merge_shards(shards()), whole);
    std::vector<NamedRun> turned = shards();
    std::swap(turned[0], turned[1]);
    EXPECT_EQ(merge_shards(turned), whole) << "in whatever order";
}

TEST(Merge, ShardsOfTwoBuildsAreNotedUnlessTheyAreOfOneCommit) {
    std::vector<NamedRun> runs = shards();
    for (NamedRun& named : runs) {
        for (model::CaseResult& result : named.run.suites[0].cases) result.host_code = named.file;
    }
    const auto notes = [&](const std::string& revision) {
        for (NamedRun& named : runs) named.run.git_revision = revision;
        const model::Run merged = merge_shards(runs);
        std::vector<std::string> all;
        for (const model::CaseResult& result : merged.suites[0].cases) {
            all.insert(all.end(), result.notes.begin(), result.notes.end());
        }
        return all;
    };
    const std::vector<std::string> other{
        "shard-1.json and shard-2.json measured different builds of gemm/tiled, maybe of different "
        "code"};
    EXPECT_EQ(notes(""), other);
    EXPECT_EQ(notes("abc-dirty"), other);
    EXPECT_TRUE(notes("abc").empty());
    for (model::CaseResult& result : runs[1].run.suites[0].cases) result.host_code = runs[0].file;
    EXPECT_TRUE(notes("").empty());
}

TEST(Merge, ADocumentOfAShardReadsBack) {
    const model::Run run = shards()[0].run;
    EXPECT_EQ(document::parse_run(document::write_run(run), "r.json"), run);
}

TEST(Merge, RelationsAreJudgedOnTheMergedRun) {
    std::vector<NamedRun> runs = shards();
    runs[0].run.suites[0].cases[0].metrics["gpu_time"] = documents::series({2000});
    const BatchRule rule{model::Policy{}};
    const auto relation_of = [&](const model::Run& run) {
        return judge(run, {}, {}, rule).suites.at(0).relations.at(0).verdict;
    };
    EXPECT_EQ(relation_of(runs[0].run), model::Verdict::skipped);
    EXPECT_EQ(relation_of(merge_shards(runs)), model::Verdict::regressed);
}

TEST(Merge, CasesOfAnotherBoardAreJudgedAsSuch) {
    const model::Baseline expected =
        documents::baseline_of(run_of({measured_case(1), measured_case(2), measured_case(3)}));
    std::vector<NamedRun> runs = shards();
    documents::move_to_board("board-b", runs[1].run);
    const BatchRule rule{model::Policy{}};
    const model::VerdictDocument document =
        judge(merge_shards(runs), documents::stored(expected), {}, rule);
    const auto tolerance_of = [&](std::size_t index) {
        return document.suites.at(0).cases.at(index).metrics.at(0).tolerance;
    };
    EXPECT_EQ(tolerance_of(0), "3 %");
    EXPECT_EQ(tolerance_of(1), "3 % and 2 % more for another board");
    EXPECT_EQ(tolerance_of(2), "3 %");
}

TEST(Merge, ASuiteThatWasFilteredStaysPartial) {
    std::vector<NamedRun> runs = shards();
    for (NamedRun& named : runs) named.run.shard->whole[0].partial = true;
    EXPECT_TRUE(merge_shards(runs).suites[0].partial);
}

TEST(Merge, ASuiteMayBeInSomeShardsOnly) {
    std::vector<NamedRun> runs = shards();
    model::SuiteResult other = run_of({measured_case(7)}).suites[0];
    other.name = "t";
    runs[1].run.suites.push_back(other);
    for (NamedRun& named : runs) named.run.shard->whole.push_back({"t", false, {id(7)}});
    const model::Run merged = merge_shards(runs);
    ASSERT_EQ(merged.suites.size(), 2U);
    EXPECT_EQ(merged.suites[1].file, "suites/s.yaml");
    EXPECT_EQ(merged.suites[1].cases.size(), 1U);
}

TEST(Merge, TimesAddUpAndTheRunBeganWithTheFirst) {
    std::vector<NamedRun> runs = shards();
    runs[0].run.started_at = "2026-11-21T10:00:05Z";
    runs[0].run.phase_s = {{"timing", 1.5}};
    runs[1].run.phase_s = {{"timing", 2}, {"counters", 3}};
    const model::Run merged = merge_shards(runs);
    EXPECT_EQ(merged.started_at, "2026-11-21T10:00:00Z");
    EXPECT_EQ(merged.phase_s, (std::map<std::string, double>{{"counters", 3}, {"timing", 3.5}}));
}

TEST(Merge, RefusesWhatIsNoShardOrNotWhole) {
    EXPECT_EQ(refusal({}), "the runs cannot be merged: there are none");
    EXPECT_EQ(
        spoilt([](auto& runs) { runs[1].run.shard.reset(); }),
        "the runs cannot be merged: shard-2.json is not a shard: measure each part with --shard; "
        "two runs are compared with --base and --head");
    EXPECT_EQ(spoilt([](auto& runs) { runs[1].run.interrupted = true; }),
              "the runs cannot be merged: shard-2.json (shard 2/2) was interrupted: measure it "
              "again, or --resume it");
}

TEST(Merge, RefusesGaps) {
    EXPECT_EQ(spoilt([](auto& runs) { runs.pop_back(); }),
              "the runs cannot be merged: of 2 shards these are missing: 2");
    EXPECT_EQ(spoilt([](auto& runs) { runs[0].run.suites[0].cases.pop_back(); }),
              "the runs cannot be merged: no shard has case gemm/tiled[m=3] of suite 's': one of "
              "them was filtered since");
}

TEST(Merge, RefusesOverlaps) {
    EXPECT_EQ(spoilt([](auto& runs) { runs.push_back(runs[0]); }),
              "the runs cannot be merged: shard-1.json and shard-1.json are both shard 1/2");
    EXPECT_EQ(spoilt([](auto& runs) { runs[1].run.suites[0].cases.push_back(measured_case(3)); }),
              "the runs cannot be merged: shard-1.json and shard-2.json both have case "
              "gemm/tiled[m=3] of suite 's': measure all shards with the same suites, "
              "plugins and options");
    EXPECT_EQ(spoilt([](auto& runs) { runs[1].run.suites[0].cases.push_back(measured_case(9)); }),
              "the runs cannot be merged: shard-2.json has case gemm/tiled[m=9], which suite 's' "
              "does not");
}

TEST(Merge, RefusesOtherSuites) {
    const auto mixed = [](auto spoil) {
        const std::string why = spoilt([&](auto& runs) { spoil(*runs[1].run.shard); });
        const std::string head =
            "the runs cannot be merged: shard-1.json and shard-2.json are not of the same suites: ";
        return why.starts_with(head) ? why.substr(head.size()) : why;
    };
    EXPECT_EQ(mixed([](model::Shard& s) { s.count = 3; }), "one is of 2 shards, the other of 3");
    EXPECT_EQ(mixed([](model::Shard& s) { s.whole[0].name = "t"; }),
              "one is of suite 's', the other of 't'");
    EXPECT_EQ(mixed([](model::Shard& s) {
                  s.whole.push_back({"t", false, {}});
              }),
              "only one is of suite 't'");
    EXPECT_EQ(mixed([](model::Shard& s) { s.whole[0].partial = true; }),
              "suite 's' was filtered in one");
    EXPECT_EQ(mixed([](model::Shard& s) { s.whole[0].gates = "0ther"; }),
              "suite 's' has different tolerances or relations");
    EXPECT_EQ(mixed([](model::Shard& s) { s.whole[0].cases.pop_back(); }),
              "suite 's' differs from case 'gemm/tiled[m=3]' on");
    EXPECT_EQ(mixed([](model::Shard& s) { s.whole[0].cases[1] = "x"; }),
              "suite 's' differs from case 'gemm/tiled[m=2]' on");
}

TEST(Merge, RefusesAMetricThatIsDefinedInTwoWays) {
    EXPECT_EQ(
        spoilt([](auto& runs) {
            runs[1].run.metric_definitions.at("gpu_time").direction = model::Direction::higher;
        }),
        "the runs cannot be merged: shard-2.json defines gpu_time differently than the shards "
        "before it");
    EXPECT_EQ(spoilt([](auto& runs) { runs[0].run.metric_definitions.erase("gpu_time"); }),
              "not refused");
}

TEST(Merge, RefusesOtherMachinesAndTools) {
    const auto mixed = [](auto spoil) { return spoilt([&](auto& runs) { spoil(runs[1].run); }); };
    EXPECT_EQ(
        mixed([](model::Run& run) { run.environment.device.key = "nvidia-h200"; }),
        "the runs cannot be merged: device.key is 'nvidia-h100-80gb-hbm3' in shard-1.json and "
        "'nvidia-h200' in shard-2.json");
    const auto names = [&](const std::string& field, auto spoil) {
        const std::string why = mixed(spoil);
        EXPECT_NE(why.find(field + " is '"), std::string::npos) << why;
    };
    names("the backend", [](model::Run& run) { run.backend = "host"; });
    names("driver", [](model::Run& run) { run.environment.driver = "590.1"; });
    names("cuda_toolkit", [](model::Run& run) { run.environment.cuda_toolkit = "13.1"; });
    names("cupti", [](model::Run& run) { run.environment.cupti = "1"; });
    names("tool_version", [](model::Run& run) { run.tool_version = "9"; });
    names("git_revision", [](model::Run& run) { run.git_revision = "def"; });
    EXPECT_EQ(
        mixed([](model::Run& run) {
            run.selections = {{{"*"}, {}}};
        }),
        "the runs cannot be merged: shard-1.json and shard-2.json were selected with different "
        "--filter or --tag");
    names("verify_only", [](model::Run& run) { run.verify_only = true; });
}

}  // namespace
}  // namespace perfgate::runner
