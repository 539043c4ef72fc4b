// SPDX-License-Identifier: Apache-2.0
#include "baseline/prune.hpp"

#include <gtest/gtest.h>

#include <string>

#include "unit/gate_documents.hpp"

namespace perfgate::baseline {
namespace {

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
    const Pruned pruned = prune(two_cases(), {first_id, "gemm/tiled[m=3]"}, acceptance);
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
    const Pruned pruned = prune(two_cases(), {first_id, second_id}, {});
    EXPECT_EQ(pruned.baseline, two_cases());
    EXPECT_TRUE(pruned.entries.empty());
}

TEST(Prune, OfASuiteThatIsGoneNothingIsLeft) {
    const Pruned pruned = prune(two_cases(), {}, {});
    EXPECT_TRUE(pruned.baseline.cases.empty());
    EXPECT_EQ(pruned.baseline.suite, "s");
    EXPECT_EQ(pruned.entries.size(), 2U);
}

}  // namespace
}  // namespace perfgate::baseline
