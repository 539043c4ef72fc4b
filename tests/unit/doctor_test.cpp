// SPDX-License-Identifier: Apache-2.0
// What `doctor` finds of a device, its backend and NVRTC.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runner/doctor.hpp"
#include "unit/runner_fixture.hpp"

namespace perfgate::runner {
namespace {

using Topics = std::vector<std::pair<std::string, measure::Diagnosis::Level>>;

/// Those of the device and of the backend.
Topics diagnosed(const BackendChoice& choice) {
    Topics topics;
    for (const measure::Diagnosis& each : diagnose(choice)) {
        if (each.topic != "NVRTC") topics.emplace_back(each.topic, each.level);
    }
    return topics;
}

TEST_F(Runner, ADoctorWhoseSecondRequestFailsSaysSoAndKeepsWhatTheFirstFound) {
    using Level = measure::Diagnosis::Level;
    EXPECT_EQ(diagnosed(measuring().backend), (Topics{{"GPU", Level::ok}}));
    for (const char* plugin : {"undescribed", "dying"}) {
        EXPECT_EQ(diagnosed(measuring({plugin}).backend),
                  (Topics{{"GPU", Level::ok}, {"backend", Level::problem}}))
            << plugin;
    }
    const auto found = diagnose(measuring({"undescribed"}).backend);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_NE(found[1].detail.find("no description"), std::string::npos) << found[1].detail;
    EXPECT_NE(found[1].remedy, "");
    EXPECT_EQ(found[2].topic, "NVRTC");
    EXPECT_EQ(diagnosed(measuring({"troubled", "undescribed"}).backend),
              (Topics{{"GPU", Level::problem}}))
        << "the problem that is known is why";
}

TEST(Doctor, AMissingNvrtcIsAWarningWithItsRemedyAndItsUse) {
    const measure::Diagnosis none = diagnose_nvrtc(1);
    EXPECT_EQ(none.level, measure::Diagnosis::Level::warning);
    EXPECT_NE(none.detail.find("compiles a suite's sources"), std::string::npos) << none.detail;
    EXPECT_NE(none.remedy.find("install the CUDA toolkit's NVRTC"), std::string::npos);
    EXPECT_FALSE(has_problem({none})) << "other suites need none";
}

}  // namespace
}  // namespace perfgate::runner
