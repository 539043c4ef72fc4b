// SPDX-License-Identifier: Apache-2.0
// The machine code of chosen functions and samples of their program counters, with a driver and a
// CUPTI that are mocks.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "activity/analysis.hpp"
#include "activity/recording.hpp"
#include "injected_program.hpp"

namespace perfgate::inject {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
    return (std::ostringstream() << std::ifstream(file).rdbuf()).str();
}

class Code : public Injection {
  protected:
    void SetUp() override {
        if (!fs::exists(base_)) GTEST_SKIP() << "built without CUDA";
        settings_.level = Level::code;
        run({"module", base_});
        settings_.functions = "absent," + activity::machine_code(recorded()).at("scale");
        fs::remove_all(settings_.folder);
        fs::create_directory(settings_.folder);
    }

    [[nodiscard]] activity::Recording recorded() const {
        return activity::read_recording(activity::recordings_in(settings_.folder).at(0));
    }
    [[nodiscard]] std::vector<fs::path> modules() const {
        std::vector<fs::path> found;
        for (const fs::path& file : files()) {
            if (file.extension() == ".cubin") found.push_back(file);
        }
        return found;
    }
    /// By reason; all are at the second instruction of the function.
    static std::map<std::string, std::uint32_t> samples_of_scale(const activity::Recording& from) {
        std::map<std::string, std::uint32_t> samples;
        for (const activity::PcSample& sample : from.records.pc_samples) {
            EXPECT_EQ(from.text(sample.symbol), "scale");
            EXPECT_EQ(sample.offset, 16u);
            samples[from.text(sample.reason)] += sample.count;
        }
        return samples;
    }

    using Counts = std::map<std::string, std::uint32_t>;
    const std::string base_ = PERFGATE_CUBIN_DIR "/base.cubin",
                      other_ = PERFGATE_CUBIN_DIR "/lines.cubin";
};

TEST_F(Code, OfChosenFunctionsIsKeptAndSampled) {
    run({"newcontext", "module", base_, "kernels", "3", "scale", "kernels", "5", "other", "module",
         other_, "kernels", "2", "scale"});
    const activity::Recording found = recorded();
    EXPECT_TRUE(found.incomplete.empty()) << found.incomplete.front();
    EXPECT_EQ(samples_of_scale(found), (Counts{{"long_scoreboard", 35}, {"selected", 15}}));
    EXPECT_TRUE(found.records.kernels.empty());
    ASSERT_EQ(modules().size(), 1u);
    EXPECT_EQ(content(modules()[0]), content(base_));
}

TEST_F(Code, WhatSeveralModulesPutAsideIsReadBeforeItIsReplaced) {
    run({"newcontext", "module", base_, "kernels", "1", "scale", "module", other_, "kernels", "1",
         "scale", "module", other_, "kernels", "1", "scale"});
    EXPECT_EQ(samples_of_scale(recorded()), (Counts{{"long_scoreboard", 21}, {"selected", 9}}));
}

TEST_F(Code, IsSampledUntilItsContextIsDestroyed) {
    run({"newcontext", "module", base_, "kernels", "1", "scale", "destroy", "kernels", "9", "scale",
         "newcontext", "kernels", "1", "scale"});
    const activity::Recording found = recorded();
    EXPECT_TRUE(found.incomplete.empty()) << found.incomplete.front();
    EXPECT_EQ(samples_of_scale(found), (Counts{{"long_scoreboard", 14}, {"selected", 6}}));
}

TEST_F(Code, OfOtherFunctionsIsNeitherKeptNorSampled) {
    settings_.functions = "absent";
    run({"newcontext", "module", base_, "kernels", "3", "scale"});
    EXPECT_TRUE(recorded().records.pc_samples.empty());
    EXPECT_TRUE(modules().empty());
}

TEST_F(Code, ThatCannotBeSampledIsKeptAndTheProgramGoesOn) {
    environment_ = {{"MOCK_PC_ERROR", "35"}};
    run({"newcontext", "module", base_, "kernels", "3", "scale"});
    const activity::Recording found = recorded();
    ASSERT_EQ(found.incomplete.size(), 1u);
    EXPECT_TRUE(found.incomplete[0].starts_with(
        "no program counters were sampled: cannot sample program counters"))
        << found.incomplete[0];
    EXPECT_TRUE(found.records.pc_samples.empty());
    EXPECT_EQ(modules().size(), 1u);
}

TEST_F(Code, OfWhichTheDeviceDroppedMostSamplesIsIncomplete) {
    environment_ = {{"MOCK_PC_DROPPED", "31"}};
    run({"newcontext", "module", base_, "kernels", "3", "scale"});
    const activity::Recording found = recorded();
    ASSERT_EQ(found.incomplete.size(), 1u);
    EXPECT_TRUE(found.incomplete[0].ends_with("samples of the program counter and kept 30"))
        << found.incomplete[0];
}

TEST_F(Code, OfWhichMostSamplesAreOfOtherKernelsIsComplete) {
    environment_ = {{"MOCK_PC_DROPPED", "31"}};
    run({"newcontext", "module", base_, "kernels", "3", "scale", "kernels", "9", "other"});
    const activity::Recording found = recorded();
    EXPECT_TRUE(found.incomplete.empty()) << found.incomplete.front();
}

TEST_F(Code, WhoseSamplesDidNotFitABufferIsIncomplete) {
    for (const char* fault : {"MOCK_PC_REMAINING", "MOCK_PC_FULL"}) {
        environment_ = {{fault, "1"}};
        fs::remove_all(settings_.folder);
        fs::create_directory(settings_.folder);
        run({"newcontext", "module", base_, "kernels", "3", "scale"});
        const activity::Recording found = recorded();
        ASSERT_EQ(found.incomplete.size(), 1u) << fault;
        EXPECT_EQ(found.incomplete[0], "samples are missing: a buffer of CUPTI's was full");
    }
}

TEST_F(Code, OfAnOlderCuptiIsAReason) {
    environment_ = {{"LD_LIBRARY_PATH", PERFGATE_MOCK_FOLDER "/1204:" PERFGATE_MOCK_FOLDER}};
    settings_.cupti = PERFGATE_MOCK_FOLDER "/1204/libcupti.so.12";
    run({"newcontext", "module", base_, "kernels", "1", "scale"});
    EXPECT_FALSE(recorded().incomplete.empty());
}

TEST_F(Code, OfAForkedChildIsNotSampled) {
    run({"newcontext", "module", base_, "kernels", "1", "scale", "fork"});
    EXPECT_EQ(samples_of_scale(recorded()), (Counts{{"long_scoreboard", 7}, {"selected", 3}}));
}

}  // namespace
}  // namespace perfgate::inject
