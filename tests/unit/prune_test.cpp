// SPDX-License-Identifier: Apache-2.0
#include "baseline/prune.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/case.hpp"
#include "unit/gate_documents.hpp"
#include "util/error.hpp"

namespace perfgate::baseline {
namespace prune_test {

using namespace gate;

using documents::baseline_of;
using documents::measured_case;
using documents::run_of;

const std::string first_id = "gemm/tiled[m=1]";
const std::string second_id = "gemm/tiled[m=2]";

model::Baseline two_cases() {
    return baseline_of(run_of({measured_case(1), measured_case(2)}));
}

TEST(Prune, TakesOutWhatTheSuiteNoLongerHasAndTellsTheLedger) {
    Acceptance acceptance;
    acceptance.accepted_by = "Ada";
    acceptance.reason = "m=2 is no size of ours";
    acceptance.at = "2026-11-21T12:00:00Z";
    const Pruned pruned = prune(two_cases(), {{first_id, "gemm/tiled[m=3]"}, {}}, acceptance);
    EXPECT_EQ(pruned.baseline, baseline_of(run_of({measured_case(1)})));
    ASSERT_EQ(pruned.entries.size(), 1U);
    const model::LedgerEntry& entry = pruned.entries[0];
    EXPECT_EQ(entry.id, second_id);
    EXPECT_EQ(entry.action, model::LedgerAction::prune);
    EXPECT_EQ(entry.by, "Ada");
    EXPECT_EQ(entry.reason, "m=2 is no size of ours");
    EXPECT_EQ(entry.at, "2026-11-21T12:00:00Z");
    EXPECT_TRUE(entry.changes.empty());
}

TEST(Prune, LeavesABaselineOfTheSuitesCasesAsItIs) {
    const Pruned pruned = prune(two_cases(), {{first_id, second_id}, {}}, {});
    EXPECT_EQ(pruned.baseline, two_cases());
    EXPECT_TRUE(pruned.entries.empty());
}

TEST(Prune, OfASuiteThatIsGoneNothingIsLeft) {
    const Pruned pruned = prune(two_cases(), {}, {});
    EXPECT_TRUE(pruned.baseline.cases.empty());
    EXPECT_EQ(pruned.baseline.suite, "s");
    EXPECT_EQ(pruned.entries.size(), 2U);
}

/// What stands in a suite for the cases of the benchmark `gemm`.
KnownCases cases_of_a_benchmark() {
    KnownCases cases;
    cases.reported.push_back({{"gemm", model::unknown_cases, {}}, ""});
    return cases;
}

TEST(Prune, KeepsTheCasesOfABenchmarkThatNoRunShows) {
    const Pruned pruned = prune(two_cases(), cases_of_a_benchmark(), {});
    EXPECT_EQ(pruned.baseline, two_cases());
    EXPECT_TRUE(pruned.entries.empty());
    EXPECT_EQ(pruned.unknown, 2U);
    KnownCases other = cases_of_a_benchmark();
    other.reported[0].spec.workload = "gem";
    EXPECT_EQ(prune(two_cases(), other, {}).entries.size(), 2U) << "its benchmark is gone";
}

TEST(Prune, TakesOutWhatARunShowsToBeGone) {
    model::Run run = run_of({measured_case(1)});
    run.started_at = "2026-12-24T10:00:00Z";
    KnownCases cases = cases_of_a_benchmark();
    add_reported(run, "s", cases);
    Pruned pruned = prune(two_cases(), cases, {});
    ASSERT_EQ(pruned.entries.size(), 1U);
    EXPECT_EQ(pruned.entries[0].id, second_id);
    EXPECT_EQ(pruned.unknown, 0U);

    model::Baseline later = two_cases();
    later.cases.at(second_id).provenance.recorded_at = "2026-12-25T10:00:00Z";
    EXPECT_EQ(prune(later, cases, {}).unknown, 1U) << "the run is older than the case";
}

TEST(Prune, ARunWithoutTheBenchmarksCasesShowsNothing) {
    model::Run run = run_of({measured_case(1)});
    run.suites[0].cases[0].spec.variant = model::unknown_cases;
    run.suites[0].cases[0].spec.params.clear();
    run.suites[0].cases[0].status = model::CaseStatus::error;
    KnownCases cases = cases_of_a_benchmark();
    add_reported(run, "s", cases);
    EXPECT_EQ(prune(two_cases(), cases, {}).unknown, 2U) << "it failed";
    run.suites[0].cases.clear();
    add_reported(run, "s", cases);
    add_reported(run, "another", cases);
    EXPECT_EQ(prune(two_cases(), cases, {}).unknown, 2U) << "it was not in the suite";
}

TEST(Prune, RefusesARunOfAPartOfTheSuite) {
    KnownCases cases = cases_of_a_benchmark();
    model::Run run = run_of({measured_case(1)});
    run.suites[0].partial = true;
    EXPECT_THROW(add_reported(run, "s", cases), util::InputError);
    run.suites[0].partial = false;
    run.interrupted = true;
    EXPECT_THROW(add_reported(run, "s", cases), util::InputError);
}

}  // namespace prune_test
}  // namespace perfgate::baseline
