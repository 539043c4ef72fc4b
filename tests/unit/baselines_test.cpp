// SPDX-License-Identifier: Apache-2.0
// Reading stored baselines: which one is meant, its ledger, and what a document would change.
#include "runner/baselines.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "baseline/store.hpp"
#include "document/baseline.hpp"
#include "document/run.hpp"
#include "unit/gate_documents.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;
using gate::documents::baseline_of;
using gate::documents::measured_case;
using gate::documents::run_of;

class Baselines : public testing::Test {
  protected:
    void SetUp() override {
        choice_ = {folder_, "s", ""};
        baseline_ = baseline_of(run_of({measured_case(1), measured_case(2)}));
        baseline::save_baseline(folder_, baseline_);
    }

    std::string document(const std::string& text) const {
        const std::string file = (fs::path(folder_) / "document.json").string();
        util::write_file_atomically(file, text);
        return file;
    }
    std::string message_of_stored() const {
        try {
            stored_baseline(choice_);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "";
    }

    TemporaryFolder temporary_;
    std::string folder_ = temporary_.path();
    BaselineChoice choice_;
    model::Baseline baseline_;
};

TEST_F(Baselines, TheOnlyDeviceNeedsNoKey) {
    EXPECT_EQ(stored_baseline(choice_).baseline, baseline_);
    choice_.device_key = baseline_.device.key;
    EXPECT_EQ(stored_baseline(choice_).baseline, baseline_);
}

TEST_F(Baselines, OneOfSeveralDevicesMustBeChosen) {
    model::Baseline other = baseline_;
    other.device.key = "nvidia-h200";
    baseline::save_baseline(folder_, other);
    EXPECT_EQ(message_of_stored(),
              "suite 's' has baselines for several devices; choose one with --device-key: "
              "nvidia-h100-80gb-hbm3, nvidia-h200");
    choice_.device_key = "nvidia-h200";
    EXPECT_EQ(stored_baseline(choice_).baseline, other);
}

TEST_F(Baselines, ThatDoNotExistAreNamed) {
    choice_.suite = "t";
    EXPECT_EQ(message_of_stored(), folder_ + ": no device has a baseline of suite 't'");
    choice_ = {folder_, "s", "nvidia-h100-80gb-hbm2"};
    EXPECT_EQ(message_of_stored(), "there is no baseline " + folder_ +
                                       "/nvidia-h100-80gb-hbm2/s.json; did you mean "
                                       "'nvidia-h100-80gb-hbm3'?");
    choice_ = {folder_, "s", ""};
    EXPECT_THROW(ledger_entries(choice_, {}), util::InputError);
}

model::LedgerEntry entry(const std::string& id, const std::string& at, const std::string& reason) {
    model::LedgerEntry made;
    made.id = id;
    made.at = at;
    made.reason = reason;
    return made;
}

TEST_F(Baselines, LedgerEntriesAreListedNewestFirst) {
    baseline::append_to_ledger(folder_, baseline_.device.key, "s",
                               {entry("gemm/a", "2026-01-02T00:00:00Z", "second"),
                                entry("gemm/b", "2026-01-02T00:00:00Z", "third"),
                                entry("gemm/a", "2026-01-01T00:00:00Z", "first")});
    const auto reasons = [&](const std::vector<std::string>& cases) {
        std::vector<std::string> texts;
        for (const auto& each : ledger_entries(choice_, cases)) texts.push_back(each.reason);
        return texts;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(reasons({}), (Texts{"third", "second", "first"}));
    EXPECT_EQ(reasons({"*/a"}), (Texts{"second", "first"}));
    EXPECT_EQ(reasons({"*/a", "*/b"}), (Texts{"third", "second", "first"}));
    EXPECT_EQ(reasons({"*/c"}), Texts());
}

TEST_F(Baselines, ADiffListsWhatADocumentWouldChange) {
    model::Baseline other = baseline_;
    other.cases.erase(other.cases.begin());
    const auto of_baseline =
        diff_against_stored(document(document::write_baseline(other)), {}, folder_);
    ASSERT_EQ(of_baseline.size(), 1U);
    EXPECT_TRUE(of_baseline[0].stored);
    EXPECT_FALSE(of_baseline[0].partial);
    EXPECT_EQ(of_baseline[0].difference.removed.size(), 1U);
    EXPECT_EQ(of_baseline[0].difference.unchanged, 2U);

    const std::string run = document(document::write_run(run_of({measured_case(1)})));
    EXPECT_EQ(diff_against_stored(run, {}, folder_).at(0).difference.removed.size(), 1U);
}

TEST_F(Baselines, ADiffDoesNotListWhatWasNotSelectedAsRemoved) {
    const std::string run =
        document(document::write_run(run_of({measured_case(1), measured_case(2)})));
    const auto selected = diff_against_stored(run, {{"*m=2*"}, {}}, folder_);
    ASSERT_EQ(selected.size(), 1U);
    EXPECT_TRUE(selected[0].partial);
    EXPECT_TRUE(selected[0].difference.removed.empty());
    EXPECT_EQ(selected[0].difference.unchanged, 2U);

    model::Run interrupted = run_of({measured_case(1)});
    interrupted.interrupted = true;
    EXPECT_TRUE(
        diff_against_stored(document(document::write_run(interrupted)), {}, folder_).at(0).partial);
}

TEST_F(Baselines, ADiffWithoutAStoredBaselineListsEveryCaseAsNew) {
    const std::string run = document(document::write_run(run_of({measured_case(1)})));
    const auto result = diff_against_stored(run, {}, folder_ + "/none");
    ASSERT_EQ(result.size(), 1U);
    EXPECT_FALSE(result[0].stored);
    EXPECT_EQ(result[0].difference.added.size(), 1U);
}

TEST_F(Baselines, ADiffWithAnotherDeviceIsRefused) {
    model::Run run = run_of({measured_case(1)});
    run.environment.device.chip = "GH200";
    run.environment.device.name = "other";
    const std::string file = document(document::write_run(run));
    EXPECT_THROW(diff_against_stored(file, {}, folder_), util::InputError);
}

}  // namespace
}  // namespace perfgate::runner
