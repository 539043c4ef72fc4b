// SPDX-License-Identifier: Apache-2.0
// What a session asks of a device's workers and of programs, and where the answers go. The worker
// is a shell that writes down each request and answers it with what a test has prepared.
#include "measure/device_chain.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "measure/batches.hpp"
#include "measure/session.hpp"
#include "model/host_time.hpp"
#include "unit/temporary_folder.hpp"
#include "util/file.hpp"

namespace perfgate::measure {
namespace {

namespace fs = std::filesystem;
using model::CaseResult;
using model::CaseStatus;

/// Runs no program: notes what it is asked, and lets a test say what comes of it.
class FakePrograms final : public Programs {
  public:
    bool measure(const ProgramRequest& request, std::vector<CaseResult>& results,
                 const std::function<void(std::string_view)>& observe) override {
        requests.push_back(request);
        given.push_back(results);
        observe("run");
        for (CaseResult& result : results) {
            result.status = CaseStatus::measured;
            if (request.verify_only) continue;
            model::Batch batch{request.process, request.board, 0, {100}, request.round};
            result.metrics["gpu_time"] = {"ns", 100, "recorded", {batch}};
            result.wall_s = 1;
        }
        return answer(request, results);
    }
    std::vector<model::CaseCode> machine_code(
        const ProgramRequest& request, const std::vector<CaseResult>& results,
        const std::function<void(std::string_view)>& observe) override {
        code_requests.push_back(request);
        observe("machine code");
        std::vector<model::CaseCode> all(results.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i].problem = results[i].spec.variant;
        return all;
    }

    std::vector<ProgramRequest> code_requests;
    std::function<bool(const ProgramRequest&, std::vector<CaseResult>&)> answer =
        [](const auto&, auto&) { return true; };
    std::vector<ProgramRequest> requests;
    std::vector<std::vector<CaseResult>> given;
};

class DeviceChainTest : public testing::Test {
  protected:
    void SetUp() override {
        std::signal(SIGPIPE, SIG_IGN);  // as main does
        fs::create_directories(folder_ / "asked");
        fs::create_directories(folder_ / "answers");
        capabilities_.environment.device.board = "b1";
        capabilities_.environment.device.memory_bytes = 1000;
        options_.processes = 3;
        options_.verify_seed = 9;
        options_.programs = &programs_;
        options_.progress = [this](const Progress& step) {
            steps_.emplace_back(step.done, step.total);
            phases_.insert(std::string(step.case_id) + " " + std::string(step.phase));
        };
        model::PlannedSuite suite;
        suite.name = "s";
        suite.file = "s.yaml";
        plan_.suites.push_back(suite);
    }

    model::PlannedCase& add(const std::string& workload, const std::string& variant,
                            std::vector<std::string> metrics = {"gpu_time"}) {
        model::PlannedCase planned;
        planned.spec = {workload, variant, {}, model::Cache::cold};
        planned.tags = {"t"};
        planned.metrics = std::move(metrics);
        planned.seed = 11;
        return plan_.suites[0].cases.emplace_back(std::move(planned));
    }
    /// A case of this group.
    void add_program(const std::string& name, const std::string& label, std::size_t group) {
        add(name, label).group = group;
    }
    const CaseResult planned_result(std::size_t index) const {
        CaseResult result;
        result.spec = plan_.suites[0].cases.at(index).spec;
        result.tags = {"t"};
        return result;
    }
    CaseResult measured(std::size_t index, std::int64_t process, std::int64_t round = 0) const {
        CaseResult result = planned_result(index);
        result.status = CaseStatus::measured;
        result.wall_s = 2;
        result.metrics["gpu_time"] = {"ns", 100, "activity", {{process, "b1", 11, {100}, round}}};
        return result;
    }

    /// The answer to the next request without one: these shell commands.
    void script(const std::string& commands) {
        std::ofstream(folder_ / "answers" / std::to_string(scripted_++)) << commands;
    }
    void reply(const Reply& reply, const std::string& before = "") {
        const std::string file = (folder_ / ("reply" + std::to_string(scripted_))).string();
        std::ofstream(file) << write_reply(reply);
        script(before + "printf '%s %s\\n' \"$label\" \"$(cat " + file + ")\" >&3\n");
    }
    static std::string phase(const std::string& name) {
        return "echo \"$label \"'" + write_reply(PhaseReply{name}) + "' >&3\n";
    }
    void facts(std::vector<CaseFacts> of_cases) { reply(FactsReply{std::move(of_cases)}); }

    std::vector<Request> asked() const {
        std::vector<Request> requests;
        for (;;) {
            const fs::path file = folder_ / "asked" / std::to_string(requests.size());
            if (!fs::exists(file)) return requests;
            requests.push_back(parse_request(util::read_file(file, 1 << 20, "request")));
        }
    }
    /// Of each request for counters, the number of its cases.
    std::vector<std::size_t> counter_sessions() const {
        std::vector<std::size_t> sizes;
        for (const Request& request : asked()) {
            if (const auto* counters = std::get_if<CountersRequest>(&request)) {
                sizes.push_back(counters->jobs.size());
            }
        }
        return sizes;
    }

