// SPDX-License-Identifier: Apache-2.0
#include "document/baseline.hpp"
#include "model/baseline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "util/error.hpp"

namespace perfgate::document {
namespace document_ledger_test {

using namespace model;

LedgerEntry entry(const std::string& id, const std::string& at) {
    LedgerEntry result;
    result.id = id;
    result.at = at;
    result.by = "Ada";
    result.reason = "meant: \"128x128\"\nsecond line";
    result.recorded_at = "2026-11-20T10:00:00Z";
    result.git_revision = "abc";
    result.changes["gpu_time"] = {"ns", 8200, 8512.25, 8000};
    result.changes["registers"] = {"registers", std::nullopt, 64, std::nullopt};
    result.digests[id] = "0123456789abcdef0123456789abcdef";
    return result;
}

Ledger whole() {
    LedgerEntry refresh;
    refresh.at = "2026-11-01T10:00:00Z";
    refresh.action = LedgerAction::refresh;
    refresh.cases = 165;
    refresh.anchor_reset = true;
    refresh.digests = {{"a/b[]", "0123"}, {"b/c[]", "4567"}};
    refresh.added_boards = {"0123456789abcdef"};
    refresh.removed = {"gone[]"};
    LedgerEntry known = entry("b/c[]", "2026-11-21T10:00:00Z");
    known.action = LedgerAction::acknowledge;
    known.until = "2026-12-31";
    return {
        "gemm", "nvidia-h100-80gb-hbm3", {refresh, entry("a/b[]", "2026-11-21T10:00:00Z"), known}};
}

std::string refusal(const std::string& text) {
    try {
        parse_ledger(text, "s.ledger.jsonl");
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "not refused";
}

const std::string head = R"({"schema":"perfgate.ledger","version":1,"suite":"s","device":"host-x"})"
                         "\n";

TEST(Ledger, ReadsWhatItWrites) {
    const std::string text = write_ledger(whole());
    EXPECT_EQ(parse_ledger(text, "x"), whole());
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << "a head, and a line for each entry";
}

TEST(Ledger, ANewEntryIsOneNewLineBesideItsCase) {
    Ledger ledger = whole();
    const std::string before = write_ledger(ledger);
    ledger.entries.push_back(entry("a/b[]", "2026-11-22T10:00:00Z"));
    const std::string after = write_ledger(ledger);
    const std::size_t at = before.find(R"({"case":"b/c)");
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(after.substr(0, at), before.substr(0, at));
    EXPECT_TRUE(after.ends_with(before.substr(at)));
}

TEST(Ledger, TakesEntriesAsAMergeHasPutThem) {
    Ledger mixed = whole();
    std::string text = write_ledger(mixed);
    const std::size_t first = text.find('\n') + 1;
    const std::size_t second = text.find('\n', first) + 1;
    const std::string moved = text.substr(first, second - first);
    text.erase(first, second - first);
    EXPECT_EQ(write_ledger(parse_ledger(text + moved, "x")), write_ledger(mixed));
}

TEST(Ledger, ReadsVersion1WhichHasNoDigests) {
    const Ledger old = parse_ledger(
        head + R"({"at":"2026-11-21T10:00:00Z","action":"refresh","cases":3})" + "\n", "x");
    ASSERT_EQ(old.entries.size(), 1U);
    EXPECT_TRUE(old.entries[0].digests.empty());
    EXPECT_NE(write_ledger(old).find(R"("version":2)"), std::string::npos);
}

TEST(Ledger, TheHeadsOfBothSidesOfAMergeAreOne) {
    const std::string entry = R"({"at":"2026-11-21T10:00:00Z","action":"refresh","cases":3})"
                              "\n";
    std::string newer = head;
    newer.replace(newer.find("\"version\":1"), 11, "\"version\":2");
    const Ledger merged = parse_ledger(newer + entry + head + entry, "x");
    EXPECT_EQ(merged.entries.size(), 2U);
    EXPECT_NE(
        refusal(head + R"({"schema":"perfgate.ledger","version":1,"suite":"t","device":"host-x"})")
            .find("the suite and device of the first line"),
        std::string::npos);
}

TEST(Ledger, RefusesWhatIsNoLedgerAndNamesTheLine) {
    EXPECT_EQ(refusal(""), "s.ledger.jsonl: expected a ledger, found an empty file");
    EXPECT_NE(refusal("{}\n").find("schema"), std::string::npos);
    EXPECT_NE(refusal(head + "<<<<<<< HEAD\n").find("s.ledger.jsonl:2:"), std::string::npos);
    EXPECT_NE(refusal(head + R"({"case":"a","at":"yesterday","action":"accept"})")
                  .find("expected a time of UTC"),
              std::string::npos);
    EXPECT_NE(refusal(head + R"({"case":"a","at":"2026-11-21T10:00:00Z","action":"steal"})")
                  .find("s.ledger.jsonl:2"),
              std::string::npos);
    EXPECT_NE(refusal(head + R"({"at":"2026-11-21T10:00:00Z","action":"accept"})")
                  .find("expected a case"),
              std::string::npos);
}

}  // namespace document_ledger_test
}  // namespace perfgate::document
