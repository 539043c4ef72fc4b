// SPDX-License-Identifier: Apache-2.0
#include "baseline/verify.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "baseline/store.hpp"
#include "document/baseline.hpp"
#include "model/baseline.hpp"
#include "model/ledger.hpp"
#include "unit/gate_documents.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::baseline {
namespace {

using namespace gate;

namespace fs = std::filesystem;
using documents::baseline_of;
using documents::measured_case;
using documents::run_of;
using model::LedgerAction;
using model::LedgerEntry;

using Lines = std::vector<std::string>;

constexpr const char* key = "nvidia-h100-80gb-hbm3";
const std::string id = "gemm/tiled[m=1]";
const std::string other = "gemm/tiled[m=2]";
const std::string today = "2026-11-21";

/// A folder with a baseline of two cases, which a test changes as a person would by hand.
class VerifyStore : public ::testing::Test {
  protected:
    model::BaselineCase& expected() { return baseline_.cases.at(id); }
    StoreCheck checked() {
        save_baseline(folder_, baseline_);
        if (!fs::exists(ledger_path(folder_, key, "s")) && !covered_) {
            entry(LedgerAction::refresh, 0).cases = 2;
        }
        append_to_ledger(folder_, key, "s", entries_);
        entries_.clear();
        return verify_store(folder_, today);
    }
    /// The faults without the file that each begins with.
    Lines faults() {
        Lines lines = checked().faults;
        const std::string file = baseline_path(folder_, key, "s").string() + ": ";
        for (std::string& line : lines) {
            EXPECT_TRUE(line.starts_with(file)) << line;
            line.erase(0, file.size());
        }
        return lines;
    }