    /// The usual run; `further` asks for more, `before` for what comes ahead of it.
    model::Run run(
        const std::function<void(Session&)>& further = [](Session&) {},
        const std::function<void(Session&)>& before = [](Session&) {}) {
        const std::string answers = (folder_ / "answers/").string();
        const std::string asked = (folder_ / "asked").string();
        Workers workers(
            {"/bin/sh", "-c",
             "while read -r label request; do n=$(ls " + asked +
                 " | wc -l); printf '%s' \"$request\" > " + asked + "/$n; if [ -f " + answers +
                 "$n ]; then . " + answers + "$n; else echo unexpected >&2; exit 9; fi; done"},
            {});
        Journal journal(folder_, JournalHeader{"2026-11-21T10:00:00Z", 1, {}});
        Session session(plan_, capabilities_, {{"b1", &workers}}, options_, journal);
        session.prepare(Session::Unsupported::skip);
        before(session);
        session.measure_all();
        further(session);
        session.replace_excluded();
        done_ = session.done();
        total_ = session.total();
        return session.finish();
    }
    CaseResult journaled(std::size_t index) const {
        return read_journal(folder_).cases.at(
            {"s", model::case_id(plan_.suites[0].cases.at(index).spec)});
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
    model::Plan plan_;
    Capabilities capabilities_;
    MeasureOptions options_;
    FakePrograms programs_;
    std::vector<std::pair<std::size_t, std::size_t>> steps_;
    std::set<std::string> phases_;
    std::size_t scripted_ = 0, done_ = 0, total_ = 0;
};

using Numbers = std::vector<std::int64_t>;
using Sizes = std::vector<std::size_t>;

Numbers processes_of(const CaseResult& result) {
    Numbers processes;
    for (const model::Batch& batch : result.metrics.at("gpu_time").batches) {
        processes.push_back(batch.process);
    }
    return processes;
}

// --- programs

TEST_F(DeviceChainTest, TheCasesOfAProgramShareItsProcesses) {
    add_program("app", "program", 0);
    add_program("other", "program", 1);
    add_program("app", "step", 0);
    const model::Run finished = run([](Session& session) {
        session.measure_again({{0, 0}, {0, 2}}, 2, 1);
    });

    const auto& requests = programs_.requests;
    ASSERT_EQ(requests.size(), 7U);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const bool of_app = i % 2 == 0;
        EXPECT_EQ(requests[i].cases[0]->group, of_app ? 0U : 1U) << i;
        ASSERT_EQ(requests[i].cases.size(), of_app ? 2U : 1U) << i;
        EXPECT_EQ(requests[i].cases[0]->spec, plan_.suites[0].cases[of_app ? 0 : 1].spec);
        EXPECT_EQ(requests[i].board, "b1");
        EXPECT_EQ(requests[i].process, static_cast<std::int64_t>(i / 2)) << i;
        EXPECT_EQ(requests[i].first, i < 2) << i;
        EXPECT_EQ(requests[i].round, i == 6 ? 2 : 0) << i;
        EXPECT_FALSE(requests[i].verify_only);
    }
    EXPECT_EQ(programs_.given[0][0].tags, std::vector<std::string>{"t"});
    EXPECT_EQ(programs_.given[2][0].spec, plan_.suites[0].cases[0].spec);
    EXPECT_TRUE(programs_.given[2][0].tags.empty()) << "of a later batch only the case is given";
    EXPECT_TRUE(programs_.given[2][0].metrics.empty());

