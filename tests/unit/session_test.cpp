// SPDX-License-Identifier: Apache-2.0
// A run on several devices: a thread and a chain of workers for each. Host workers stand for the
// devices, so that ThreadSanitizer can watch the threads where there is no GPU.
#include "measure/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <deque>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "measure/journal.hpp"
#include "model/run.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::measure {
namespace {

namespace fs = std::filesystem;

class SeveralDevices : public testing::Test {
  protected:
    void SetUp() override {
        std::signal(SIGPIPE, SIG_IGN);  // as main does: a worker may be gone before it is asked
        options_.processes = 2;
        options_.progress = [this](const Progress& step) { steps_.push_back(step.done); };
        plan_.suites.push_back({.name = "fault",
                                .file = "fault.yaml",
                                .description = "",
                                .partial = false,
                                .cases = {},
                                .relations = {}});
    }

    void add_cases(const std::string& variant, int count) {
        for (int item = 0; item < count; ++item) {
            model::PlannedCase planned;
            planned.spec = {"fault", variant, {{"item", std::int64_t{item}}}, model::Cache::hot};
            planned.target = model::Target::host;
            planned.metrics = {"host_time"};
            planned.time_budget_s = 0.001;
            plan_.suites.front().cases.push_back(std::move(planned));
        }
    }

    void add_device(std::vector<std::string> command) {
        workers_.emplace_back(std::move(command), [this] { return stop_.load(); });
        devices_.push_back({"board " + std::to_string(devices_.size()), &workers_.back()});
    }
    void add_devices(int count) {
        for (int i = 0; i < count; ++i) {
            add_device({PERFGATE_BINARY, "worker", "--backend", "host", "--plugin",
                        PERFGATE_FAULT_PLUGIN});
        }
    }

    /// Whose batches name it as their board.
    void add_devices_with_names(int count) {
        for (int i = 0; i < count; ++i) {
            const std::string name = "board " + std::to_string(i);
            add_device({"/bin/sh", "-c",
                        "{ \"$@\" 3>&1 1>&2 | sed -u 's/\"device\":\"host\"/\"device\":\"" + name +
                            "\"/g' >&3; }",
                        "sh", PERFGATE_BINARY, "worker", "--backend", "host", "--plugin",
                        PERFGATE_FAULT_PLUGIN});
        }
    }

