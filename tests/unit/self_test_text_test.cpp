// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/texts.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace perfgate::cli {
namespace {

/// The lines below the tables.
std::string end_of(const gate::SelfTestReport& report, int exit_code) {
    runner::SelfTestOutcome outcome;
    outcome.report = report;
    outcome.exit_code = exit_code;
    const std::string text = self_test_text(outcome, {});
    return text.substr(text.find("\nslowdowns at or above") + 1);
}

gate::SelfTestReport found_of(std::size_t kept, std::size_t promised, double at_least) {
    gate::SelfTestReport report;
    report.kept = kept;
    report.promised = promised;
    report.at_least = at_least;
    return report;
}

TEST(SelfTestText, SaysWhatWasShown) {
    EXPECT_EQ(
        end_of(found_of(43, 43, 0.9327), 0),
        "slowdowns at or above the minimum detectable change: 43, found: 43 (100.0 %)\n"
        "the gate detects what it claims: with 95 % confidence the gate finds at least 93 %\n");
    EXPECT_EQ(
        end_of(found_of(11, 11, 0.7616), 0),
        "slowdowns at or above the minimum detectable change: 11, found: 11 (100.0 %)\n"
        "nine of ten or more were found: with 95 % confidence the gate finds at least 76 %\n");
}

TEST(SelfTestText, SaysWhatWasNot) {
    gate::SelfTestReport fewer = found_of(35, 43, 0.689);
    fewer.not_shown = true;
    EXPECT_EQ(end_of(fewer, 3),
              "slowdowns at or above the minimum detectable change: 43, found: 35 (81.4 %)\n"
              "fewer than nine of ten were found, and with so few slowdowns this may be chance: it "
              "is not shown that the gate detects what it claims; use more cases or --sizes, or a "
              "quieter machine\n");
    gate::SelfTestReport none;
    none.proves_nothing = true;
    EXPECT_EQ(end_of(none, 3),
              "slowdowns at or above the minimum detectable change: 0, found: 0 (-)\n"
              "no slowdown was as large as what the gate claims to detect: nothing was proved; "
              "use larger --sizes, or a quieter machine\n");
}

}  // namespace
}  // namespace perfgate::cli