    for (std::size_t i = 0; i < 3; ++i) {
        const CaseResult& result = finished.suites[0].cases[i];
        EXPECT_EQ(result.status, CaseStatus::measured);
        EXPECT_EQ(processes_of(result), i == 1 ? (Numbers{0, 1, 2}) : (Numbers{0, 1, 2, 3}));
        EXPECT_EQ(journaled(i).metrics, result.metrics);
        EXPECT_EQ(result.wall_s, i == 1 ? 3 : 4);
    }
    EXPECT_EQ(done_, 11U);
    EXPECT_EQ(total_, 11U);
    EXPECT_EQ(steps_.front(), (std::pair<std::size_t, std::size_t>(0, 9)));
    EXPECT_EQ(steps_.at(1), (std::pair<std::size_t, std::size_t>(2, 9)));
    EXPECT_TRUE(phases_.contains("app/program run"));
}

TEST_F(DeviceChainTest, OfACaseWithAProblemNothingIsAskedOrMeasured) {
    options_.processes = 1;
    model::PlannedCase& of_worker = add("reduce", "plain");
    of_worker.problem = "it does not compile";
    of_worker.log = "line 3";
    add_program("bench", "*", 0);
    plan_.suites[0].cases[1].problem = "it reports nothing";
    const model::Run finished = run();
    EXPECT_TRUE(asked().empty());
    EXPECT_TRUE(programs_.requests.empty());
    const auto& cases = finished.suites[0].cases;
    EXPECT_EQ(cases[0].status, CaseStatus::error);
    EXPECT_EQ(cases[0].reason, "it does not compile");
    EXPECT_EQ(cases[0].log, "line 3");
    EXPECT_EQ(cases[1].status, CaseStatus::error);
    EXPECT_EQ(cases[1].reason, "it reports nothing");
    EXPECT_EQ(journaled(1).reason, "it reports nothing");
}

TEST_F(DeviceChainTest, GroupsOfTwoSuitesAreNotOne) {
    add_program("app", "program", 0);
    plan_.suites.push_back(plan_.suites[0]);
    plan_.suites[1].name = "t";
    run();
    EXPECT_EQ(programs_.requests.size(), 2 * options_.processes);
}

TEST_F(DeviceChainTest, AProgramThatFailsLaterLosesThatCasesValues) {
    add_program("app", "program", 0);
    add_program("app", "step", 0);
    programs_.answer = [](const ProgramRequest& request, std::vector<CaseResult>& results) {
        if (request.process == 1) {
            results[0].status = CaseStatus::error;
            results[0].reason = "it ended with 3";
            results[0].log = "last words";
        }
        return true;
    };
    const model::Run finished = run();
    const CaseResult& failed = finished.suites[0].cases[0];
    EXPECT_EQ(failed.status, CaseStatus::error);
    EXPECT_NE(failed.reason.find("process 1"), std::string::npos) << failed.reason;
    EXPECT_TRUE(failed.reason.ends_with("it ended with 3")) << failed.reason;
    EXPECT_EQ(failed.log, "last words");
    EXPECT_TRUE(failed.metrics.empty());
    EXPECT_EQ(journaled(0).status, CaseStatus::error);
    EXPECT_EQ(processes_of(finished.suites[0].cases[1]), (Numbers{0, 1, 2}));
    ASSERT_EQ(programs_.requests.size(), 3U);
    EXPECT_EQ(programs_.requests[2].cases.size(), 1U) << "the failed case is done";
}

TEST_F(DeviceChainTest, AProgramThatFailsAtOnceKeepsItsOwnReason) {
    add_program("app", "program", 0);
    programs_.answer = [](const ProgramRequest&, std::vector<CaseResult>& results) {
        results[0].status = CaseStatus::incorrect;
        results[0].reason = "its check failed";
        results[0].metrics.clear();
        return true;
    };
    const model::Run finished = run();
    EXPECT_EQ(finished.suites[0].cases[0].status, CaseStatus::incorrect);
    EXPECT_EQ(finished.suites[0].cases[0].reason, "its check failed");
    EXPECT_EQ(journaled(0).reason, "its check failed");
    EXPECT_EQ(programs_.requests.size(), 1U);
}

TEST_F(DeviceChainTest, AnInterruptedProgramSaysNothing) {
    add_program("app", "program", 0);
    add_program("other", "program", 1);
    programs_.answer = [](const ProgramRequest& request, auto&) { return request.first; };
    const model::Run finished = run();
    EXPECT_TRUE(finished.interrupted);
    EXPECT_EQ(programs_.requests.size(), 3U);
    for (const CaseResult& result : finished.suites[0].cases) {
        EXPECT_EQ(result.status, CaseStatus::measured);
        EXPECT_EQ(processes_of(result), Numbers{0});
    }
}

TEST_F(DeviceChainTest, AnInterruptionOfTheFirstProgramLeavesTheOthers) {
    add_program("app", "program", 0);
    add_program("other", "program", 1);
    programs_.answer = [](const auto&, auto&) { return false; };
    const model::Run finished = run();
    EXPECT_EQ(programs_.requests.size(), 1U);
    for (const CaseResult& result : finished.suites[0].cases) {
        EXPECT_EQ(result.status, CaseStatus::skipped);
        EXPECT_TRUE(result.metrics.empty());
    }
}

TEST_F(DeviceChainTest, WhatFailsWhileStacksAreSampledLeavesTheMeasuredValues) {
    add_program("app", "program", 0);
    add_program("app", "step", 0);
    programs_.answer = [](const ProgramRequest& request, std::vector<CaseResult>& results) {
        if (request.round != stacks_round) {
            results[1].metrics["span"] = results[1].metrics["gpu_time"];
            return true;
        }
        model::set_error(results[0], "memory ran out", "");
        results[1].metrics = {{"span", {"ns", 0, {}, {}}}};
        results[1].metrics["span"].detail = model::with_host("", "reads");
        return true;
    };
    const model::Run finished = run([](Session& session) {
        session.measure_again({{0, 0}, {0, 1}}, stacks_round, 1);
    });
    EXPECT_EQ(programs_.requests.back().round, stacks_round);
    EXPECT_FALSE(finished.interrupted);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(finished.suites[0].cases[i].status, CaseStatus::measured) << i;
        EXPECT_EQ(processes_of(finished.suites[0].cases[i]), (Numbers{0, 1, 2})) << i;
        EXPECT_EQ(journaled(i).status, CaseStatus::measured) << i;
    }
    EXPECT_EQ(model::host_in(finished.suites[0].cases[1].metrics.at("span").detail), "reads");
}

TEST_F(DeviceChainTest, AnInterruptionWhileStacksAreSampledLeavesAFinishedRun) {
    add_program("app", "program", 0);
    programs_.answer = [](const ProgramRequest& request, auto&) {
        return request.round != stacks_round;
    };
    const model::Run finished = run([](Session& session) {
        session.measure_again({{0, 0}}, stacks_round, 1);
    });
    EXPECT_EQ(programs_.requests.back().round, stacks_round);
    EXPECT_FALSE(finished.interrupted);
    EXPECT_EQ(processes_of(finished.suites[0].cases[0]), (Numbers{0, 1, 2}));
}

TEST_F(DeviceChainTest, VerifyingAloneRunsAProgramOnce) {
    add_program("app", "program", 0);
    options_.verify_only = true;
    run([](Session& session) { session.fill_up({{0, 0}}, 5); });
    ASSERT_EQ(programs_.requests.size(), 1U);
    EXPECT_TRUE(programs_.requests[0].verify_only);
    EXPECT_EQ(total_, 1U);
    EXPECT_EQ(done_, 1U);
}

TEST_F(DeviceChainTest, FillingUpCountsTheProcessesThatACaseHas) {
    add_program("app", "program", 0);
    run([](Session& session) {
        session.fill_up({{0, 0}}, 2);
        session.fill_up({{0, 0}}, 5);
    });
    EXPECT_EQ(programs_.requests.size(), 5U);
    EXPECT_EQ(programs_.requests.back().round, 0);
    EXPECT_EQ(total_, 5U);
    EXPECT_EQ(done_, 5U);
}

TEST_F(DeviceChainTest, ACaseOfWhichTooMuchIsSpoiltIsMeasuredAsOftenAgain) {
    add_program("app", "program", 0);
    add_program("other", "program", 1);
    programs_.answer = [](const ProgramRequest& request, std::vector<CaseResult>& results) {
        // Two of three batches of the first program, and one more.
        if (request.cases[0]->spec.workload == "app" && request.process < 3 &&
            request.process != 1) {
            results[0].metrics.at("gpu_time").batches[0].excluded = "throttled";
        }
        return true;
    };
    const model::Run finished = run();
    EXPECT_EQ(processes_of(finished.suites[0].cases[0]), (Numbers{0, 1, 2, 3}));
    EXPECT_EQ(processes_of(finished.suites[0].cases[1]), (Numbers{0, 1, 2}));
    EXPECT_EQ(finished.suites[0].cases[0].status, CaseStatus::measured);
}

TEST_F(DeviceChainTest, ACaseThatIsAlwaysSpoiltIsInvalidInTheEnd) {
    add_program("app", "program", 0);
    programs_.answer = [](const auto&, std::vector<CaseResult>& results) {
        results[0].metrics.at("gpu_time").batches[0].excluded = "throttled";
        return true;
    };
    const model::Run finished = run();
    EXPECT_EQ(programs_.requests.size(), 6U);
    EXPECT_EQ(finished.suites[0].cases[0].status, CaseStatus::invalid);
    EXPECT_NE(finished.suites[0].cases[0].reason.find("0 of 3"), std::string::npos);
}

TEST_F(DeviceChainTest, AResumedRunGoesOnBehindWhatItHas) {
    add_program("app", "program", 0);
    add_program("other", "program", 1);
    JournalContent before;
    before.cases[{"s", "app/program"}] = measured(0, 0);
    join_batches(before.cases.begin()->second, measured(0, 4));
    options_.resumed = &before;
    const model::Run finished = run();
    EXPECT_EQ(processes_of(finished.suites[0].cases[0]), (Numbers{0, 4, 5}));
    EXPECT_EQ(processes_of(finished.suites[0].cases[1]), (Numbers{0, 1, 2}));
    ASSERT_EQ(programs_.requests.size(), 4U);
    EXPECT_EQ(programs_.requests[0].cases[0]->group, 1U);
    for (const ProgramRequest& request : programs_.requests) {
        EXPECT_EQ(request.first, &request == programs_.requests.data());
    }
    EXPECT_EQ(done_, 6U);
    EXPECT_EQ(total_, 6U);
}

TEST_F(DeviceChainTest, OnSeveralDevicesProgramsRunOnTheFirstInThePlansOrder) {
    for (std::size_t i = 0; i < 20; ++i) add_program("app", "v" + std::to_string(i), i);
    options_.processes = 1;
    const std::string board_state = write_reply(BoardStateReply{});
    const std::vector<std::string> answers{
        "/bin/sh", "-c",
        "while read -r label request; do printf '%s %s\\n' \"$label\" '" + board_state +
            "' >&3; done"};
    Workers first(answers, {});
    Workers second(answers, {});
    Journal journal(folder_, JournalHeader{"2026-11-21T10:00:00Z", 1, {}});
    Session session(plan_, capabilities_, {{"b1", &first}, {"b2", &second}}, options_, journal);
    session.prepare(Session::Unsupported::skip);
    session.measure_all();
    ASSERT_EQ(programs_.requests.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(programs_.requests[i].cases[0]->group, i) << i;
        EXPECT_EQ(programs_.requests[i].board, "b1");
    }
}

// --- plugins' cases

TEST_F(DeviceChainTest, TheFirstProcessGetsTheWholeCaseTheNextOnlyItsSpec) {
    options_.processes = 2;
    add("gemm", "tiled");
    facts({{}});
    reply(MeasureReply{measured(0, 0), false}, phase("verify"));
    reply(MeasureReply{measured(0, 1), false}, phase("time"));
    const model::Run finished = run();

    const std::vector<Request> requests = asked();
    ASSERT_EQ(requests.size(), 3U);
    const auto& of_facts = std::get<FactsRequest>(requests[0]);
    EXPECT_EQ(of_facts.cases.size(), 1U);
    CaseSettings expected;
    expected.metrics = {"gpu_time"};
    expected.seed = 11;
    expected.verify_seed = 9;
    const auto& first = std::get<MeasureRequest>(requests[1]);
    EXPECT_EQ(first.settings, expected);
    EXPECT_EQ(first.result.tags, std::vector<std::string>{"t"});
    expected.times_only = true;
    expected.process = 1;
    const auto& second = std::get<MeasureRequest>(requests[2]);
    EXPECT_EQ(second.settings, expected);
    EXPECT_EQ(second.result.spec, plan_.suites[0].cases[0].spec);
    EXPECT_TRUE(second.result.tags.empty());

    const CaseResult& result = finished.suites[0].cases[0];
    EXPECT_EQ(processes_of(result), (Numbers{0, 1}));
    EXPECT_EQ(result.wall_s, 4);
    EXPECT_EQ(journaled(0).metrics, result.metrics);
    EXPECT_EQ(done_, 2U);
    EXPECT_EQ(phases_, (std::set<std::string>{"gemm/tiled verify", "gemm/tiled time"}));
    EXPECT_EQ(steps_, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 2}, {1, 2}}));
    EXPECT_FALSE(finished.interrupted);
    std::set<std::string> timed;
    for (const auto& [phase, seconds] : finished.phase_s) {
        EXPECT_GE(seconds, 0);
        timed.insert(phase);
    }
    EXPECT_EQ(timed, (std::set<std::string>{"between", "start", "time", "verify"}));
}

