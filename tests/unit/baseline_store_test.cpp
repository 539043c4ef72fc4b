// SPDX-License-Identifier: Apache-2.0
#include "baseline/store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "baseline/verify.hpp"
#include "document/baseline.hpp"
#include "unit/gate_documents.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::baseline {
namespace {

using namespace gate;

namespace fs = std::filesystem;
using documents::baseline_of;
using documents::measured_case;
using documents::run_of;

constexpr const char* key = "nvidia-h100-80gb-hbm3";

/// A folder of its own for each test, gone afterwards.
class BaselineStore : public ::testing::Test {
  protected:
    fs::path file() const { return folder_ / key / "s.json"; }
    void put(const std::string& text) const {
        fs::create_directories(file().parent_path());
        std::ofstream(file(), std::ios::binary) << text;
    }
    std::string refusal() const {
        try {
            load_baseline(folder_, key, "s");
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "not refused";
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
    model::Baseline baseline_ = baseline_of(run_of({measured_case(1), measured_case(2)}));
};

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(BaselineStore, KeepsOneFilePerDeviceKeyAndSuite) {
    EXPECT_EQ(save_baseline(folder_, baseline_), file());
    const auto loaded = load_baseline(folder_, key, "s");
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->baseline, baseline_);
    EXPECT_EQ(loaded->file, file().string());
}

TEST_F(BaselineStore, WithoutAFileThereIsNoBaseline) {
    EXPECT_EQ(load_baseline(folder_, key, "s"), std::nullopt);
    EXPECT_EQ(load_baseline(folder_ / "nowhere", key, "s"), std::nullopt);
}

TEST_F(BaselineStore, OnlyWhatIsJudgedByABaselineReadsItsLedger) {
    save_baseline(folder_, baseline_);
    std::ofstream(ledger_path(folder_, key, "s")) << "{\"action\":\"improved\"\n";
    EXPECT_EQ(load_baseline(folder_, key, "s")->baseline, baseline_);
    EXPECT_THROW(load_baselines(folder_, baseline_.device, {"s"}), util::InputError);
}

TEST_F(BaselineStore, KnowsTheDevicesThatASuiteHasABaselineFor) {
    EXPECT_TRUE(devices_with_baseline(folder_, "s").empty());
    EXPECT_TRUE(devices_with_baseline(folder_ / "nowhere", "s").empty());
    save_baseline(folder_, baseline_);
    baseline_.device.key = "host-x";
    save_baseline(folder_, baseline_);
    baseline_.suite = "other";
    baseline_.device.key = "nvidia-a100";
    save_baseline(folder_, baseline_);
    EXPECT_EQ(devices_with_baseline(folder_, "s"), (std::vector<std::string>{"host-x", key}));
    EXPECT_THROW(devices_with_baseline(folder_, "../s"), util::InputError);
}

TEST_F(BaselineStore, KnowsTheOtherNumbersOfGpusThatASuiteHasABaselineFor) {
    const auto others = [&](const std::string& device_key) {
        return other_gpus_with_baseline(folder_, device_key, "s");
    };
    EXPECT_TRUE(others("nvidia-h100-x3").empty());
    for (const char* stored : {"nvidia-h100", "nvidia-h100-x4", "nvidia-h100-nvl-x4", "host-x"}) {
        baseline_.device.key = stored;
        save_baseline(folder_, baseline_);
    }
    EXPECT_EQ(others("nvidia-h100-x3"), std::vector<std::string>{"nvidia-h100-x4"});
    EXPECT_TRUE(others("nvidia-h100-x4").empty()) << "it has its own";
    EXPECT_TRUE(others("nvidia-h100").empty());
    EXPECT_TRUE(others("nvidia-h200-x3").empty());
    EXPECT_TRUE(other_gpus_with_baseline(folder_, "nvidia-h100-x3", "another").empty());
}

TEST_F(BaselineStore, KeepsALedgerBesideTheBaseline) {
    EXPECT_EQ(load_ledger(folder_, key, "s"), std::nullopt);
    append_to_ledger(folder_, key, "s", {});
    EXPECT_TRUE(fs::is_empty(folder_)) << "no entries, no file";
    model::LedgerEntry entry;
    entry.id = "gemm/tiled[m=1]";
    entry.at = "2026-11-22T09:00:00Z";
    append_to_ledger(folder_, key, "s", {entry});
    entry.at = "2026-11-23T09:00:00Z";
    append_to_ledger(folder_, key, "s", {entry});
    const auto ledger = load_ledger(folder_, key, "s");
    ASSERT_TRUE(ledger);
    EXPECT_EQ(ledger->entries.size(), 2U);
    EXPECT_EQ(ledger_path(folder_, key, "s"), folder_ / key / "s.ledger.jsonl");
    EXPECT_TRUE(fs::exists(folder_ / ".gitattributes"));
}

TEST_F(BaselineStore, GitIsToldOfItsFilesAlone) {
    model::LedgerEntry entry;
    entry.id = "a/b[]";
    entry.at = "2026-11-22T09:00:00Z";
    append_to_ledger(folder_, key, "s", {entry});
    // The folder may have others beside them, whose bytes are not text.
    std::vector<std::string> lines;
    std::ifstream attributes(folder_ / ".gitattributes");
    for (std::string line; std::getline(attributes, line);) {
        if (!line.starts_with('#')) lines.push_back(line);
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"*/*.json text eol=lf linguist-generated",
                                               "*/*.ledger.jsonl text eol=lf merge=union"}));
}