    /// The usual run, with each case on the device of an earlier one if there is one; then
    /// `further` may ask for more.
    model::Run run(
        const std::function<void(Session&)>& further = [](Session&) {},
        const model::Run* earlier = nullptr) {
        Journal journal(folder_, JournalHeader{"2026-11-21T10:00:00Z", 1, {}});
        const Capabilities capabilities{};
        Session session(plan_, capabilities, devices_, options_, journal);
        session.prepare(Session::Unsupported::refuse);
        if (earlier != nullptr) session.keep_devices_of(*earlier);
        session.measure_all();
        further(session);
        session.replace_excluded();
        return session.finish();
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
    model::Plan plan_;
    MeasureOptions options_;
    std::atomic<bool> stop_ = false;
    std::deque<Workers> workers_;
    std::vector<MeasuredDevice> devices_;
    std::vector<std::size_t> steps_;
};

std::set<std::int64_t> processes_of(const model::CaseResult& result) {
    std::set<std::int64_t> processes;
    for (const model::Batch& batch : result.metrics.at("host_time").batches) {
        processes.insert(batch.process);
    }
    return processes;
}

TEST_F(SeveralDevices, EachCaseIsMeasuredInProcessesOfOne) {
    add_cases("ok", 9);
    add_devices(3);
    const model::Run measured = run([](Session& session) {
        std::vector<model::CaseIndex> all;
        for (std::size_t i = 0; i < 9; ++i) all.push_back({0, i});
        session.measure_again(all, 1, 1);
    });

    EXPECT_FALSE(measured.interrupted);
    const JournalContent journal = read_journal(folder_);
    ASSERT_EQ(measured.suites[0].cases.size(), 9U);
    for (const model::CaseResult& result : measured.suites[0].cases) {
        ASSERT_EQ(result.status, model::CaseStatus::measured) << result.reason;
        EXPECT_EQ(processes_of(result).size(), 3U);
        const auto kept = journal.cases.find({"fault", model::case_id(result.spec)});
        ASSERT_NE(kept, journal.cases.end());
        EXPECT_EQ(processes_of(kept->second), processes_of(result));
    }
    EXPECT_LT(*std::max_element(steps_.begin(), steps_.end()), 27U);
}

TEST_F(SeveralDevices, CasesCanGetMoreProcessesOfTheUsualRun) {
    add_cases("ok", 4);
    add_devices(2);
    const model::Run measured = run([](Session& session) {
        for (const model::CaseResult& result : session.run().suites[0].cases) {
            EXPECT_EQ(processes_of(result).size(), 2U);
        }
        session.fill_up({{0, 1}}, 4);
    });

    for (const model::CaseResult& result : measured.suites[0].cases) {
        ASSERT_EQ(result.status, model::CaseStatus::measured) << result.reason;
        const bool filled = std::get<std::int64_t>(result.spec.params.at("item")) == 1;
        EXPECT_EQ(processes_of(result).size(), filled ? 4U : 2U);
        // They are of the usual run, not of a round.
        for (const model::Batch& batch : result.metrics.at("host_time").batches) {
            EXPECT_EQ(batch.round, 0);
        }
    }
    EXPECT_LE(*std::max_element(steps_.begin(), steps_.end()), 10U);
}

TEST_F(SeveralDevices, ACaseIsMeasuredOnTheDeviceOfAnEarlierRun) {
    add_cases("ok", 8);
    add_devices_with_names(3);
    model::Run earlier = run();
    const auto board_of = [](int item) {
        return item < 7 ? "board " + std::to_string(2 - item % 2) : "a board that is gone";
    };
    for (int item = 0; item < 8; ++item) {
        for (auto& [name, series] : earlier.suites[0].cases[item].metrics) {
            for (model::Batch& batch : series.batches) batch.device = board_of(item);
        }
    }
    const model::Run measured = run([](Session&) {}, &earlier);
    for (int item = 0; item < 8; ++item) {
        const model::CaseResult& result = measured.suites[0].cases[item];
        ASSERT_EQ(result.status, model::CaseStatus::measured) << result.reason;
        if (item < 7) {
            EXPECT_EQ(model::board_of(result), board_of(item));
        }
    }
}

TEST_F(SeveralDevices, NoCaseTakesThePlaceOfAnother) {
    add_cases("ok", 2);
    model::CaseResult other;
    other.spec = plan_.suites.front().cases[1].spec;
    other.status = model::CaseStatus::measured;
    const std::string always = write_reply(MeasureReply{other, false});
    const std::string facts = write_reply(FactsReply{{{}, {}}});
    add_device({"/bin/sh", "-c",
                "while read -r label request; do case $request in *'\"do\":\"facts\"'*) reply='" +
                    facts + "';; *) reply='" + always +
                    "';; esac; printf '%s %s\\n' \"$label\" \"$reply\" >&3; done"});
    options_.processes = 1;
    const model::Run measured = run();

    const auto& cases = measured.suites[0].cases;
    ASSERT_EQ(cases.size(), 2U);
    EXPECT_EQ(cases[0].spec, plan_.suites.front().cases[0].spec);
    EXPECT_EQ(cases[0].status, model::CaseStatus::error);
    EXPECT_NE(cases[0].reason.find("does not match"), std::string::npos) << cases[0].reason;
    EXPECT_EQ(cases[1].spec, plan_.suites.front().cases[1].spec);
    EXPECT_NE(cases[1].status, model::CaseStatus::error) << cases[1].reason;
}

TEST_F(SeveralDevices, CrashesCostTheirOwnCasesAlone) {
    add_cases("ok", 4);
    add_cases("crash", 4);
    add_devices(2);
    const model::Run measured = run();
    for (const model::CaseResult& result : measured.suites[0].cases) {
        if (result.spec.variant == "ok") {
            EXPECT_EQ(result.status, model::CaseStatus::measured) << result.reason;
        } else {
            EXPECT_EQ(result.status, model::CaseStatus::error);
            EXPECT_NE(result.reason.find("ended by"), std::string::npos) << result.reason;
        }
    }
}

TEST_F(SeveralDevices, OneThatCannotBeOpenedEndsTheRun) {
    add_cases("hang", 50);
    options_.case_limit_s = 0.5;
    add_devices(1);
    add_device({"/nowhere/at/all"});
    EXPECT_THROW(run(), util::Error);
    EXPECT_LT(read_journal(folder_).cases.size(), 50U);  // the other did not go on to the end
}

TEST_F(SeveralDevices, AnInterruptionEndsAll) {
    add_cases("hang", 3);
    add_devices(2);
    add_device({"/bin/sh", "-c", "read request; read more"});  // opens for ever
    options_.progress = [this](const Progress&) { stop_ = true; };
    const model::Run ended = run();
    EXPECT_TRUE(ended.interrupted);
    for (const model::CaseResult& result : ended.suites[0].cases) {
        EXPECT_EQ(result.status, model::CaseStatus::skipped);
        EXPECT_NE(result.reason.find("interrupted"), std::string::npos) << result.reason;
    }
}

}  // namespace
}  // namespace perfgate::measure