TEST_F(DeviceChainTest, MachineCodeIsAskedForAndWhatFailsSaysWhy) {
    options_.processes = 1;
    add("reduce", "plain");
    add("reduce", "vector");
    add("reduce", "pairs");
    add_program("app", "program", 0);
    facts({{}, {}, {}});
    reply(MeasureReply{measured(0, 0)});
    reply(MeasureReply{measured(1, 0)});
    reply(MeasureReply{measured(2, 0)});
    model::CaseCode known;
    known.kernels = {{"reduce", "01", {{{0, "EXIT"}}, {}}}};
    known.suite = known.id = "of another case";
    reply(CodeReply{known});
    reply(BoardStateReply{});
    script("exit 5\n");
    std::vector<model::CaseCode> code;
    const model::Run finished = run([&](Session& session) {
        code = session.machine_code({{0, 0}, {0, 1}, {0, 2}, {0, 3}});
    });
    ASSERT_EQ(code.size(), 4U);
    EXPECT_EQ(code[3].id, "app/program");
    EXPECT_EQ(code[3].problem, "program") << "it is asked for its own";
    EXPECT_EQ(code[0].suite, "s");
    EXPECT_EQ(code[0].id, model::case_id(plan_.suites[0].cases[0].spec));
    EXPECT_EQ(code[0].kernels, known.kernels);
    for (std::size_t i = 1; i < 3; ++i) {
        EXPECT_EQ(code[i].id, model::case_id(plan_.suites[0].cases[i].spec));
        EXPECT_NE(code[i].problem, "");
    }
    EXPECT_EQ(std::get<CodeRequest>(asked().at(4)).result.spec, plan_.suites[0].cases[0].spec);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(finished.suites[0].cases[i].status, CaseStatus::measured);
    }
}

