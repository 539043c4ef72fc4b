// SPDX-License-Identifier: Apache-2.0
// What weakens the gate in a config: every key, stated or not.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "suite/profile.hpp"
#include "unit/review_fixture.hpp"

namespace perfgate::review {
namespace review_profiles_test {

using namespace review_fixture;

/// What is found where a profile of one line becomes another.
std::string found_of_profiles(const std::string& before, const std::string& after) {
    const auto with = [](const std::string& text) {
        Files result = files();
        result.at(profile_path).content = text + '\n';
        return result;
    };
    return in_words(reviewed(with(before), with(after)));
}

TEST(Review, ComparesTheDefaultOfWhatAProfileDoesNotState) {
    EXPECT_EQ(found_of_profiles("{}", "processes: 1"), "policy lowered processes: 3 to 5 → 1");
    EXPECT_EQ(found_of_profiles("{}", "processes: 4"), "policy lowered processes: 3 to 5 → 4");
    EXPECT_EQ(found_of_profiles("processes: 5", "{}"), "policy lowered processes: 5 → 3 to 5");
    EXPECT_EQ(found_of_profiles("{}", "creep: 100%"), "policy lowered creep: 10 % → 100 %");
    EXPECT_EQ(found_of_profiles("backend: cuda", "{}"), "policy lowered backend: cuda → auto");
    EXPECT_EQ(found_of_profiles("prove: true", "{}"), "policy lowered prove: true → false");
    EXPECT_EQ(found_of_profiles("{}", "policy: {rounds: 0}"), "policy lowered rounds: 2 → 0");
    EXPECT_EQ(found_of_profiles("{}", "policy: {false_alarms: 0.01%}"),
              "policy lowered false_alarms: 0.1 % → 0.01 %");
    for (const char* stated :
         {"processes: 5", "creep: 10%", "backend: auto", "baselines: baselines",
          "junit_profile: github", "out: perfgate-out", "canary: false", "policy: {rounds: 2}"}) {
        EXPECT_EQ(found_of_profiles("{}", stated), "") << stated;
    }
}

TEST(Review, FindsAWeakerValueOfEveryKeyOfAProfile) {
    const std::map<std::string, std::pair<std::string, std::string>> weaker{
        {"backend", {"cuda", "host"}},
        {"policy.no_baseline", {"fail", "skip"}},
        {"policy.inconclusive", {"fail", "pass"}},
        {"policy.not_shown", {"fail", "pass"}},
        {"policy.improved", {"fail", "pass"}},
        {"policy.improvement_days", {"30", "31"}},
        {"policy.too_good", {"3", "4"}},
        {"policy.false_alarms", {"1%", "0.1%"}},
        {"policy.rounds", {"2", "1"}},
        {"policy.acknowledgement_days", {"90", "91"}},
        {"policy.changed.board", {"refuse", "warn"}},
        {"policy.changed.driver", {"refuse", "warn"}},
        {"policy.changed.cuda_toolkit", {"warn", "accept"}},
        {"policy.changed.cupti", {"warn", "accept"}},
        {"policy.changed.tool_version", {"refuse", "accept"}},
        {"policy.severity.exact", {"fail", "warn"}},
        {"policy.severity.counter", {"fail", "warn"}},
        {"policy.severity.timing", {"fail", "warn"}},
        {"junit_profile", {"strict", "github"}},
        {"baselines", {"here", "there"}},
        {"out", {"here", "there"}},
        {"processes", {"5", "4"}},
        {"plugins", {"[a.so]", "[b.so]"}},
        {"build", {"make", "make all"}},
        {"builds", {"here", "there"}},
        {"creep", {"10%", "11%"}},
        {"canary", {"true", "false"}},
        {"prove", {"true", "false"}},
        {"changed_only", {"false", "true"}},
        {"complete", {"true", "false"}},
    };
    const auto stated = [](std::string path, const std::string& value) {
        std::string text = value;
        for (std::size_t dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
            text = '{' + path.substr(dot + 1) + ": " + text + '}';
            path.resize(dot);
        }
        return path + ": " + text;
    };
    for (const suite::KeyText& row : suite::tables::profile()) {
        const std::string& key = row.name;
        const auto values = weaker.find(key);
        ASSERT_NE(values, weaker.end()) << key << " has no example of a weaker value";
        const std::string was = stated(key, values->second.first);
        const std::string is = stated(key, values->second.second);
        const std::string name = key.starts_with("policy.") ? key.substr(7) : key;
        EXPECT_TRUE(found_of_profiles(was, is).starts_with("policy lowered " + name + ": "))
            << was << is << found_of_profiles(was, is);
        EXPECT_EQ(found_of_profiles(was, was), "") << was;
    }
}

TEST(Review, FindsAProfileThatIsGone) {
    Files without = files();
    without.erase(profile_path);
    EXPECT_EQ(in_words(reviewed(files(), without)), "config removed configs/ci.yaml: there → gone");
}

}  // namespace review_profiles_test
}  // namespace perfgate::review
