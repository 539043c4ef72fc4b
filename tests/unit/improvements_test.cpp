// SPDX-License-Identifier: Apache-2.0
#include "baseline/improvements.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace perfgate::baseline {
namespace improvements_test {

using model::Doubt;
using model::LedgerAction;
using model::LedgerEntry;
using model::Verdict;

LedgerEntry entry(LedgerAction action, const std::string& at,
                  const std::vector<std::string>& metrics = {}) {
    LedgerEntry made;
    made.id = action == LedgerAction::refresh ? "" : "b/k";
    made.at = at + "T00:00:00Z";
    made.action = action;
    for (const std::string& metric : metrics) made.changes[metric] = {"ns", 100, 50, std::nullopt};
    if (action == LedgerAction::refresh) made.digests["b/k"] = "4b3d";
    return made;
}

std::string seen(const std::vector<LedgerEntry>& entries, const std::string& metric = "m") {
    FirstSeen found = first_seen(model::Ledger{"s", "d", entries});
    return found["b/k"].contains(metric) ? found["b/k"][metric].substr(0, 10) : "";
}

TEST(Improvements, TheFirstRunThatSawOneCounts) {
    const auto first = entry(LedgerAction::improved, "2026-01-01", {"m"});
    EXPECT_EQ(seen({}), "");
    EXPECT_EQ(seen({first}), "2026-01-01");
    const auto later = entry(LedgerAction::improved, "2026-02-01", {"m", "n"});
    EXPECT_EQ(seen({first, later}), "2026-01-01");
    EXPECT_EQ(seen({later, first}), "2026-01-01") << "as a merge may have put them";
    EXPECT_EQ(seen({first, later}, "n"), "2026-02-01");
}

TEST(Improvements, AcceptingRemovingAndGoingAwayEndThem) {
    const auto first = entry(LedgerAction::improved, "2026-01-01", {"m"});
    const auto again = entry(LedgerAction::improved, "2026-03-01", {"m"});
    for (const LedgerEntry& end :
         {entry(LedgerAction::accept, "2026-02-01"), entry(LedgerAction::refresh, "2026-02-01"),
          entry(LedgerAction::prune, "2026-02-01"), entry(LedgerAction::improved, "2026-02-01"),
          entry(LedgerAction::improved, "2026-02-01", {"n"})}) {
        EXPECT_EQ(seen({first, end}), "") << to_text(end.action);
        EXPECT_EQ(seen({first, end, again}), "2026-03-01") << to_text(end.action);
    }
    EXPECT_EQ(seen({first, entry(LedgerAction::acknowledge, "2026-02-01")}), "2026-01-01");
    LedgerEntry other = entry(LedgerAction::refresh, "2026-02-01");
    other.digests = {{"b/other", "5a"}};
    EXPECT_EQ(seen({first, other}), "2026-01-01");
}

struct Judged {
    model::SuiteVerdict verdict;
    model::Run run;

    explicit Judged(Verdict of_metric, Doubt doubt = Doubt::none) {
        run.started_at = "2026-05-01T00:00:00Z";
        run.git_revision = "abc";
        model::CaseVerdict of_case;
        of_case.id = "b/k";
        of_case.metrics.push_back({"m", "ns", of_metric, 100, 50, -0.5, "2 %", ""});
        of_case.metrics.back().doubt = doubt;
        verdict.cases.push_back(of_case);
    }
    std::vector<LedgerEntry> entries(bool known) const {
        FirstSeen seen_before;
        if (known) seen_before["b/k"]["m"] = "2026-01-01T00:00:00Z";
        return improvement_entries(verdict, seen_before, run);
    }
};

TEST(Improvements, OnlyWhatChangesIsNoted) {
    const auto noted = Judged(Verdict::improved).entries(false);
    ASSERT_EQ(noted.size(), 1U);
    EXPECT_EQ(noted[0].at, "2026-05-01T00:00:00Z");
    EXPECT_EQ(noted[0].changes.at("m"), (model::LedgerChange{"ns", 100, 50, std::nullopt}));
    EXPECT_TRUE(Judged(Verdict::improved).entries(true).empty());
    EXPECT_TRUE(Judged(Verdict::inconclusive, Doubt::unaccepted).entries(true).empty());
    for (const Verdict decided : {Verdict::pass, Verdict::regressed, Verdict::acknowledged}) {
        EXPECT_TRUE(Judged(decided).entries(false).empty());
        const auto ended = Judged(decided).entries(true);
        ASSERT_EQ(ended.size(), 1U) << to_text(decided);
        EXPECT_TRUE(ended[0].changes.empty());
    }
}

TEST(Improvements, WhatIsNotDecidedStaysAsItIsKnown) {
    for (const auto& judged :
         {Judged(Verdict::inconclusive, Doubt::not_shown), Judged(Verdict::invalid),
          Judged(Verdict::inconclusive, Doubt::too_good), Judged(Verdict::not_collected)}) {
        EXPECT_TRUE(judged.entries(true).empty());
        EXPECT_TRUE(judged.entries(false).empty());
    }
    Judged failed(Verdict::error);
    failed.verdict.cases.front().metrics.clear();
    EXPECT_TRUE(failed.entries(true).empty()) << "a case that was not measured ends nothing";
}

}  // namespace improvements_test
}  // namespace perfgate::baseline