TEST_F(DeviceChainTest, TheCasesOfAProgramShareTheProcessesForTheirMachineCode) {
    options_.processes = 1;
    add_program("app", "program", 0);
    add_program("other", "program", 1);
    add_program("app", "step", 0);
    std::vector<model::CaseCode> code;
    run([&](Session& session) { code = session.machine_code({{0, 0}, {0, 1}, {0, 2}}); });
    ASSERT_EQ(programs_.code_requests.size(), 2U);
    EXPECT_EQ(programs_.code_requests[0].cases.size(), 2U);
    EXPECT_EQ(programs_.code_requests[1].cases.size(), 1U);
    std::vector<std::string> ids;
    for (const model::CaseCode& each : code) {
        ids.push_back(each.id);
        EXPECT_EQ(each.suite, "s");
        EXPECT_TRUE(each.id.ends_with(each.problem)) << each.id << " has that of " << each.problem;
    }
    EXPECT_EQ(ids, (std::vector<std::string>{"app/program", "app/step", "other/program"}));
}

TEST_F(DeviceChainTest, MachineCodeIsAskedForOfCasesThatAreNotMeasured) {
    add("reduce", "plain");
    facts({{}});
    model::CaseCode known;
    known.kernels = {{"reduce", "01", {{{0, "EXIT"}}, {}}}};
    reply(CodeReply{known});
    std::vector<model::CaseCode> code;
    run([](Session&) {}, [&](Session& session) { code = session.machine_code({{0, 0}}); });
    ASSERT_EQ(code.size(), 1U);
    EXPECT_EQ(code[0].kernels, known.kernels);
}

TEST_F(DeviceChainTest, AFurtherRoundIsAskedForAsSuch) {
    options_.processes = 1;
    add("gemm", "tiled");
    facts({{}});
    reply(MeasureReply{measured(0, 0), false});
    reply(MeasureReply{measured(0, 1, 3), false});
    run([](Session& session) { session.measure_again({{0, 0}}, 3, 1); });
    const auto requests = asked();
    ASSERT_EQ(requests.size(), 3U);
    EXPECT_EQ(std::get<MeasureRequest>(requests[2]).settings.round, 3);
    EXPECT_EQ(std::get<MeasureRequest>(requests[1]).settings.round, 0);
    EXPECT_EQ(total_, 2U);
}

CaseResult submitted(CaseResult result) {
    auto series = result.metrics.extract("gpu_time");
    series.key() = "submit_time";
    series.mapped().method = "wall";
    result.metrics.insert(std::move(series));
    return result;
}

TEST_F(DeviceChainTest, SubmissionIsTimedInProcessesWithoutCuptiBesideTheOthers) {
    options_.processes = 2;
    add("gemm", "tiled", {"gpu_time", "submit_time"}).target = model::Target::cuda;
    add("gemm", "other").target = model::Target::cuda;
    // The added option is the shell's name, $0.
    const std::string option =
        "[ \"$0\" = --no-cupti ] && : > " + (folder_ / "untraced").string() + "$n\n";
    facts({{}, {}});
    reply(MeasureReply{measured(0, 0), false}, option);
    reply(MeasureReply{measured(1, 0), false}, option);
    CaseResult noted = submitted(measured(0, 0));
    noted.notes = {"of the first"};
    reply(MeasureReply{noted, false}, option);
    reply(MeasureReply{measured(0, 1), false}, option);
    reply(MeasureReply{measured(1, 1), false}, option);
    noted = submitted(measured(0, 1));
    noted.notes = {"of the second"};
    reply(MeasureReply{noted, false}, option);
    const model::Run finished = run();

    const auto requests = asked();
    ASSERT_EQ(requests.size(), 7U);
    for (std::size_t i = 1; i < requests.size(); ++i) {
        const bool untraced = i == 3 || i == 6;
        const auto& settings = std::get<MeasureRequest>(requests[i]).settings;
        EXPECT_EQ(settings.untraced, untraced) << i;
        EXPECT_EQ(settings.process, i < 4 ? 0 : 1) << i;
        EXPECT_EQ(fs::exists(folder_ / ("untraced" + std::to_string(i))), untraced) << i;
    }
    const CaseResult& result = finished.suites[0].cases[0];
    EXPECT_EQ(processes_of(result), (Numbers{0, 1}));
    EXPECT_EQ(result.metrics.at("submit_time").batches.size(), 2U);
    EXPECT_EQ(result.notes, (std::vector<std::string>{"of the first", "of the second"}));
    EXPECT_EQ(journaled(0).metrics, result.metrics);
    EXPECT_EQ(journaled(0).notes, result.notes);
    EXPECT_FALSE(finished.suites[0].cases[1].metrics.contains("submit_time"));
}

TEST_F(DeviceChainTest, ACaseWhoseSubmissionFailsHasFailed) {
    options_.processes = 1;
    add("gemm", "tiled", {"gpu_time", "submit_time"}).target = model::Target::cuda;
    for (const auto& [answer, why] : std::vector<std::pair<Reply, std::string>>{
             {FailedReply{"boom", false, false}, "boom"},
             {BoardStateReply{}, "does not match the request"}}) {
        for (const char* part : {"asked", "answers"}) {
            fs::remove_all(folder_ / part);
            fs::create_directories(folder_ / part);
        }
        scripted_ = 0;
        facts({{}});
        reply(MeasureReply{measured(0, 0), false});
        reply(answer);
        const model::Run finished = run();
        const CaseResult& failed = finished.suites[0].cases[0];
        EXPECT_EQ(failed.status, CaseStatus::error);
        EXPECT_NE(failed.reason.find("submission"), std::string::npos) << failed.reason;
        EXPECT_NE(failed.reason.find(why), std::string::npos) << failed.reason;
        EXPECT_EQ(journaled(0).status, CaseStatus::error);
    }
}

