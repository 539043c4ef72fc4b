// SPDX-License-Identifier: Apache-2.0
#include "history/record.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace perfgate::history {
namespace {

/// Nights of one case, a day each: their verdicts, and the code of each.
struct Nights {
    explicit Nights(const std::vector<std::string>& verdicts, const std::string& code = {}) {
        series.device = "gpu";
        series.metric = "gpu_time";
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
            const auto run = static_cast<std::int64_t>(i);
            origins[run].started = fmt::format("2026-03-{:02}T02:00:00Z", i + 1);
            origins[run].ordered = run;
            origins[run].revision = fmt::format("{:040x}", i);
            series.nights.push_back({.run = run,
                                     .code = code.empty() ? "c" : std::string(1, code[i]),
                                     .inputs = {},
                                     .method = {},
                                     .verdict = verdicts[i],
                                     .clock_mhz = {},
                                     .values = {1}});
        }
    }
    Month month(const std::vector<std::size_t>& changed = {}) const {
        Record record(origins);
        const std::vector<std::vector<std::size_t>> of_series = {changed};
        record.add(std::span(&series, 1), of_series);
        const std::vector<Month> months = record.months();
        return months.empty() ? Month() : months.at(0);
    }

    std::map<std::int64_t, Origin> origins;
    Series series;
};

const std::string pass = "pass", slow = "regressed";

TEST(Record, ACaseThatStaysRegressedIsOneAlarm) {
    const Month month = Nights({pass, slow, slow, slow, pass, slow, pass}).month({1});
    EXPECT_EQ("2026-03", month.month);
    EXPECT_EQ(7, month.judged);
    EXPECT_EQ(2, month.alarms);
}

TEST(Record, AnAlarmIsFalseWhereNothingChanged) {
    EXPECT_EQ(1, Nights({pass, pass, slow, pass, pass, pass}).month().false_alarms);
    EXPECT_EQ(0, Nights({pass, pass, slow, pass, pass, pass}).month({2}).false_alarms);
    EXPECT_EQ(0, Nights({pass, pass, slow, pass, pass, pass}).month({5}).false_alarms);
    EXPECT_EQ(0, Nights({pass, pass, slow, pass, pass, pass}, "aabaaa").month().false_alarms)
        << "the code changed and was reverted";
    EXPECT_EQ(0, Nights({pass, pass, slow, pass, pass}).month().false_alarms)
        << "too few nights since to say so";
}

TEST(Record, RunsWithoutVerdictAreNotJudged) {
    const Month month = Nights({"", "", slow, "", "", ""}).month();
    EXPECT_EQ(1, month.judged);
    EXPECT_EQ(1, month.alarms);
    EXPECT_EQ(Month(), Nights({"", ""}).month());
}

TEST(Record, ARunOfTheSameRevisionWithinHalfADayMeasuresAgain) {
    Nights nights({pass, pass, pass});
    nights.origins[1].revision = nights.origins[0].revision;
    EXPECT_EQ(0, nights.month().reran) << "the next night has the same commit";
    nights.origins[1].started = "2026-03-01T03:00:00Z";
    EXPECT_EQ(1, nights.month().reran);
    nights.origins[0].revision = nights.origins[1].revision = "";
    EXPECT_EQ(0, nights.month().reran) << "which revision it was is not known";
}

TEST(Record, WhatWasAcceptedIsUnknownWithoutALedger) {
    const Nights nights({pass});
    Record record(nights.origins);
    record.add(std::span(&nights.series, 1), std::vector<std::vector<std::size_t>>(1));
    EXPECT_EQ(std::nullopt, record.months().at(0).accepted);
    model::Ledger ledger;
    const auto entry = [&](model::LedgerAction action, const char* at) {
        model::LedgerEntry& made = ledger.entries.emplace_back();
        made.at = at;
        made.action = action;
    };
    entry(model::LedgerAction::accept, "2026-03-04T00:00:00Z");
    entry(model::LedgerAction::refresh, "2026-04-04T00:00:00Z");
    entry(model::LedgerAction::acknowledge, "2026-04-05T00:00:00Z");
    entry(model::LedgerAction::improved, "2026-04-05T00:00:00Z");
    entry(model::LedgerAction::accept, "not a time");
    record.add(ledger);
    const std::vector<Month> months = record.months();
    ASSERT_EQ(2u, months.size());
    EXPECT_EQ("2026-04", months[0].month);
    EXPECT_EQ(1, months[0].accepted);
    EXPECT_EQ(1, months[0].acknowledged);
    EXPECT_EQ(1, months[1].accepted);
    EXPECT_EQ(0, months[1].acknowledged);
}

}  // namespace
}  // namespace perfgate::history