TEST_F(BaselineStore, AnAcceptanceIsNotOlderThanTheOneBeforeIt) {
    const model::Baseline faster = baseline_of(run_of({measured_case()}));
    model::Baseline slower = faster;
    auto& [id, expected] = *slower.cases.begin();
    expected.provenance.reason = "slower";
    model::LedgerEntry refresh;
    refresh.action = model::LedgerAction::refresh;
    refresh.at = "2026-11-22T09:00:01Z";
    refresh.digests[id] = document::digest_of_case(id, faster.cases.at(id));
    model::LedgerEntry accept;
    accept.id = id;
    accept.at = "2026-11-22T09:00:00Z";  // read before it waited for the other writer
    accept.digests[id] = document::digest_of_case(id, expected);
    model::LedgerEntry improved;
    improved.id = id;
    improved.action = model::LedgerAction::improved;
    improved.at = "2026-11-22T08:00:00Z";  // the start of its run
    const BaselineLock lock(folder_, {});
    store_accepted(lock, {{faster, {refresh}}});
    store_accepted(lock, {{slower, {accept, improved}}});
    std::map<model::LedgerAction, std::string> times;
    const auto ledger = load_ledger(folder_, key, "s");
    ASSERT_TRUE(ledger);
    for (const model::LedgerEntry& entry : ledger->entries) {
        times[entry.action] = entry.at;
    }
    EXPECT_EQ(times[model::LedgerAction::accept], refresh.at);
    EXPECT_EQ(times[model::LedgerAction::improved], improved.at);
    EXPECT_EQ(verify_store(folder_, "2026-11-23").faults, std::vector<std::string>{});
}

TEST_F(BaselineStore, AProjectsGitAttributesAreLeftAlone) {
    std::ofstream(folder_ / ".gitattributes") << "* text\n";
    model::LedgerEntry entry;
    entry.id = "a/b[]";
    entry.at = "2026-11-22T09:00:00Z";
    append_to_ledger(folder_, key, "s", {entry});
    EXPECT_EQ(fs::file_size(folder_ / ".gitattributes"), 7U);
}

TEST_F(BaselineStore, StoresBaselineAndLedgerOrNeither) {
    const model::Baseline baseline = baseline_of(run_of({measured_case()}));
    model::LedgerEntry entry;
    entry.id = "gemm/tiled[m=1]";
    entry.at = "2026-11-21T10:00:00Z";
    const BaselineLock lock(folder_, {});
    fs::create_directories(file());  // so that the baseline cannot be written
    EXPECT_THROW(store_accepted(lock, {{baseline, {entry}}}), util::Error);
    EXPECT_EQ(load_ledger(folder_, key, "s"), std::nullopt);
    fs::remove(file());
    store_accepted(lock, {{baseline, {entry}}});
    EXPECT_EQ(load_baseline(folder_, key, "s")->baseline, baseline);
    EXPECT_EQ(load_ledger(folder_, key, "s")->entries.size(), 1U);
    const model::Baseline empty{baseline.suite, baseline.device, {}};
    store_accepted(lock, {{empty, {entry}}});
    EXPECT_FALSE(fs::exists(file()));
    EXPECT_EQ(load_ledger(folder_, key, "s")->entries.size(), 2U);
}

TEST_F(BaselineStore, ALedgerInTheWrongPlaceIsRefused) {
    model::LedgerEntry entry;
    entry.id = "a/b[]";
    entry.at = "2026-11-22T09:00:00Z";
    append_to_ledger(folder_, key, "other", {entry});
    fs::rename(ledger_path(folder_, key, "other"), ledger_path(folder_, key, "s"));
    EXPECT_THROW(load_ledger(folder_, key, "s"), util::InputError);
}

TEST_F(BaselineStore, ListsItsPlaces) {
    save_baseline(folder_, baseline_);
    model::LedgerEntry entry;
    entry.id = "a/b[]";
    entry.at = "2026-11-22T09:00:00Z";
    append_to_ledger(folder_, "host-x", "gone", {entry});
    std::ofstream(folder_ / key / "README.md") << "not ours";
    std::ofstream(folder_ / key / "A b.json") << "{}";
    std::vector<std::string> faults;
    EXPECT_EQ(stored_places(folder_, &faults),
              (std::vector<BaselinePlace>{{"host-x", "gone"}, {key, "s"}}));
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_TRUE(says(faults.front(), "A b.json")) << faults.front();
    EXPECT_THROW(stored_places(folder_ / "nowhere"), util::InputError);
}