TEST_F(DeviceChainTest, WhatFailsInALaterProcessHasFailed) {
    options_.processes = 2;
    add("gemm", "tiled");
    add("gemm", "other");
    CaseResult wrong = measured(0, 1);
    wrong.status = CaseStatus::error;
    wrong.reason = "no memory";
    const std::vector<std::pair<Reply, std::string>> answers = {
        {FailedReply{"boom", false, false}, "boom"},
        {MeasureReply{wrong, false}, "no memory"},
        {MeasureReply{measured(1, 1), false}, "does not match"},
        {BoardStateReply{}, "does not match"},
    };
    for (const auto& [answer, why] : answers) {
        for (const char* part : {"asked", "answers"}) {
            fs::remove_all(folder_ / part);
            fs::create_directories(folder_ / part);
        }
        scripted_ = 0;
        facts({{}, {}});
        reply(MeasureReply{measured(0, 0), false});
        reply(MeasureReply{measured(1, 0), false});
        reply(answer, "echo beware >&2; ");
        reply(MeasureReply{measured(1, 1), false});
        const model::Run finished = run();
        const CaseResult& failed = finished.suites[0].cases[0];
        EXPECT_EQ(failed.status, CaseStatus::error) << why;
        EXPECT_NE(failed.reason.find("process 1"), std::string::npos) << failed.reason;
        EXPECT_NE(failed.reason.find(why), std::string::npos) << failed.reason;
        EXPECT_EQ(failed.log, "beware\n");
        EXPECT_TRUE(failed.metrics.empty());
        EXPECT_GT(failed.wall_s, 2);
        EXPECT_EQ(journaled(0).status, CaseStatus::error) << why;
        EXPECT_EQ(processes_of(finished.suites[0].cases[1]), (Numbers{0, 1}));
    }
}

TEST_F(DeviceChainTest, WhatFailsInTheFirstProcessSaysWhyWithItsLog) {
    options_.processes = 1;
    add("gemm", "refused");
    add("gemm", "lost");
    add("gemm", "fine");
    facts({{}, {}, {}});
    reply(FailedReply{"boom", false, false}, "echo beware >&2; ");
    CaseResult lost = planned_result(1);
    lost.status = CaseStatus::error;
    lost.reason = "device lost";
    reply(MeasureReply{lost, true}, "echo Xid 43 >&2; ");
    reply(MeasureReply{measured(2, 1), false}, "echo idle talk >&2; ");
    const model::Run finished = run();
    const auto& cases = finished.suites[0].cases;
    EXPECT_EQ(cases[0].reason, "boom");
    EXPECT_EQ(cases[0].log, "beware\n");
    EXPECT_EQ(cases[1].reason, "device lost");
    EXPECT_EQ(cases[1].log, "Xid 43\n");
    EXPECT_EQ(cases[2].log, "");
    const auto requests = asked();
    ASSERT_EQ(requests.size(), 4U);
    EXPECT_EQ(std::get<MeasureRequest>(requests[2]).settings.process, 0);
    EXPECT_EQ(std::get<MeasureRequest>(requests[3]).settings.process, 1) << "after a lost device";
    EXPECT_EQ(done_, 3U);
}

TEST_F(DeviceChainTest, AWorkerThatDiesBeforeItBeganIsReplacedTwice) {
    options_.processes = 1;
    add("gemm", "tiled");
    facts({{}});
    for (int i = 0; i < 3; ++i) script("exit 7");
    const model::Run finished = run();
    EXPECT_EQ(asked().size(), 4U);
    EXPECT_EQ(std::get<MeasureRequest>(asked()[3]).settings.process, 2);
    const CaseResult& result = finished.suites[0].cases[0];
    EXPECT_EQ(result.status, CaseStatus::error);
    EXPECT_NE(result.reason.find("code 7"), std::string::npos) << result.reason;
    EXPECT_GT(result.wall_s, 0);
}

TEST_F(DeviceChainTest, AWorkerThatDiedBeforeItBeganIsANoteOfTheCaseThatAnotherMeasured) {
    options_.processes = 2;
    add("gemm", "tiled");
    facts({{}});
    reply(MeasureReply{measured(0, 0)});
    for (int i = 0; i < 2; ++i) script("exit 7");
    reply(MeasureReply{measured(0, 3)});
    const CaseResult result = run().suites[0].cases[0];
    EXPECT_EQ(result.status, CaseStatus::measured);
    ASSERT_EQ(result.notes.size(), 1U);
    EXPECT_NE(result.notes[0].find("before process 3 began: 2 "), std::string::npos)
        << result.notes[0];
    EXPECT_NE(result.notes[0].find("code 7"), std::string::npos) << result.notes[0];
}

TEST_F(DeviceChainTest, AWorkerThatDiesOverACaseIsNotAskedAgain) {
    options_.processes = 1;
    add("gemm", "tiled");
    facts({{}});
    script(phase("verify") + "exit 7");
    const model::Run finished = run();
    EXPECT_EQ(asked().size(), 2U);
    EXPECT_NE(finished.suites[0].cases[0].reason.find("verify"), std::string::npos);
}

TEST_F(DeviceChainTest, ACaseThatTakesTooLongIsEndedAndTheOptionNamed) {
    options_.processes = 1;
    options_.case_limit_s = 0.2;
    add("gemm", "tiled");
    facts({{}});
    script(phase("time") + "sleep 60");
    const model::Run finished = run();
    EXPECT_EQ(asked().size(), 2U);
    EXPECT_NE(finished.suites[0].cases[0].reason.find("0.2 s"), std::string::npos);
    EXPECT_NE(finished.suites[0].cases[0].reason.find("--time-limit"), std::string::npos);
}

