// SPDX-License-Identifier: Apache-2.0
#include "baseline/verify.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "baseline/store.hpp"
#include "document/baseline.hpp"
#include "model/baseline.hpp"
#include "unit/gate_documents.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::baseline {
namespace verify_test {

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

    /// An entry of this second of one minute, with the digests of these cases as they are now.
    LedgerEntry& entry(LedgerAction action, int second, const Lines& ids) {
        LedgerEntry& added = entries_.emplace_back();
        const bool refresh = action == LedgerAction::refresh;
        added.id = refresh ? "" : id;
        added.at = "2026-11-21T10:00:0" + std::to_string(second) + "Z";
        added.action = action;
        added.reason = "why";
        if (action == LedgerAction::acknowledge) added.until = "2026-12-31";
        added.cases = refresh ? std::ssize(ids) : 0;
        for (const std::string& of : ids) {
            added.digests[of] = document::digest_of_case(of, baseline_.cases.at(of));
        }
        return added;
    }
    void refresh_both() { entry(LedgerAction::refresh, 1, {id, other}); }
    void acknowledge(const std::string& until) {
        expected().acknowledged["gpu_time"] = {until, "Ada", "known", documents::series({1200})};
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
    model::Baseline baseline_ = baseline_of(run_of({measured_case(1), measured_case(2)}));
    std::vector<LedgerEntry> entries_;
};

TEST_F(VerifyStore, WhatPerfgateWroteIsInOrder) {
    refresh_both();
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
    refresh_both();
    checked();
    std::ofstream(baseline_path(folder_, key, "s"), std::ios::app) << "\n";
    const Lines found = verify_store(folder_, today).faults;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(
        found[0].ends_with("not as perfgate writes it: edited by hand, or merged without care"))
        << found[0];
}

TEST_F(VerifyStore, ConvertedLineEndsAreNamed) {
    refresh_both();
    checked();
    const fs::path file = baseline_path(folder_, key, "s");
    std::ifstream stream(file);
    std::string converted;
    for (std::string line; std::getline(stream, line);) converted += line + "\r\n";
    std::ofstream(file, std::ios::binary) << converted;
    const Lines found = verify_store(folder_, today).faults;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].find("its lines end with CR LF"), std::string::npos) << found[0];
}

TEST_F(VerifyStore, AnOlderVersionIsNamedAndAccusesNobodyOfAnEdit) {
    refresh_both();
    checked();
    const fs::path file = baseline_path(folder_, key, "s");
    std::ifstream in(file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string newest = "\"version\": 3";
    ASSERT_NE(text.find(newest), std::string::npos);
    text.replace(text.find(newest), newest.size(), "\"version\": 1");
    std::ofstream(file) << text;
    const Lines found = verify_store(folder_, today).faults;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].find("of an older format version"), std::string::npos) << found[0];
    EXPECT_NE(found[0].find("perfgate baseline refresh"), std::string::npos) << found[0];
    EXPECT_EQ(found[0].find("by hand"), std::string::npos) << found[0];
}

TEST_F(VerifyStore, CasesOfARefreshWithoutDigestsAreOneFault) {
    entry(LedgerAction::refresh, 1, {id, other}).digests.clear();
    Lines found = faults();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].find("cannot show edits of 2 cases"), std::string::npos) << found[0];
    EXPECT_NE(found[0].find("perfgate baseline refresh"), std::string::npos) << found[0];
    // What was accepted since then is checked as ever.
    entry(LedgerAction::accept, 2, {id});
    found = faults();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].find("1 case"), std::string::npos) << found[0];
    expected().metrics["gpu_time"].value = 990;
    EXPECT_EQ(faults().size(), 3U);
}

TEST_F(VerifyStore, AFileThatCannotBeReadIsOneFaultAndNotCounted) {
    refresh_both();
    checked();
    std::ofstream(baseline_path(folder_, key, "s")) << "{";
    const StoreCheck check = verify_store(folder_, today);
    EXPECT_EQ(check.faults.size(), 1U);
    EXPECT_EQ(check.baselines, 0U);
}

TEST_F(VerifyStore, AValueIsTheMedianOfItsSamples) {
    expected().metrics["gpu_time"].value = 990;
    refresh_both();
    EXPECT_EQ(faults(), Lines{id + ": gpu_time is 990, and its samples say 1000"});
    // Condensed or not, rounding in the last digit is no edit.
    expected().metrics["gpu_time"].value = 1000 * (1 + 1e-12);
    refresh_both();
    EXPECT_EQ(faults(), Lines{});
}

TEST_F(VerifyStore, AnAnchorNeedsAValue) {
    expected().anchors["nothing"] = 1;
    refresh_both();
    EXPECT_EQ(faults(), Lines{id + ": it has an anchor of nothing and no value"});
}

