// SPDX-License-Identifier: Apache-2.0
#include "suite/profile.hpp"

#include <gtest/gtest.h>

#include "suite_catalogue.hpp"
#include "util/error.hpp"

namespace perfgate::suite {
namespace {

TEST(SuiteProfile, ReadsEveryKey) {
    const Profile profile = parse_profile(
        "backend: host\n"
        "policy: {no_baseline: fail, inconclusive: fail}\n"
        "junit_profile: strict\n"
        "baselines: here/baselines\n"
        "out: there\n"
        "processes: 7\n",
        "p.yaml");
    EXPECT_EQ(profile, (Profile{"host", {true, true}, "strict", "here/baselines", "there", 7}));
}

TEST(SuiteProfile, ReadsHowMuchTheGateMayErrAndWhatChangesItTakes) {
    const model::Policy policy =
        parse_profile(
            "policy:\n"
            "  false_alarms: 1%\n"
            "  rounds: 0\n"
            "  changed: {board: accept, driver: refuse, cuda_toolkit: refuse, cupti: warn,\n"
            "            tool_version: accept}\n",
            "p.yaml")
            .policy;
    EXPECT_EQ(policy.false_alarms, 0.01);
    EXPECT_EQ(policy.rounds, 0);
    using enum model::OnChange;
    EXPECT_EQ(policy.changed, (model::ChangePolicy{accept, refuse, refuse, warn, accept}));
}

TEST(SuiteProfile, ReadsWhatOnlyWarns) {
    const model::Policy policy =
        parse_profile("policy: {severity: {counter: warn, exact: fail}}", "p.yaml").policy;
    using enum model::Severity;
    EXPECT_EQ(policy.severity, (model::SeverityPolicy{fail, warn, fail}));
    EXPECT_EQ(parse_profile("out: x", "p.yaml").policy.severity, model::SeverityPolicy{});
    EXPECT_EQ(test::refusal([] { parse_profile("policy: {severity: {timing: pass}}", "p.yaml"); }),
              "p.yaml:1:29: unknown value for 'timing': 'pass'; expected one of fail, warn");
}

TEST(SuiteProfile, ReadsHowFarAcceptedChangesMayAddUp) {
    EXPECT_EQ(parse_profile("creep: 5%", "p.yaml").creep, 0.05);
    EXPECT_EQ(parse_profile("creep: 0.2", "p.yaml").creep, 0.2);
    EXPECT_EQ(parse_profile("out: x", "p.yaml").creep, std::nullopt);
    for (const std::string number : {"1", "1.0", "5"}) {
        EXPECT_EQ(test::refusal([&] { parse_profile("creep: " + number, "p.yaml"); }),
                  "p.yaml:1:8: wrong value for 'creep'; expected a percentage (" +
                      number.substr(0, 1) + "%) or a fraction below 1, found " + number);
    }
    EXPECT_NE(test::refusal([] {
                  parse_profile("policy: {false_alarms: 1}", "p.yaml");
              }).find("p.yaml:1:24: wrong value for 'false_alarms'; expected a percentage (1%)"),
              std::string::npos);
}

TEST(SuiteProfile, ReadsWhetherThereIsACanary) {
    EXPECT_TRUE(parse_profile("canary: true", "p.yaml").canary);
    EXPECT_FALSE(parse_profile("canary: false", "p.yaml").canary);
    EXPECT_FALSE(parse_profile("out: x", "p.yaml").canary);
    EXPECT_TRUE(parse_profile("prove: true", "p.yaml").prove);
    EXPECT_FALSE(parse_profile("canary: true", "p.yaml").prove);
    EXPECT_TRUE(parse_profile("complete: true", "p.yaml").policy.complete);
    EXPECT_FALSE(parse_profile("prove: true", "p.yaml").policy.complete);
    EXPECT_TRUE(parse_profile("policy: {not_shown: fail}", "p.yaml").policy.not_shown_fails);
    EXPECT_FALSE(parse_profile("policy: {not_shown: pass}", "p.yaml").policy.not_shown_fails);
    EXPECT_EQ(parse_profile("policy: {}", "p.yaml").policy.too_good, 3);
    EXPECT_EQ(parse_profile("policy: {too_good: 1.5}", "p.yaml").policy.too_good, 1.5);
    for (const std::string wrong : {"1", "0", ".inf", ".nan", "x"}) {
        EXPECT_NE(test::refusal([&] {
                      parse_profile("policy: {too_good: " + wrong + "}", "p.yaml");
                  }).find("wrong value for 'too_good'; expected a factor above 1"),
                  std::string::npos)
            << wrong;
    }
    EXPECT_EQ(test::refusal([] { parse_profile("canary: yes", "p.yaml"); }),
              "p.yaml:1:9: wrong value for 'canary'; expected true or false, found text 'yes'");
}

TEST(SuiteProfile, RefusesWhatIsNoNumberOfProcesses) {
    EXPECT_EQ(test::refusal([] { parse_profile("processes: 0", "p.yaml"); }),
              "p.yaml:1:12: wrong value for 'processes'; expected a number of processes from 1 to "
              "1000, found 0");
    EXPECT_NE(test::refusal([] { parse_profile("processes: few", "p.yaml"); }), "");
}

TEST(SuiteProfile, RefusesWhatIsNoShareAndNoNumberOfRounds) {
    EXPECT_EQ(test::refusal([] {
                  parse_profile(
                      "policy: {false_alarms: 0, rounds: -1, changed: {driver: never, gpu: warn}}",
                      "p.yaml");
              }),
              "p.yaml:1:24: wrong value for 'false_alarms'; expected more than 0 % and less than "
              "100 %, found 0\n"
              "p.yaml:1:35: wrong value for 'rounds'; expected a number of rounds from 0 to 10, "
              "found -1\n"
              "p.yaml:1:57: unknown value for 'driver': 'never'; expected one of accept, warn, "
              "refuse\n"
              "p.yaml:1:64: unknown key 'gpu'; expected one of board, driver, cuda_toolkit, cupti, "
              "tool_version");
}

TEST(SuiteProfile, ReadsHowLongAnAcknowledgementMayLast) {
    EXPECT_EQ(parse_profile("{}", "p.yaml").policy.acknowledgement_days, 90);
    EXPECT_EQ(
        parse_profile("policy: {acknowledgement_days: 14}", "p.yaml").policy.acknowledgement_days,
        14);
    for (const char* days : {"3651", "-1", "30d"}) {
        EXPECT_NE(test::refusal([&] {
                      parse_profile("policy: {acknowledgement_days: " + std::string(days) + "}",
                                    "p.yaml");
                  }).find("expected a number of days from 0 to 3650"),
                  std::string::npos);
    }
}

TEST(SuiteProfile, LeavesOpenWhatItDoesNotSay) {
    EXPECT_EQ(parse_profile("{}", "p.yaml"), Profile{});
    EXPECT_EQ(parse_profile("policy: {no_baseline: skip, inconclusive: pass}", "p.yaml"),
              Profile{});
    EXPECT_EQ(parse_profile("policy: {no_baseline: fail}", "p.yaml").policy,
              (model::Policy{true, false}));
}

TEST(SuiteProfile, DescribesTheDefaultOfEachKey) {
    std::map<std::string, std::string> usual;
    for (const KeyText& key : tables::profile()) usual.emplace(key.name, key.usual);
    EXPECT_EQ(usual.at("processes"), "3 to 5");
    EXPECT_EQ(usual.at("creep"), "10 %");
    EXPECT_EQ(usual.at("baselines"), "baselines");
    EXPECT_EQ(usual.at("policy.changed.driver"), "warn");
    for (const auto& [key, value] : usual) EXPECT_NE(value, "") << key;
}

TEST(SuiteProfile, IsWeakerByTheKeysWhoseValueIs) {
    const Profile strict =
        parse_profile("policy: {changed: {driver: refuse}, no_baseline: fail}", "p.yaml");
    const std::vector<WeakerKey> weaker = weaker_keys(strict, Profile{});
    ASSERT_EQ(weaker.size(), 2U);
    EXPECT_EQ(weaker[0].key, "policy.no_baseline");
    EXPECT_EQ(weaker[1].key, "policy.changed.driver");
    EXPECT_EQ(weaker[1].was, "refuse");
    EXPECT_EQ(weaker[1].is, "warn");
    EXPECT_TRUE(weaker_keys(Profile{}, strict).empty());
}

TEST(SuiteProfile, TellsAllProblemsAtOnce) {
    EXPECT_EQ(test::refusal([] {
                  parse_profile(
                      "backend: gpu\n"
                      "policy: {no_baseline: pass, inconclusive: 1, x: 2}\n"
                      "junit_profile: [github]\n"
                      "baselines:\n"
                      "outs: x\n",
                      "p.yaml");
              }),
              "p.yaml:1:10: unknown value for 'backend': 'gpu'; expected one of auto, cuda, host\n"
              "p.yaml:2:23: unknown value for 'no_baseline': 'pass'; expected one of fail, skip\n"
              "p.yaml:2:43: wrong value for 'inconclusive'; expected fail or pass, found 1\n"
              "p.yaml:2:46: unknown key 'x'; expected one of no_baseline, inconclusive, not_shown, "
              "improved, improvement_days, too_good, "
              "false_alarms, rounds, acknowledgement_days, changed, severity\n"
              "p.yaml:3:16: wrong value for 'junit_profile'; expected github or strict, found a "
              "list\n"
              "p.yaml:4:1: wrong value for 'baselines'; expected the path of a folder, found "
              "nothing\n"
              "p.yaml:5:1: unknown key 'outs'; expected one of backend, policy, junit_profile, "
              "baselines, out, processes, plugins, build, builds, creep, canary, prove, "
              "changed_only, complete; did you mean 'out'?");
}

TEST(SuiteProfile, RefusesAMissingFile) {
    EXPECT_EQ(test::refusal([] { load_profile("/nowhere/p.yaml"); }),
              "config /nowhere/p.yaml: No such file or directory");
}

// The gate in CI never falls back to the host, never passes for want of a baseline or of proof that
// a time is within its tolerance, and tests its own gates.
TEST(SuiteProfile, OfCiIsStrict) {
    const Profile ci = load_profile(std::string(PERFGATE_SOURCE_DIR) + "/configs/ci.yaml");
    EXPECT_EQ(ci.backend, "cuda");
    EXPECT_TRUE(ci.policy.no_baseline_fails);
    EXPECT_TRUE(ci.policy.not_shown_fails);
    EXPECT_TRUE(ci.canary);
    EXPECT_TRUE(ci.prove);
    EXPECT_TRUE(ci.policy.complete);
    EXPECT_FALSE(ci.changed_only);
}

TEST(SuiteProfile, OfPullRequestsIsCisButForWhatItLeavesOut) {
    Profile expected = load_profile(std::string(PERFGATE_SOURCE_DIR) + "/configs/ci.yaml");
    EXPECT_TRUE(expected.canary);
    expected.changed_only = true;
    expected.canary = false;
    EXPECT_EQ(load_profile(std::string(PERFGATE_SOURCE_DIR) + "/configs/pull-request.yaml"),
              expected);
}

TEST(SuiteProfile, AKeyIsSetByItsPathOrItsLastPart) {
    Profile profile;
    set_key(profile, "policy.not_shown=fail");
    set_key(profile, "board=refuse");
    set_key(profile, "creep=20%");
    set_key(profile, "canary=true");
    set_key(profile, "out=a=b");
    EXPECT_EQ(profile, parse_profile("policy: {not_shown: fail, changed: {board: refuse}}\n"
                                     "creep: 20%\ncanary: true\nout: a=b\n",
                                     "p.yaml"));
}

TEST(SuiteProfile, WhatIsNoKeyOrNoValueIsNotSet) {
    for (const std::string text :
         {"", "not_shown", "not_shown=", "=fail", "shown=fail", "policy=fail", "not_shown=maybe",
          "canary=1", "rounds=11", "processes=0", "creep=lots", "not_shown=fail}, canary: {x"}) {
        Profile profile;
        EXPECT_THROW(set_key(profile, text), util::InputError) << text;
        EXPECT_EQ(profile, Profile()) << text;
    }
}

}  // namespace
}  // namespace perfgate::suite