TEST_F(DeviceChainTest, ARecordedLaunchIsOfItsCaseAndMayStandForIt) {
    options_.processes = 1;
    add("gemm", "same");
    add("gemm", "failing");
    add("gemm", "mixed-up");
    add_program("app", "program", 0);
    facts({{}, {}, {}});
    reply(MeasureReply{measured(0, 0), false}, phase("code"));
    CaseResult failed = planned_result(1);
    failed.status = CaseStatus::error;
    reply(MeasureReply{failed, false});
    reply(MeasureReply{measured(0, 0), false});
    reply(MeasureReply{measured(1, 1), false});
    reply(MeasureReply{measured(2, 1), false});
    const model::Run finished = run([](Session&) {},
                                    [](Session& session) {
                                        std::vector<RecordedLaunch> launches =
                                            session.record_launches();
                                        ASSERT_EQ(launches.size(), 1U);
                                        EXPECT_EQ(launches[0].at.index, 0U);
                                        session.leave_out(std::move(launches[0]), "unchanged");
                                    });
    const auto requests = asked();
    ASSERT_EQ(requests.size(), 6U);
    for (std::size_t i = 1; i < 6; ++i) {
        const auto& settings = std::get<MeasureRequest>(requests[i]).settings;
        EXPECT_EQ(settings.code_only, i < 4) << i;
        EXPECT_EQ(settings.process, i < 4 ? 0 : 1) << "times come from a process of their own";
    }
    const CaseResult& left_out = finished.suites[0].cases[0];
    EXPECT_EQ(left_out.status, CaseStatus::skipped);
    EXPECT_TRUE(left_out.unchanged);
    EXPECT_EQ(left_out.reason, "unchanged");
    EXPECT_TRUE(left_out.metrics.contains("gpu_time"));
    EXPECT_EQ(total_, 3U);
    EXPECT_TRUE(phases_.contains("gemm/same code"));
    EXPECT_TRUE(finished.phase_s.contains("code"));
}

TEST_F(DeviceChainTest, WhatAVariantCannotRunIsSkippedWithItsReason) {
    options_.processes = 1;
    add("gemm", "narrow");
    add("gemm", "fine");
    facts({{.unsupported = "too narrow", .work = {}}, {}});
    reply(MeasureReply{measured(1, 0), false});
    const model::Run finished = run();
    EXPECT_EQ(finished.suites[0].cases[0].status, CaseStatus::skipped);
    EXPECT_EQ(finished.suites[0].cases[0].reason, "too narrow");
    EXPECT_EQ(finished.suites[0].cases[1].status, CaseStatus::measured);
}

// --- counters

using Metrics = std::vector<std::string>;

class CountersTest : public DeviceChainTest {
  protected:
    void SetUp() override {
        DeviceChainTest::SetUp();
        options_.processes = 1;
    }
    /// Cases with counters, of so much device memory each, and their first measurement.
    void add_counted(const std::vector<std::uint64_t>& memory_bytes,
                     const Metrics& metrics = {"gpu_time", "instructions"}) {
        for (const std::uint64_t bytes : memory_bytes) {
            add("gemm", "v" + std::to_string(facts_.size()), metrics);
            CaseFacts facts;
            facts.memory_bytes = bytes;
            facts_.push_back(facts);
        }
    }
    void measure_all_first() {
        facts(facts_);
        for (std::size_t i = 0; i < facts_.size(); ++i) {
            reply(MeasureReply{measured(i, 0), false});
        }
    }
    CaseResult counted(std::size_t index) const {
        CaseResult result = measured(index, 0);
        result.metrics["instructions"].value = 42;
        return result;
    }
    void reply_counted(const Sizes& indices) {
        CountersReply answer;
        for (const std::size_t index : indices) answer.results.push_back(counted(index));
        reply(answer);
    }
    std::vector<CaseFacts> facts_;
};

TEST_F(CountersTest, OfManyCasesComeFromOneSession) {
    add_counted({10, 10, 10});
    measure_all_first();
    reply_counted({0, 1, 2});
    const model::Run finished = run();
    EXPECT_EQ(counter_sessions(), Sizes{3});
    const auto request = std::get<CountersRequest>(asked().at(4));
    EXPECT_EQ(request.jobs[1].result.metrics, measured(1, 0).metrics);
    EXPECT_EQ(request.jobs[1].settings.metrics, (Metrics{"gpu_time", "instructions"}));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(finished.suites[0].cases[i].metrics.at("instructions").value, 42);
        EXPECT_TRUE(journaled(i).metrics.contains("instructions"));
    }
}

TEST_F(CountersTest, ASessionTakesTwoFifthsOfTheDevicesMemory) {
    add_counted({200, 200, 200, 201, 400, 1000, 10});
    measure_all_first();
    for (const Sizes& session : {Sizes{0, 1}, {2}, {3}, {4}, {5}, {6}}) reply_counted(session);
    run();
    EXPECT_EQ(counter_sessions(), (Sizes{2, 1, 1, 1, 1, 1}));
}

TEST_F(CountersTest, ASessionIsOfOneSetOfMetrics) {
    add_counted({10, 10});
    add_counted({10}, {"gpu_time", "dram_bytes"});
    add_counted({10});
    measure_all_first();
    for (const Sizes& session : {Sizes{0, 1}, {2}, {3}}) reply_counted(session);
    run();
    EXPECT_EQ(counter_sessions(), (Sizes{2, 1, 1}));
}

TEST_F(CountersTest, AreNotAskedForWhereThereAreNone) {
    add_counted({10}, {"gpu_time", "registers"});
    add_counted({10});
    plan_.suites[0].cases[1].target = model::Target::host;
    add_counted({10});
    facts(facts_);
    reply(MeasureReply{measured(0, 0), false});
    reply(MeasureReply{measured(1, 0), false});
    reply(FailedReply{"boom", false, false});
    run();
    EXPECT_EQ(counter_sessions(), Sizes{});
}

TEST_F(CountersTest, ASessionThatFailsIsHalvedUntilTheCaseStandsAlone) {
    add_counted({10, 10, 10, 10});
    measure_all_first();
    const FailedReply failed{"boom", false, false};
    reply(failed);
    reply_counted({0, 1});
    reply(failed);
    reply(failed, "echo beware >&2; ");
    reply_counted({3});
    const model::Run finished = run();
    EXPECT_EQ(counter_sessions(), (Sizes{4, 2, 2, 1, 1}));
    const auto& cases = finished.suites[0].cases;
    for (const std::size_t i : {0U, 1U, 3U}) {
        EXPECT_EQ(cases[i].metrics.at("instructions").value, 42) << i;
    }
    EXPECT_EQ(cases[2].status, CaseStatus::measured);
    ASSERT_EQ(cases[2].not_collected.size(), 1U);
    EXPECT_EQ(cases[2].not_collected[0].metric, "instructions");
    EXPECT_TRUE(cases[2].not_collected[0].reason.ends_with("boom"));
    EXPECT_EQ(cases[2].log, "beware\n");
    EXPECT_EQ(journaled(2).not_collected, cases[2].not_collected);
}