TEST_F(VerifyStore, AnAcknowledgementNeedsAValueInItsUnitAndAnEntry) {
    acknowledge("2026-12-31");
    refresh_both();
    EXPECT_EQ(faults(), Lines{id + ": gpu_time is acknowledged until 2026-12-31, which the ledger "
                                   "does not know"});
    entry(LedgerAction::acknowledge, 1, {id});
    EXPECT_EQ(faults(), Lines{});
    expected().acknowledged["gpu_time"].known.unit = "count";
    refresh_both();
    EXPECT_EQ(faults(), Lines{id + ": gpu_time is acknowledged and has no value in that unit"});
}

TEST_F(VerifyStore, AnAcknowledgementThatIsOverIsWorthANoteFromTheNextDayOn) {
    acknowledge(today);
    refresh_both();
    entry(LedgerAction::acknowledge, 1, {id}).until = today;
    EXPECT_EQ(checked().notes, Lines{});
    const StoreCheck later = verify_store(folder_, "2026-11-22");
    EXPECT_EQ(later.faults, Lines{});
    ASSERT_EQ(later.notes.size(), 1U);
    EXPECT_TRUE(later.notes[0].ends_with("the acknowledgement of gpu_time ended on 2026-11-21"));
}

TEST_F(VerifyStore, WhatWasPrunedIsGoneUntilItIsAcceptedAgain) {
    refresh_both();
    entry(LedgerAction::prune, 2, {});
    EXPECT_EQ(faults(), Lines{id + ": the ledger says that it was removed"});
    const model::BaselineCase pruned = expected();
    baseline_.cases.erase(id);
    EXPECT_EQ(faults(), Lines{});
    baseline_.cases[id] = pruned;
    entry(LedgerAction::accept, 3, {id});
    EXPECT_EQ(faults(), Lines{});
}

TEST_F(VerifyStore, AnEntryWithoutADigestCoversNothing) {
    refresh_both();
    entry(LedgerAction::accept, 2, {});
    EXPECT_EQ(faults(), Lines{id + ": its last ledger entry has no digest: refresh it"});
    expected().metrics["gpu_time"] = documents::series({2000});
    EXPECT_EQ(faults().size(), 1U);
    refresh_both();
    entries_.back().at = "2026-11-21T10:00:03Z";
    EXPECT_EQ(faults(), Lines{});
    entry(LedgerAction::refresh, 4, {}).cases = 2;
    expected().metrics["gpu_time"] = documents::series({3000});
    EXPECT_EQ(faults().size(), 1U) << "a refresh that names no case has not accepted this one";
}

TEST_F(VerifyStore, ALedgerWhoseBaselineIsGoneSaysWhatIsMissing) {
    entry(LedgerAction::accept, 1, {id});
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
}

TEST_F(VerifyStore, ACaseThatIsAnothersIsSeen) {
    expected().metrics["gpu_time"] = documents::series({2000});
    refresh_both();
    std::swap(expected(), baseline_.cases.at(other));
    EXPECT_EQ(faults().size(), 2U);
}

TEST_F(VerifyStore, ACaseThatNobodyAcceptedIsSeen) {
    entry(LedgerAction::refresh, 1, {id});
    EXPECT_EQ(faults(), Lines{other + ": it is not in the ledger: it was never accepted"});
}

TEST_F(VerifyStore, ACaseIsGoneWhereARefreshTookItOutAndNotOtherwise) {
    refresh_both();
    baseline_.cases.erase(other);
    EXPECT_EQ(faults(), Lines{other + ": the ledger says that it was accepted, and the baseline "
                                      "does not have it"});
    entry(LedgerAction::refresh, 2, {}).removed = {other};
    EXPECT_EQ(faults(), Lines{});
    baseline_ = baseline_of(run_of({measured_case(1), measured_case(2)}));
    EXPECT_EQ(faults(), Lines{other + ": the ledger says that it was removed"});
}

TEST_F(VerifyStore, OfEntriesOfOneSecondAnyMayBeTheLast) {
    refresh_both();
    const model::Baseline first = baseline_;
    expected().metrics["gpu_time"] = documents::series({2000});
    entry(LedgerAction::accept, 1, {id});
    EXPECT_EQ(faults(), Lines{});
    baseline_ = first;
    EXPECT_EQ(faults(), Lines{});
    expected().metrics["gpu_time"] = documents::series({3000});
    EXPECT_EQ(faults().size(), 1U);
}

TEST_F(VerifyStore, ABaselineWithoutALedgerIsAFault) {
    refresh_both();
    checked();
    fs::remove(ledger_path(folder_, key, "s"));
    const StoreCheck check = verify_store(folder_, today);
    ASSERT_EQ(check.faults.size(), 1U);
    EXPECT_NE(check.faults[0].find("it has no ledger"), std::string::npos) << check.faults[0];
}

}  // namespace verify_test
}  // namespace perfgate::baseline