    /// An acceptance of gpu_time, `second` of one minute; what it says is changed by the test.
    LedgerEntry& entry(LedgerAction action, int second, double after = 1000) {
        LedgerEntry& added = entries_.emplace_back();
        added.id = action == LedgerAction::refresh ? "" : id;
        added.at = "2026-11-21T10:00:0" + std::to_string(second) + "Z";
        added.action = action;
        added.reason = "why";
        if (action == LedgerAction::acknowledge) added.until = "2026-12-31";
        if (action == LedgerAction::accept) added.changes["gpu_time"] = {"ns", 900, after, {}};
        return added;
    }
    /// An entry that has the digests of these cases as they are now.
    LedgerEntry& entry_with_digests(LedgerAction action, int second, const Lines& ids) {
        covered_ = true;
        LedgerEntry& added = entry(action, second);
        added.changes.clear();
        added.cases = action == LedgerAction::refresh ? std::ssize(ids) : 0;
        for (const std::string& of : ids) {
            added.digests[of] = document::digest_of_case(of, baseline_.cases.at(of));
        }
        return added;
    }
    void refresh_both() { entry_with_digests(LedgerAction::refresh, 1, {id, other}); }
    void acknowledge(const std::string& until) {
        expected().acknowledged["gpu_time"] = {until, "Ada", "known", documents::series({1200})};
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
    model::Baseline baseline_ = baseline_of(run_of({measured_case(1), measured_case(2)}));
    std::vector<LedgerEntry> entries_;
    bool covered_ = false;  ///< the ledger begins with an entry that has digests
};

TEST_F(VerifyStore, WhatPerfgateWroteIsInOrder) {
    entry(LedgerAction::accept, 1);
    const StoreCheck check = checked();
    EXPECT_EQ(check.faults, Lines{});
    EXPECT_EQ(check.notes, Lines{});
    EXPECT_EQ(check.baselines, 1U);
    EXPECT_EQ(check.ledgers, 1U);
}

TEST_F(VerifyStore, AFolderThatIsNotThereIsAnError) {
    EXPECT_THROW(verify_store(folder_ / "none", today), util::InputError);
}

TEST_F(VerifyStore, TheSameContentInOtherTextIsAFault) {
    checked();
    std::ofstream(baseline_path(folder_, key, "s"), std::ios::app) << "\n";
    const Lines found = verify_store(folder_, today).faults;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(
        found[0].ends_with("not as perfgate writes it: edited by hand, or merged without care"))
        << found[0];
}

TEST_F(VerifyStore, AFileThatCannotBeReadIsOneFaultAndNotCounted) {
    checked();
    std::ofstream(baseline_path(folder_, key, "s")) << "{";
    const StoreCheck check = verify_store(folder_, today);
    EXPECT_EQ(check.faults.size(), 1U);
    EXPECT_EQ(check.baselines, 0U);
}

TEST_F(VerifyStore, AValueIsTheMedianOfItsSamples) {
    expected().metrics["gpu_time"].value = 990;
    EXPECT_EQ(faults(), Lines{id + ": gpu_time is 990, and its samples say 1000"});
    // Condensed or not, rounding in the last digit is no edit.
    expected().metrics["gpu_time"].value = 1000 * (1 + 1e-12);
    EXPECT_EQ(faults(), Lines{});
}

TEST_F(VerifyStore, AnAnchorNeedsAValue) {
    expected().anchors["nothing"] = 1;
    EXPECT_EQ(faults(), Lines{id + ": it has an anchor of nothing and no value"});
}

TEST_F(VerifyStore, AnAcknowledgementNeedsAValueInItsUnitAndAnEntry) {
    acknowledge("2026-12-31");
    EXPECT_EQ(faults(), Lines{id + ": gpu_time is acknowledged until 2026-12-31, which the ledger "
                                   "does not know"});
    entry(LedgerAction::acknowledge, 1);
    EXPECT_EQ(faults(), Lines{});
    expected().acknowledged["gpu_time"].known.unit = "count";
    EXPECT_EQ(faults(), Lines{id + ": gpu_time is acknowledged and has no value in that unit"});
}

TEST_F(VerifyStore, AnAcknowledgementThatIsOverIsWorthANoteFromTheNextDayOn) {
    acknowledge(today);
    entry(LedgerAction::acknowledge, 1).until = today;
    EXPECT_EQ(checked().notes, Lines{});
    const StoreCheck later = verify_store(folder_, "2026-11-22");
    EXPECT_EQ(later.faults, Lines{});
    ASSERT_EQ(later.notes.size(), 1U);
    EXPECT_TRUE(later.notes[0].ends_with("the acknowledgement of gpu_time ended on 2026-11-21"));
}

TEST_F(VerifyStore, WhatWasAcceptedIsWhatIsExpected) {
    entry(LedgerAction::accept, 1, 950);
    EXPECT_EQ(faults(),
              Lines{id + ": gpu_time is 1000, and the ledger says that 950 was accepted"});
}

TEST_F(VerifyStore, OnlyTheNewestAcceptanceOfAMetricCounts) {
    entry(LedgerAction::accept, 2);
    entry(LedgerAction::accept, 1, 950);
    EXPECT_EQ(faults(), Lines{});
}

TEST_F(VerifyStore, ARefreshTakesWhatItFinds) {
    entry(LedgerAction::accept, 1, 950);
    entry(LedgerAction::refresh, 2).cases = 2;
    EXPECT_EQ(faults(), Lines{});
}

TEST_F(VerifyStore, AnAnchorIsTheOneThatTheLedgerTells) {
    entry(LedgerAction::accept, 1).changes["gpu_time"].anchor = 900;
    EXPECT_EQ(faults(), Lines{id + ": the anchor of gpu_time is 1000, and the ledger says 900"});
    expected().anchors["gpu_time"] = 900;
    EXPECT_EQ(faults(), Lines{});
}

TEST_F(VerifyStore, WhatWasPrunedIsGoneUntilItIsAcceptedAgain) {
    entry(LedgerAction::prune, 1);
    EXPECT_EQ(faults(), Lines{id + ": the ledger says that it was pruned"});
    entry(LedgerAction::accept, 2);
    EXPECT_EQ(faults(), Lines{});
}

TEST_F(VerifyStore, WhatWasPrunedIsGoneWhereItsAcceptanceHasADigestToo) {
    refresh_both();
    entry(LedgerAction::prune, 2);
    baseline_.cases.erase(id);
    EXPECT_EQ(faults(), Lines{});
}

TEST_F(VerifyStore, WhatWasAcceptedBeforeItWasPrunedCountsNoMore) {
    entry(LedgerAction::accept, 1, 950);
    entry(LedgerAction::prune, 2);
    entry(LedgerAction::accept, 3).changes.erase("gpu_time");
    EXPECT_EQ(faults(), Lines{});
}

TEST_F(VerifyStore, WhatWasAcceptedIsThere) {
    entry(LedgerAction::accept, 1);
    baseline_.cases.erase(id);
    EXPECT_EQ(faults(), Lines{id + ": the ledger says that it was accepted, and the baseline does "
                                   "not have it"});
}

TEST_F(VerifyStore, ALedgerWhoseBaselineIsGoneSaysWhatIsMissing) {
    entry(LedgerAction::accept, 1);
    checked();
    fs::remove(baseline_path(folder_, key, "s"));
    const StoreCheck check = verify_store(folder_, today);
    EXPECT_EQ(check.faults.size(), 1U);
    EXPECT_EQ(check.baselines, 0U);
    EXPECT_EQ(check.ledgers, 1U);
}

TEST_F(VerifyStore, AnyEditAfterARefreshIsSeen) {
    const std::string fault =
        id + ": not as it was accepted: edited by hand, or merged without care";
    refresh_both();
    EXPECT_EQ(faults(), Lines{});
    const model::Baseline accepted = baseline_;
    expected().metrics["gpu_time"] = documents::series({2000});
    EXPECT_EQ(faults(), Lines{fault});
    baseline_ = accepted;
    expected().provenance.reason = "another";
    EXPECT_EQ(faults(), Lines{fault});
    baseline_ = accepted;
    expected().anchors["gpu_time"] = 5000;
    EXPECT_EQ(faults(), Lines{fault});
    baseline_ = accepted;
    EXPECT_EQ(faults(), Lines{});
    EXPECT_TRUE(checked().not_covered.empty());
}

TEST_F(VerifyStore, ACaseThatIsAnothersIsSeen) {
    expected().metrics["gpu_time"] = documents::series({2000});
    refresh_both();
    std::swap(expected(), baseline_.cases.at(other));
    EXPECT_EQ(faults().size(), 2U);
}

TEST_F(VerifyStore, CasesWithoutADigestAreNamedAndNoFault) {
    const StoreCheck old = checked();
    EXPECT_EQ(old.faults, Lines{});
    const std::string file = baseline_path(folder_, key, "s").string();
    EXPECT_EQ(old.not_covered.at(file), (Lines{id, other}));
    entry_with_digests(LedgerAction::accept, 1, {id});
    EXPECT_EQ(checked().not_covered.at(file), Lines{other});
    expected().metrics["gpu_time"] = documents::series({2000});
    EXPECT_EQ(faults().size(), 1U) << "what is covered is checked beside what is not";
}

TEST_F(VerifyStore, ACaseThatNobodyAcceptedIsSeen) {
    entry_with_digests(LedgerAction::refresh, 1, {id});
    EXPECT_EQ(faults(), Lines{other + ": it is not in the ledger: it was never accepted"});
}

TEST_F(VerifyStore, ACaseIsGoneWhereARefreshTookItOutAndNotOtherwise) {
    refresh_both();
    baseline_.cases.erase(other);
    EXPECT_EQ(faults(), Lines{other + ": the ledger says that it was accepted, and the baseline "
                                      "does not have it"});
    entry_with_digests(LedgerAction::refresh, 2, {}).removed = {other};
    EXPECT_EQ(faults(), Lines{});
    baseline_ = baseline_of(run_of({measured_case(1), measured_case(2)}));
    EXPECT_EQ(faults(), Lines{other + ": the ledger says that it was removed"});
}

TEST_F(VerifyStore, OfEntriesOfOneSecondAnyMayBeTheLast) {
    refresh_both();
    const model::Baseline first = baseline_;
    expected().metrics["gpu_time"] = documents::series({2000});
    entry_with_digests(LedgerAction::accept, 1, {id});
    EXPECT_EQ(faults(), Lines{});
    baseline_ = first;
    EXPECT_EQ(faults(), Lines{});
    expected().metrics["gpu_time"] = documents::series({3000});
    EXPECT_EQ(faults().size(), 1U);
}

TEST_F(VerifyStore, ABaselineWithoutALedgerIsAFault) {
    checked();
    fs::remove(ledger_path(folder_, key, "s"));
    const StoreCheck check = verify_store(folder_, today);
    ASSERT_EQ(check.faults.size(), 1U);
    EXPECT_NE(check.faults[0].find("it has no ledger"), std::string::npos) << check.faults[0];
}

TEST_F(VerifyStore, ARefreshWithoutDigestsMayHaveWrittenAnyCase) {
    refresh_both();
    entry(LedgerAction::refresh, 2).cases = 2;
    expected().metrics["gpu_time"] = documents::series({2000});
    const StoreCheck check = checked();
    EXPECT_EQ(check.faults, Lines{}) << "that refresh may have accepted it";
    EXPECT_EQ(check.not_covered.at(baseline_path(folder_, key, "s").string()), Lines{id});
    entry_with_digests(LedgerAction::refresh, 3, {id, other});
    expected().metrics["gpu_time"] = documents::series({3000});
    EXPECT_EQ(faults().size(), 1U) << "the later one says what it wrote";
}

}  // namespace
}  // namespace perfgate::baseline