TEST_F(CountersTest, CollectedAgainJoinTheFirstAndFailuresLeaveThem) {
    add_counted({10, 10});
    measure_all_first();
    const auto counts = [&](const Sizes& indices, double value) {
        CountersReply answer;
        for (const std::size_t index : indices) {
            CaseResult& result = answer.results.emplace_back(measured(index, 0));
            model::MetricSeries& series = result.metrics["instructions"];
            series.unit = "count";
            series.value = value + 10 * static_cast<double>(index);
            series.batches = {{0, "b1", 1, {series.value}}};
        }
        reply(answer);
    };
    counts({0, 1}, 40);
    counts({1, 0}, 41);
    reply(FailedReply{"boom", false, false});
    reply(FailedReply{"boom", false, false});
    reply(FailedReply{"boom", false, false});
    const model::Run finished = run([](Session& session) {
        session.collect_again({{0, 0}, {0, 1}}, 1, 2);
    });
    EXPECT_EQ(counter_sessions(), (Sizes{2, 2, 2, 1, 1}));
    for (std::size_t i = 0; i < 2; ++i) {
        const CaseResult& result = finished.suites[0].cases[i];
        EXPECT_TRUE(result.not_collected.empty());
        const std::vector<model::Batch>& batches = result.metrics.at("instructions").batches;
        ASSERT_EQ(batches.size(), 2U);
        EXPECT_EQ(batches[0].round, 0);
        EXPECT_EQ(batches[1].round, 1);
        EXPECT_EQ(batches[1].samples, std::vector<double>{i == 0 ? 41.0 : 51.0});
        EXPECT_EQ(result.metrics.at("gpu_time"), measured(i, 0).metrics.at("gpu_time"));
        EXPECT_EQ(last_round(result), 0) << "times have no round yet";
    }
    const auto again = std::get<CountersRequest>(asked().at(4));
    EXPECT_FALSE(again.jobs[0].result.metrics.contains("instructions"));
}

TEST_F(CountersTest, EverySecondCollectionTakesTheCasesBackwards) {
    add_counted({10, 10});
    measure_all_first();
    for (const Sizes& order : {Sizes{0, 1}, {1, 0}, {0, 1}, {1, 0}}) reply_counted(order);
    const model::Run finished = run([](Session& session) {
        session.collect_again({{0, 0}, {0, 1}}, 1, 2);
        session.collect_again({{0, 0}, {0, 1}}, 2, 1);
    });
    std::vector<std::string> first;
    for (const Request& request : asked()) {
        if (const auto* counters = std::get_if<CountersRequest>(&request)) {
            first.push_back(counters->jobs.at(0).result.spec.variant);
        }
    }
    EXPECT_EQ(first, (std::vector<std::string>{"v0", "v1", "v0", "v1"}));
    for (const CaseResult& result : finished.suites[0].cases) {
        EXPECT_TRUE(result.not_collected.empty());
    }
}

TEST_F(CountersTest, AreCollectedAgainInProcessesThatMeasureTimesAndThenInTheirOwn) {
    add_counted({10, 10});
    measure_all_first();
    reply_counted({0, 1});
    for (const std::size_t index : {0, 1}) reply(MeasureReply{measured(index, 1), false});
    reply_counted({1, 0});
    reply_counted({0, 1});
    run([](Session& session) { session.fill_up({{0, 0}, {0, 1}}, 2, 2); });
    EXPECT_EQ(counter_sessions(), (Sizes{2, 2, 2}));
    const std::vector<Request> requests = asked();
    ASSERT_EQ(requests.size(), 8U);
    const auto process_of = [&](std::size_t at) {
        return std::get<CountersRequest>(requests[at]).jobs.at(0).settings.process;
    };
    EXPECT_EQ(std::get<MeasureRequest>(requests[5]).settings.process, 1);
    EXPECT_EQ(process_of(6), 1);
    EXPECT_EQ(process_of(7), 2);
}

TEST_F(CountersTest, OfOtherCasesAreRefused) {
    add_counted({10, 10});
    measure_all_first();
    reply_counted({1, 0});
    reply_counted({0, 1});
    reply_counted({1});
    const model::Run finished = run();
    EXPECT_EQ(counter_sessions(), (Sizes{2, 1, 1}));
    EXPECT_FALSE(finished.suites[0].cases[0].metrics.contains("instructions"));
    EXPECT_NE(finished.suites[0].cases[0].not_collected.at(0).reason.find("does not match"),
              std::string::npos);
    EXPECT_EQ(finished.suites[0].cases[1].metrics.at("instructions").value, 42);
}

TEST_F(CountersTest, OfAResumedRunAreCollectedWhereTheyWereNot) {
    add_counted({10, 10, 10});
    JournalContent before;
    before.cases[{"s", "gemm/v0"}] = measured(0, 0);
    before.cases[{"s", "gemm/v1"}] = counted(1);
    before.cases[{"s", "gemm/v2"}] = measured(2, 0);
    before.cases[{"s", "gemm/v2"}].not_collected = {{"instructions", "no permission"}};
    options_.resumed = &before;
    facts(facts_);
    reply_counted({0});
    run();
    EXPECT_EQ(asked().size(), 2U);
    EXPECT_EQ(counter_sessions(), Sizes{1});
}

TEST_F(CountersTest, AreNotCollectedWhenVerifyingAlone) {
    add_counted({10});
    options_.verify_only = true;
    measure_all_first();
    run();
    EXPECT_EQ(asked().size(), 2U);
}

}  // namespace
}  // namespace perfgate::measure
