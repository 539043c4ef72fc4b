// SPDX-License-Identifier: Apache-2.0
#include "suite/profile.hpp"

#include <gtest/gtest.h>

#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace {

TEST(SuiteProfile, ReadsEveryKey) {
    const Profile profile = parse_profile(
        "backend: host\n"
        "policy: {no_baseline: fail, inconclusive: fail}\n"
        "junit_profile: strict\n"
        "baselines: here/baselines\n"
        "out: there\n",
        "p.yaml");
    EXPECT_EQ(profile, (Profile{"host", {true, true}, "strict", "here/baselines", "there"}));
}

TEST(SuiteProfile, LeavesOpenWhatItDoesNotSay) {
    EXPECT_EQ(parse_profile("{}", "p.yaml"), Profile{});
    EXPECT_EQ(parse_profile("policy: {no_baseline: skip, inconclusive: pass}", "p.yaml"),
              Profile{});
    EXPECT_EQ(parse_profile("policy: {no_baseline: fail}", "p.yaml").policy,
              (model::Policy{true, false}));
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
              "p.yaml:2:46: unknown key 'x'; expected one of no_baseline, inconclusive\n"
              "p.yaml:3:16: wrong value for 'junit_profile'; expected github or strict, found a "
              "list\n"
              "p.yaml:4:1: wrong value for 'baselines'; expected the path of a folder, found "
              "nothing\n"
              "p.yaml:5:1: unknown key 'outs'; expected one of backend, policy, junit_profile, "
              "baselines, out; did you mean 'out'?");
}

TEST(SuiteProfile, RefusesAMissingFile) {
    EXPECT_EQ(test::refusal([] { load_profile("/nowhere/p.yaml"); }),
              "profile /nowhere/p.yaml: No such file or directory");
}

// The gate in CI never falls back to the host and never passes for want of a baseline.
TEST(SuiteProfile, OfCiIsStrict) {
    const Profile ci = load_profile(std::string(PERFGATE_SOURCE_DIR) + "/configs/ci.yaml");
    EXPECT_EQ(ci.backend, "cuda");
    EXPECT_TRUE(ci.policy.no_baseline_fails);
}

}  // namespace
}  // namespace perfgate::suite
