// SPDX-License-Identifier: Apache-2.0
#include "measure/journal.hpp"
#include "kinds/command/command.hpp"
#include "kinds/source/source.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "unit/temporary_folder.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::measure {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
  protected:
    fs::path file() const { return folder_ / "journal.jsonl"; }
    void write(const std::string& text) const { std::ofstream(file()) << text; }
    std::string refusal() const {
        try {
            read_journal(folder_);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "";
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
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

TEST_F(JournalTest, TheEndOfARunIsMarked) {
    {
        Journal journal(folder_, header_);
        journal.add("suite", measured(0, 10));
        EXPECT_FALSE(read_journal(folder_).finished);
        journal.finish();
    }
    EXPECT_TRUE(read_journal(folder_).finished);
    EXPECT_EQ(read_journal(folder_).cases.size(), 1U);
    remove_journal(folder_);
    EXPECT_FALSE(fs::exists(file()));
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
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlimit small = limit;
    small.rlim_cur = fs::file_size(file()) + 100;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    journal.add("suite", measured(0, 10));
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, previous);
    EXPECT_NE(journal.problem().find("File too large"), std::string::npos) << journal.problem();
}

TEST_F(JournalTest, ItTakesThePlaceOfAPipeOrALinkAndWhatThatPointsToStays) {
    fs::create_directories(folder_);
    ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
    { const Journal journal(folder_, header_); }
    EXPECT_EQ(read_journal(folder_).header.identity, header_.identity);
    fs::rename(file(), folder_ / "victim");
    fs::create_symlink("victim", file());
    const auto size = fs::file_size(folder_ / "victim");
    {
        Journal journal(folder_, header_);
        journal.add("suite", measured(0, 10));
    }
    EXPECT_FALSE(fs::is_symlink(file()));
    EXPECT_EQ(fs::file_size(folder_ / "victim"), size);
}

TEST_F(JournalTest, ALinkIsNotContinued) {
    { const Journal journal(folder_, header_); }
    const JournalContent content = read_journal(folder_);
    fs::rename(file(), folder_ / "victim");
    fs::create_symlink("victim", file());
    EXPECT_THROW(Journal(folder_, content), util::InputError);
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

std::shared_ptr<const model::Subject> program(command::Command command, command::Piece piece) {
    return std::make_shared<const command::Program>(
        std::make_shared<const command::Command>(std::move(command)), std::move(piece));
}

TEST(Identity, EveryCircumstanceOfARunIsAField) {
    model::PlannedSuite suite;
    suite.name = "s";
    suite.cases.resize(1);
    suite.cases[0].spec = {"app", "step", {}, model::Cache::cold};
    suite.cases[0].gates = {{"gpu_time", {0.03, 0.1, 400}, 0.05}};
    suite.cases[0].group = 0;
    suite.cases[0].subject = program({}, {});
    const model::Plan plan{{suite}};
    const model::Environment environment;
    struct Change {
        std::string field;
        std::function<void(model::Plan&, model::Environment&)> make;
    };
    const auto in_case = [](auto change) {
        return Change{"case s: app/step", [change](model::Plan& p, model::Environment&) {
                          change(p.suites[0].cases[0]);
                      }};
    };
    const auto in_command = [](auto change) {
        return Change{"command s: app", [change](model::Plan& p, model::Environment&) {
                          model::PlannedCase& planned = p.suites[0].cases[0];
                          command::Command command = command::command_of(*planned.subject);
                          change(command);
                          planned.subject = program(std::move(command), {});
                      }};
    };
    const auto in_piece = [](auto change) {
        return Change{"case s: app/step", [change](model::Plan& p, model::Environment&) {
                          command::Piece piece;
                          change(piece);
                          p.suites[0].cases[0].subject = program({}, std::move(piece));
                      }};
    };
    const auto in_environment = [](const std::string& field, auto change) {
        return Change{field, [change](model::Plan&, model::Environment& e) { change(e) = "x"; }};
    };
    using Case = model::PlannedCase;
    using Command = command::Command;
    using Piece = command::Piece;
    using Environment = model::Environment;
    const std::vector<Change> changes = {
        in_case([](Case& c) { c.seed = 2; }),
        in_case([](Case& c) { c.precision = 2; }),
        in_case([](Case& c) { c.time_budget_s = 2; }),
        in_case([](Case& c) { c.deterministic = true; }),
        in_case([](Case& c) { c.metrics = {"x"}; }),
        in_case([](Case& c) { c.gates.clear(); }),
        in_case([](Case& c) { c.gates[0].metric = "x"; }),
        in_case([](Case& c) { c.gates[0].tolerance.worse = 2; }),
        in_case([](Case& c) { c.gates[0].tolerance.better = 2; }),
        in_case([](Case& c) { c.gates[0].tolerance.abs = 2; }),
        in_case([](Case& c) { c.gates[0].tolerance.severity = model::Severity::warn; }),
        in_case([](Case& c) { c.gates[0].tolerance.tail = 0.2; }),
        in_case([](Case& c) { c.gates[0].cross_board = 2; }),
        in_case([](Case& c) {
            c.subject = std::make_shared<const model::Subject>();
            c.group.reset();
        }),
        in_piece([](Piece& p) { p.kind = Piece::Kind::range; }),
        in_piece([](Piece& p) { p.pattern = "x"; }),
        in_piece([](Piece& p) { p.within = "x"; }),
        in_piece([](Piece& p) { p.own_thread = true; }),
        in_piece([](Piece& p) { p.skip = 2; }),
        in_case([](Case& c) { c.skip_reason = "x"; }),
        in_case([](Case& c) {
            c.subject = std::make_shared<const source::Source>(model::SourceKernel{});
            c.group.reset();
        }),
        in_command([](Command& c) { c.words = {"x"}; }),
        in_command([](Command& c) { c.folder = "x"; }),
        in_command([](Command& c) { c.exit_status = 2; }),
        in_command([](Command& c) { c.warm_up_runs = 2; }),
        in_command([](Command& c) { c.check = {"x"}; }),
        in_command([](Command& c) { c.capture.profiler_api = true; }),
        in_command([](Command& c) { c.capture.after_launches = 2; }),
        in_command([](Command& c) { c.capture.range = "x"; }),
        in_command([](Command& c) {
            c.environment = {{"x", "y"}};
        }),
        in_environment(
            "device", [](Environment & e) -> auto& { return e.device.key; }),
        in_environment(
            "board", [](Environment & e) -> auto& { return e.device.board; }),
        in_environment(
            "driver", [](Environment & e) -> auto& { return e.driver; }),
        in_environment(
            "CUDA driver", [](Environment & e) -> auto& { return e.cuda_driver; }),
        in_environment(
            "CUDA toolkit", [](Environment & e) -> auto& { return e.cuda_toolkit; }),
        in_environment(
            "CUPTI", [](Environment & e) -> auto& { return e.cupti; }),
        in_environment(
            "kernel", [](Environment & e) -> auto& { return e.kernel; }),
        in_environment(
            "cpu", [](Environment & e) -> auto& { return e.cpu; }),
    };
    const Identity before = identity_of(plan, environment);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        model::Plan changed_plan = plan;
        model::Environment changed_environment = environment;
        changes[i].make(changed_plan, changed_environment);
        const std::string found =
            difference(before, identity_of(changed_plan, changed_environment));
        EXPECT_TRUE(found.starts_with(changes[i].field + " was ")) << i << ": " << found;
    }
    EXPECT_EQ(difference({}, {{"a", "1"}}), "a was absent, is now '1'");
    EXPECT_EQ(difference({{"a", "1"}}, {}), "a was '1', is now absent");
}

TEST_F(JournalTest, AProgramThatWasEditedIsAnother) {
    model::Plan plan;
    model::PlannedCase& planned = plan.suites.emplace_back().cases.emplace_back();
    planned.group = 0;
    command::Command command;
    command.words = {"sh", "step.sh", "--file=step.sh", "missing"};
    command.check = {"./check.sh"};
    command.folder = folder_;
    const auto identity = [&] {
        planned.subject = program(command, {});
        return identity_of(plan, {});
    };
    std::ofstream(folder_ / "step.sh") << "1";
    std::ofstream(folder_ / "check.sh") << "1";
    const Identity before = identity();
    EXPECT_EQ(difference(before, identity()), "");
    for (const char* file : {"step.sh", "check.sh"}) {
        std::ofstream(folder_ / file) << "2";
        EXPECT_NE(difference(before, identity()), "") << file;
        std::ofstream(folder_ / file) << "1";
    }
    std::ofstream(folder_ / "missing") << "what the program wrote";
    EXPECT_EQ(difference(before, identity()), "");
    command.words = {"./check.sh", "results"};
    const Identity of_program = identity();
    std::ofstream(folder_ / "results") << "what the program wrote";
    EXPECT_EQ(difference(of_program, identity()), "");

    // Found in its own PATH, in which a folder may be relative to the program's.
    std::filesystem::create_directory(folder_ / "bin");
    const auto file = folder_ / "bin/of-its-path";
    std::ofstream(file) << "1";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    command.words = {"of-its-path"};
    command.environment = {{"PATH", "/nowhere:bin"}};
    const Identity in_path = identity();
    std::ofstream(file) << "2";
    EXPECT_NE(difference(in_path, identity()), "");
}

}  // namespace
}  // namespace perfgate::measure
