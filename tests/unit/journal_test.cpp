// SPDX-License-Identifier: Apache-2.0
#include "measure/journal.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "model/error.hpp"
#include "model/file.hpp"

namespace perfgate::measure {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "perfgate-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    fs::path file() const { return folder_ / "journal.jsonl"; }
    void write(const std::string& text) const { std::ofstream(file()) << text; }
    std::string refusal() const {
        try {
            read_journal(folder_);
        } catch (const model::InputError& error) {
            return error.what();
        }
        return "";
    }

    fs::path folder_;
    JournalHeader header_{"2026-11-21T10:00:00Z", 18446744073709551615ULL, {{"driver", "1"}}};
};

model::CaseResult measured(std::int64_t process, double sample) {
    model::CaseResult result;
    result.spec = {"gemm", "tiled", {{"m", std::int64_t{7}}}, model::Cache::hot};
    result.status = model::CaseStatus::measured;
    result.metrics["gpu_time"] = {"ns", sample, "activity/hot", {{process, "b", 1, {sample}}}};
    result.wall_s = 1;
    return result;
}

const std::pair<std::string, std::string> key{"suite", "gemm/tiled[m=7]@hot"};

TEST_F(JournalTest, WhatWentInComesOut) {
    {
        Journal journal(folder_, header_);
        journal.add("suite", measured(0, 10));
        journal.add_batches("suite", measured(1, 30));
        EXPECT_EQ(journal.problem(), "");
    }
    const JournalContent content = read_journal(folder_);
    EXPECT_EQ(content.header.started_at, header_.started_at);
    EXPECT_EQ(content.header.verify_seed, header_.verify_seed);
    EXPECT_EQ(content.header.identity, header_.identity);
    const model::CaseResult& result = content.cases.at(key);
    ASSERT_EQ(result.metrics.at("gpu_time").batches.size(), 2U);
    EXPECT_EQ(result.metrics.at("gpu_time").value, 20);
    EXPECT_EQ(result.wall_s, 2);
}

TEST_F(JournalTest, ALaterLineForACaseReplacesTheEarlierOne) {
    Journal journal(folder_, header_);
    journal.add("suite", measured(0, 10));
    model::CaseResult failed = measured(0, 10);
    failed.status = model::CaseStatus::error;
    failed.metrics.clear();
    journal.add("suite", failed);
    EXPECT_EQ(read_journal(folder_).cases.at(key).status, model::CaseStatus::error);
}

TEST_F(JournalTest, ALineThatWasCutOffIsLeftOutAndWrittenOver) {
    {
        Journal journal(folder_, header_);
        journal.add("suite", measured(0, 10));
    }
    std::ofstream(file(), std::ios::app) << R"({"suite":"suite","batches":{"id":"gemm/ti)";
    const JournalContent content = read_journal(folder_);
    EXPECT_EQ(content.cases.at(key).metrics.at("gpu_time").batches.size(), 1U);
    {
        Journal journal(folder_, content);
        journal.add_batches("suite", measured(1, 20));
    }
    EXPECT_EQ(read_journal(folder_).cases.at(key).metrics.at("gpu_time").batches.size(), 2U);
}

TEST_F(JournalTest, WhatIsNoJournalIsRefusedWithItsPlace) {
    EXPECT_NE(refusal(), "");  // there is none
    write("");
    EXPECT_NE(refusal().find("no header"), std::string::npos) << refusal();
    write("{\"journal\":1}\n");
    EXPECT_NE(refusal().find("another perfgate"), std::string::npos) << refusal();
    {
        Journal journal(folder_, header_);
        journal.add_batches("suite", measured(1, 20));
    }
    EXPECT_NE(refusal().find("journal.jsonl:2"), std::string::npos) << refusal();
}

TEST_F(JournalTest, ADiskThatIsFullIsAProblemAndNoException) {
    Journal journal(folder_, header_);
    fs::remove(file());
    fs::create_symlink("/dev/full", file());
    Journal full(folder_, header_);
    full.add("suite", measured(0, 10));
    EXPECT_NE(full.problem().find("No space left"), std::string::npos) << full.problem();
}

TEST_F(JournalTest, APipeIsNoJournalAndDoesNotBlock) {
    fs::create_directories(folder_);
    ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
    try {
        const Journal journal(folder_, header_);
        FAIL() << "it was opened";
    } catch (const model::InputError& error) {
        EXPECT_NE(std::string(error.what()).find("pipe"), std::string::npos) << error.what();
    }
}

TEST(Identity, TheFirstDifferenceIsNamedWithBothValues) {
    const Identity before{{"driver", "1"}, {"case a", "x"}, {"case b", "y"}};
    EXPECT_EQ(difference(before, before), "");
    EXPECT_EQ(difference(before, {{"driver", "2"}, {"case a", "x"}, {"case b", "y"}}),
              "driver was '1', is now '2'");
    EXPECT_EQ(difference(before, {{"driver", "1"}, {"case b", "y"}}),
              "case a was 'x', is now absent");
    EXPECT_EQ(
        difference(before, {{"driver", "1"}, {"case a", "x"}, {"case c", "z"}, {"case b", "y"}}),
        "case c was absent, is now 'z'");
    EXPECT_EQ(difference(before, {{"driver", "1"}, {"case b", "y"}, {"case a", "x"}}),
              "the cases are in another order");
}

}  // namespace
}  // namespace perfgate::measure