TEST_F(BaselineStore, SavingLeavesNothingElseBehind) {
    save_baseline(folder_, baseline_);
    save_baseline(folder_, baseline_);
    const auto entries = fs::directory_iterator(file().parent_path());
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(BaselineStore, AFileThatWouldStayTheSameIsNotTouched) {
    save_baseline(folder_, baseline_);
    const auto before = fs::last_write_time(file()) - std::chrono::hours(1);
    fs::last_write_time(file(), before);
    save_baseline(folder_, baseline_);
    EXPECT_EQ(fs::last_write_time(file()), before);
    baseline_.cases.begin()->second.provenance.reason = "new";
    save_baseline(folder_, baseline_);
    EXPECT_NE(fs::last_write_time(file()), before);
}

TEST_F(BaselineStore, NothingThatADocumentSaysLeadsOutOfTheFolder) {
    for (const char* evil : {"", "..", "../x", "a/b", "/etc/passwd", "a.b", "A", "a b", "a\n"}) {
        EXPECT_THROW(baseline_path(folder_, evil, "s"), util::InputError) << evil;
        EXPECT_THROW(baseline_path(folder_, key, evil), util::InputError) << evil;
    }
    EXPECT_THROW(baseline_path(folder_, std::string("a\0b", 3), "s"), util::InputError);
    EXPECT_THROW(baseline_path(folder_, std::string(201, 'a'), "s"), util::InputError);
    baseline_.device.key = "../../evil";
    EXPECT_THROW(save_baseline(folder_, baseline_), util::InputError);
    EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BaselineStore, ABrokenFileIsRefusedByName) {
    const std::string text = document::write_baseline(baseline_);
    put(text.substr(0, text.size() / 2));
    EXPECT_TRUE(says(refusal(), file().string())) << refusal();
    put("");
    EXPECT_TRUE(says(refusal(), file().string())) << refusal();
    put(
        std::string("\x7f"
                    "ELF\0\1",
                    6));
    EXPECT_TRUE(says(refusal(), file().string())) << refusal();
    put("[]");
    EXPECT_TRUE(says(refusal(), file().string())) << refusal();
}

TEST_F(BaselineStore, AnUnknownMajorVersionIsRefused) {
    put(R"({"schema": "perfgate.baseline", "version": 9, "suite": "s", "device": {}, "cases": {}})");
    EXPECT_TRUE(says(refusal(), "version")) << refusal();
    put(R"({"schema": "perfgate.run", "version": 1})");
    EXPECT_TRUE(says(refusal(), "perfgate.baseline")) << refusal();
}

TEST_F(BaselineStore, AFolderInItsPlaceIsRefused) {
    fs::create_directories(file());
    EXPECT_TRUE(says(refusal(), "directory")) << refusal();
}

TEST_F(BaselineStore, ALinkToNowhereIsNoMissingBaseline) {
    fs::create_directories(file().parent_path());
    fs::create_symlink("nowhere.json", file());
    EXPECT_TRUE(says(refusal(), file().string())) << refusal();
}

TEST_F(BaselineStore, AFileInPlaceOfTheFolderIsRefused) {
    std::ofstream(folder_ / "plain") << "x";
    EXPECT_THROW(load_baseline(folder_ / "plain", key, "s"), util::InputError);
}

TEST_F(BaselineStore, AFileInTheWrongPlaceIsRefused) {
    baseline_.suite = "other";
    put(document::write_baseline(baseline_));
    EXPECT_TRUE(says(refusal(), "suite is 'other', its place is that of 's'")) << refusal();
    baseline_.suite = "s";
    baseline_.device.key = "nvidia-h200";
    put(document::write_baseline(baseline_));
    EXPECT_TRUE(says(refusal(), "device.key is 'nvidia-h200'")) << refusal();
}

TEST_F(BaselineStore, WhereNothingCanBeWrittenSavingFailsByName) {
    std::ofstream(folder_ / key) << "a file where the device's folder belongs";
    try {
        save_baseline(folder_, baseline_);
        FAIL() << "expected an Error";
    } catch (const util::Error& error) {
        EXPECT_TRUE(says(error.what(), file().parent_path().string())) << error.what();
    }
}

TEST_F(BaselineStore, ALinkInPlaceOfADevicesFolderIsNotWrittenThrough) {
    fs::create_directories(folder_ / "elsewhere");
    fs::create_symlink("elsewhere", folder_ / key);
    EXPECT_THROW(save_baseline(folder_, baseline_), util::InputError);
    EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
    fs::remove(folder_ / key);
    std::ofstream(folder_ / "victim") << "precious";
    fs::create_directories(file().parent_path());
    fs::create_symlink("../victim", file());
    save_baseline(folder_, baseline_);
    EXPECT_EQ(fs::file_size(folder_ / "victim"), 8U);
    EXPECT_EQ(load_baseline(folder_, key, "s")->baseline, baseline_);
}

}  // namespace
}  // namespace perfgate::baseline
