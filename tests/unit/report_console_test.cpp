// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "report/columns.hpp"
#include "report/commands.hpp"
#include "report/formats.hpp"
#include "report_fixture.hpp"
#include "report_hostile.hpp"
#include "util/text.hpp"

namespace perfgate::report {
namespace {

std::vector<std::string> console_lines(const Documents& documents, const Options& options = {}) {
    std::stringstream text(write_console(documents.verdict, documents.run, options));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

/// The number of the first line that contains `text`; the number of lines where none does.
std::size_t line_with(const std::vector<std::string>& lines, const std::string& text) {
    std::size_t i = 0;
    while (i < lines.size() && lines[i].find(text) == std::string::npos) ++i;
    return i;
}

TEST(Console, ShowsTheWorstFirst) {
    const std::vector<std::string> lines = console_lines(every_verdict());
    const std::size_t regressed = line_with(lines, "regressed  ");
    const std::size_t error = line_with(lines, "error  ");
    const std::size_t improved = line_with(lines, "improved  ");
    const std::size_t incorrect = line_with(lines, "incorrect  ");
    EXPECT_LT(incorrect, regressed);
    EXPECT_LT(error, regressed);
    EXPECT_LT(regressed, improved);
    EXPECT_LT(improved, lines.size());
}

TEST(Console, NamesEveryFailedMetricUnderItsCaseIfAsked) {
    Options options;
    options.list_all = true;
    const std::vector<std::string> lines = console_lines(every_verdict(), options);
    const std::size_t row = line_with(lines, "gemm/tiled[dtype=f32,k=2048");
    ASSERT_LT(row + 2, lines.size());
    EXPECT_NE(lines[row].find("444.4 µs"), std::string::npos) << lines[row];
    EXPECT_NE(lines[row + 1].find("gpu_time regressed: 400.0 µs → 444.4 µs"), std::string::npos);
    EXPECT_NE(lines[row + 2].find("registers regressed: 96 → 128"), std::string::npos);
}

// A benchmark has none of the kernels' times.
TEST(Console, WhatPassedShowsItsGatedMetricIfAsked) {
    Documents documents;
    model::CaseVerdict& verdict = documents.verdict.suites.emplace_back().cases.emplace_back();
    verdict.id = "bench/sum";
    model::MetricVerdict& gated = verdict.metrics.emplace_back();
    gated.metric = "cpu_time";
    gated.unit = "ns";
    gated.baseline = 82500;
    gated.measured = 82180;
    Options options;
    options.list_all = true;
    const std::vector<std::string> lines = console_lines(documents, options);
    const std::size_t row = line_with(lines, "bench/sum");
    ASSERT_LT(row, lines.size());
    EXPECT_NE(lines[row].find("82.50 µs"), std::string::npos) << lines[row];
    EXPECT_NE(lines[row].find("82.18 µs"), std::string::npos) << lines[row];
    EXPECT_LT(line_with(lines, "cpu_time"), row);
}

TEST(Console, SaysWhereTheChangedKernelIsIfAsked) {
    Options options;
    options.list_all = true;
    const std::vector<std::string> lines =
        console_lines(regressed_by_kernel({"kernels/gemm/tiled.cu", 41}), options);
    EXPECT_LT(line_with(lines, "changed: gemm_tiled, kernels/gemm/tiled.cu:41"), lines.size());
}

TEST(Console, BeginsWithTheSentenceAndGivesEachCaseALineWithItsReason) {
    const std::vector<std::string> lines = console_lines(every_verdict());
    EXPECT_TRUE(lines[0].starts_with("1 case computes a wrong result; ")) << lines[0];
    const std::size_t row = line_with(lines, "gemm/tiled[dtype=f32,k=2048");
    ASSERT_LT(row + 1, lines.size());
    EXPECT_NE(lines[row].find("+11.1 %"), std::string::npos) << lines[row];
    EXPECT_EQ(lines[row + 1],
              "    more registers (96 → 128), so that fewer warps fit, in gemm_tiled");
}

TEST(Console, FitsEightyColumnsWhereThereIsNoTerminal) {
    for (const Documents& documents : {every_verdict(), first_run()}) {
        for (const std::string& line : console_lines(documents)) {
            EXPECT_LE(display_width(line), 80U) << line;
        }
    }
}

TEST(Console, FoldsNotesOfCasesUnlessAskedAndShowsThoseOfSuites) {
    Options options;
    EXPECT_LT(line_with(console_lines(every_verdict(), options), "1 note on cases of"),
              console_lines(every_verdict()).size());
    EXPECT_LT(line_with(console_lines(every_verdict()), "note: driver changed"),
              console_lines(every_verdict()).size());
    EXPECT_EQ(line_with(console_lines(every_verdict()), "another board"),
              console_lines(every_verdict()).size());
    options.list_all = true;
    const std::vector<std::string> all = console_lines(every_verdict(), options);
    EXPECT_LT(line_with(all, "note: driver changed"), all.size());
    EXPECT_LT(line_with(all, "not applicable: host_time"), all.size());
}

/// The command behind a heading, in one line.
std::string command_at(const std::vector<std::string>& lines, const std::string& heading) {
    std::string command;
    for (std::size_t at = line_with(lines, heading) + 1; at < lines.size(); ++at) {
        const std::string& line = lines[at];
        if (!line.ends_with(" \\")) return command + line.substr(command.empty() ? 0 : 4);
        command +=
            line.substr(command.empty() ? 0 : 4, line.size() - 1 - (command.empty() ? 0 : 4));
    }
    return command;
}

TEST(Console, FoldsLongCommandsAsAShellReadsThem) {
    const std::string command =
        "perfgate run suites/gemm.yaml --filter 'gemm/tiled[dtype=f32,k=2048]' --why --plugin "
        "'it'\\''s here.so' --config ci.yaml";
    EXPECT_EQ(folded_command(command, 1000), command);
    EXPECT_EQ(folded_command(command, 60),
              "perfgate run suites/gemm.yaml \\\n"
              "    --filter 'gemm/tiled[dtype=f32,k=2048]' --why \\\n"
              "    --plugin 'it'\\''s here.so' --config ci.yaml");
    // A word is never divided.
    EXPECT_EQ(folded_command("perfgate run a/very/long/file.yaml b.yaml", 14),
              "perfgate run \\\n    a/very/long/file.yaml \\\n    b.yaml");
}

TEST(Console, EveryGatedMetricThatRegressedIsNamed) {
    Documents documents = every_verdict();
    model::CaseVerdict* regressed = nullptr;
    for (model::CaseVerdict& each : documents.verdict.suites[0].cases) {
        if (each.verdict == model::Verdict::regressed) regressed = &each;
    }
    ASSERT_NE(regressed, nullptr);
    const std::vector<std::string> before = console_lines(documents, {});
    EXPECT_EQ(line_with(before, "also regressed"), before.size())
        << "the sentence of the group names the registers";
    regressed->metrics.push_back(regressed->metrics.back());
    regressed->metrics.back().metric = "allocs";
    regressed->metrics.back().verdict = model::Verdict::regressed;
    regressed->metrics.back().baseline = 1;
    regressed->metrics.back().measured = 3;
    // A figure of the cause that its brief leaves out.
    regressed->why.front().figures.push_back({"allocs", "count", 1, 3});
    const std::vector<std::string> lines = console_lines(documents, {});
    EXPECT_EQ(line_with(lines, "also regressed: allocs 1 → 3"),
              line_with(lines, "    more registers") + 1);
}

TEST(Console, EndsWithCommandsToPaste) {
    Options options;
    options.commands.run_file = "out dir/run.json";
    options.commands.gate_words = {"--config", "ci.yaml"};
    options.commands.again_words = {"--plugin", "it's.so", "--config", "ci.yaml"};
    const std::vector<std::string> lines = console_lines(every_verdict(), options);
    EXPECT_EQ(command_at(lines, "report why:"),
              "  perfgate report 'out dir/run.json' --why --filter "
              "'gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]' --config ci.yaml");
    const std::string again = command_at(lines, "run again:");
    EXPECT_TRUE(again.starts_with("  perfgate run suites/gemm.yaml --filter ")) << again;
    EXPECT_TRUE(again.ends_with(" --plugin 'it'\\''s.so' --config ci.yaml")) << again;
    EXPECT_LT(line_with(lines, "  perfgate baseline accept 'out dir/run.json' --filter "),
              lines.size());
    // Imported results were measured by another program.
    Documents imported = every_verdict();
    imported.verdict.backend = "imported";
    const std::vector<std::string> of_results = console_lines(imported, options);
    EXPECT_EQ(line_with(of_results, "run again:"), of_results.size());
    EXPECT_LT(line_with(of_results, "report why:"), of_results.size());
    EXPECT_LT(line_with(of_results, "accept:"), of_results.size());
    // Without a cause there is nothing that --why would say; a recording is not run again.
    Documents unexplained = every_verdict();
    for (model::CaseVerdict& each : unexplained.verdict.suites[0].cases) each.why.clear();
    options.commands.verb.clear();
    const std::vector<std::string> of_unexplained = console_lines(unexplained, options);
    EXPECT_EQ(line_with(of_unexplained, "report why:"), of_unexplained.size());
    EXPECT_EQ(line_with(of_unexplained, "again:"), of_unexplained.size());
    EXPECT_LT(line_with(of_unexplained, "accept:"), of_unexplained.size());
    // Two builds have no baseline to explain from or to accept.
    options.commands.verb = "ab";
    options.commands.again_words = {"--base", "old.so", "--head", "new.so", "--config", "ci.yaml"};
    const std::vector<std::string> of_ab = console_lines(every_verdict(), options);
    EXPECT_TRUE(
        command_at(of_ab, "ab again:").ends_with(" --base old.so --head new.so --config ci.yaml"));
    EXPECT_EQ(line_with(of_ab, "report why:"), of_ab.size());
    EXPECT_EQ(line_with(of_ab, "accept:"), of_ab.size());
    options.commands.verb = "run";
    options.commands.run_file = "-o/run.json";
    EXPECT_LT(line_with(console_lines(every_verdict(), options),
                        "  perfgate baseline accept ./-o/run.json --filter "),
              lines.size());
    // What a shell cannot be given is not offered.
    options.commands.run_file = "out\nrm -rf x";
    EXPECT_EQ(line_with(console_lines(every_verdict(), options), "report why:"),
              console_lines(every_verdict(), options).size());
}

TEST(Console, WhatTheBaselineDoesNotDecideNamesTheCommandThatDoes) {
    Options options;
    options.commands.run_file = "run.json";
    options.commands.again_words = {"--backend", "cuda",     "--config",    "ci.yaml",
                                    "--set",     "rounds=1", "--baselines", "elsewhere"};
    Documents documents = every_verdict();
    std::vector<model::CaseVerdict>& cases = documents.verdict.suites[0].cases;
    cases.resize(2);
    const std::string commit = "0123456789abcdef0123456789abcdef01234567";
    const auto decided = [&] {
        for (const Command& command : next_commands(documents.verdict, options)) {
            if (command.purpose == "decide by ab") return command.line;
        }
        return std::string();
    };
    cases[0].id = "a";
    cases[1].id = "b";
    cases[1].baseline_revision = commit;
    cases[1].verdict = model::Verdict::inconclusive;
    cases[1].doubt = model::Doubt::unclear;
    EXPECT_EQ(decided(),
              "perfgate ab --base rev:0123456789ab suites/gemm.yaml --filter b "
              "--backend cuda --config ci.yaml --set rounds=1");
    for (const std::string& revision : {std::string(), commit + "-dirty"}) {
        cases[1].baseline_revision = revision;
        EXPECT_EQ(decided(), "") << revision;
    }
    cases[1].baseline_revision = commit;
    for (const auto doubt : {model::Doubt::unaccepted, model::Doubt::too_good}) {
        cases[1].doubt = doubt;
        EXPECT_EQ(decided(), "");
    }
    cases[1].doubt = model::Doubt::baseline_disagrees;
    EXPECT_NE(decided(), "");
    cases[1].verdict = model::Verdict::regressed;
    EXPECT_EQ(decided(), "");
    cases[1].verdict = model::Verdict::inconclusive;
    options.commands.without_base = {"b"};
    EXPECT_EQ(decided(), "");
}

TEST(Console, TheLineThatAcceptsNamesJustTheCasesThatAcceptTakes) {
    const std::string slower = "'gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]'";
    Options options;
    options.commands.run_file = "run.json";
    const auto accepting = [&](const Documents& documents) {
        const std::vector<std::string> lines = console_lines(documents, options);
        const std::size_t at = std::min(line_with(lines, "accept:"), line_with(lines, "refresh:"));
        return at + 1 < lines.size() ? lines[at + 1] : std::string();
    };
    const std::string line = accepting(every_verdict());
    EXPECT_TRUE(line.starts_with("  perfgate baseline accept run.json --filter ")) << line;
    EXPECT_NE(line.find(slower), std::string::npos) << line;
    EXPECT_EQ(line.find('*'), std::string::npos) << line;
    options.commands.not_acceptable = {slower.substr(1, slower.size() - 2)};
    EXPECT_EQ(accepting(every_verdict()).find(slower), std::string::npos);
    EXPECT_EQ(accepting(first_run()), "  perfgate baseline refresh run.json") << "nothing is lost";
    EXPECT_LT(line_with(console_lines(first_run(), options), "refresh:"),
              console_lines(first_run(), options).size());
    options.commands.not_acceptable = {first_run().verdict.suites.front().cases.front().id};
    EXPECT_EQ(accepting(first_run()).find(*options.commands.not_acceptable.begin()),
              std::string::npos)
        << "a refresh of all would be refused";
    options.commands.not_acceptable.clear();
    Documents twice = every_verdict();
    twice.verdict.suites.push_back(twice.verdict.suites.front());
    twice.run.suites.push_back(twice.run.suites.front());
    EXPECT_EQ(accepting(twice), line) << "two suites with cases of one id";
    Documents not_given = every_verdict();
    model::SuiteVerdict& other = not_given.verdict.suites.emplace_back();
    other.name = "other";
    other.cases.resize(1);
    other.cases.front().id = "other/case";
    other.cases.front().verdict = model::Verdict::missing;
    EXPECT_EQ(accepting(not_given), line)
        << "the run says nothing of a suite that it was not given";
    Documents interrupted = every_verdict();
    interrupted.verdict.interrupted = true;
    EXPECT_EQ(accepting(interrupted), "") << "accept refuses the run";
}

TEST(Console, TheLineThatAcceptsTakesEachIdOnceFromSuitesThatWereGiven) {
    const auto case_of = [](const std::string& id, model::Verdict verdict) {
        model::CaseVerdict result;
        result.id = id;
        result.verdict = verdict;
        return result;
    };
    const auto suite_of = [](const std::string& file, std::vector<model::CaseVerdict> cases) {
        model::SuiteVerdict result;
        result.file = file;
        result.cases = std::move(cases);
        return result;
    };
    using model::Verdict;
    const auto changed = case_of("changed", Verdict::improved);
    const auto missing = case_of("missing", Verdict::missing);
    const auto same = case_of("same", Verdict::pass);
    Options options;
    options.commands.run_file = "run.json";
    const auto accepted = [&](std::vector<model::SuiteVerdict> suites) {
        Documents documents = every_verdict();
        documents.verdict.suites = std::move(suites);
        for (const Command& command : next_commands(documents.verdict, options)) {
            if (command.purpose == "accept") return command.line;
        }
        return std::string();
    };
    const auto line = [](const std::string& cases) {
        return "perfgate baseline accept run.json" + cases + " --reason 'WHY'";
    };
    const auto not_given = suite_of("", {case_of("changed", Verdict::missing), missing});
    EXPECT_EQ(accepted({suite_of("a", {changed, same}), not_given}), line(" --filter changed"));
    EXPECT_EQ(accepted({not_given, suite_of("a", {changed, missing})}),
              line(" --filter missing --filter changed"));
    EXPECT_EQ(accepted({suite_of("a", {changed}), suite_of("b", {changed})}),
              line(" --filter changed"));
    EXPECT_EQ(accepted({suite_of("a", {same}), not_given}), "");
    EXPECT_EQ(accepted({suite_of("a", {missing})}), line(" --filter missing"));
    EXPECT_EQ(accepted({suite_of("", {same, missing})}), line(" --filter missing"))
        << "imported results have no file";
}

TEST(Console, CountsThePassingCases) {
    const std::vector<std::string> lines = console_lines(every_verdict());
    EXPECT_EQ(line_with(lines, "k=1024,m=1024,n=1024]  60"), lines.size());
    EXPECT_LT(line_with(lines, "gemm: 2 pass, 1 incorrect, 1 regressed"), lines.size());
}

TEST(Console, WhatIsNotShownIsCountedAndListedWhereThePolicyFailsIt) {
    Documents documents = every_verdict();
    const auto row = [&] {
        const std::vector<std::string> lines = console_lines(documents);
        return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
            return line.starts_with("inconclusive") &&
                   line.find("k=576,m=576,n=576]") != std::string::npos;
        });
    };
    EXPECT_FALSE(row());
    documents.verdict.policy.not_shown_fails = true;
    EXPECT_TRUE(row());
}

TEST(Console, EndsWithTheExitCode) {
    EXPECT_EQ(console_lines(every_verdict()).back(), "1 improved, 1 skipped; exit 1");
    EXPECT_EQ(console_lines(first_run()).back(), "gemm: 3 no_baseline, 2 skipped; exit 0");
}

TEST(Console, SaysASharedReasonOnce) {
    const std::string text = write_console(first_run().verdict, first_run().run, {});
    const std::string reason = "no baseline for";
    const std::size_t at = text.find(reason);
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(text.find(reason, at + 1), std::string::npos);
}

TEST(Console, ShowsWhatWasMeasuredWithoutABaseline) {
    Options options;
    options.width = 100;
    const std::vector<std::string> lines = console_lines(first_run(), options);
    const std::size_t row = line_with(lines, "k=512,m=512,n=512]  ");
    ASSERT_LT(row, lines.size());
    EXPECT_NE(lines[row].find("107.4 ms"), std::string::npos) << lines[row];
    EXPECT_NE(lines[row].find("2.500 Gflop/s"), std::string::npos) << lines[row];
}

TEST(Console, ShowsNoRateOfACaseWithoutAValue) {
    Documents documents = first_run();
    Options options;
    options.width = 200;
    const auto shows_rate = [&] {
        return write_console(documents.verdict, documents.run, options).find("flop/s") !=
               std::string::npos;
    };
    EXPECT_TRUE(shows_rate());
    for (model::CaseResult& result : documents.run.suites[0].cases) result.metrics.clear();
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        for (model::MetricVerdict& metric : verdict.metrics) {
            metric.baseline = metric.measured;
            metric.measured.reset();
        }
    }
    EXPECT_FALSE(shows_rate());
}

TEST(Console, HasNoEscapesUnlessAsked) {
    const Documents documents = every_verdict();
    EXPECT_EQ(write_console(documents.verdict, documents.run, {}).find('\x1b'), std::string::npos);
    Options options;
    options.color = true;
    EXPECT_NE(write_console(documents.verdict, documents.run, options).find("\x1b[31m"),
              std::string::npos);
}

TEST(Console, FitsTheTerminalAndStillGivesTheFullId) {
    Options options;
    options.width = 72;
    const std::string id = "gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]";
    const std::vector<std::string> lines = console_lines(every_verdict(), options);
    EXPECT_LT(line_with(lines, "    " + id), lines.size());
    const std::size_t header = line_with(lines, "verdict  ");
    ASSERT_LT(header, lines.size());
    for (std::size_t i = header; i < lines.size() && !lines[i].empty(); ++i) {
        const bool sentence = lines[i].find(": ") != std::string::npos;
        if (sentence) continue;
        EXPECT_LE(display_width(lines[i]), options.width) << lines[i];
    }
}

TEST(Console, NeutralisesHostileText) {
    for (const std::string& text : hostile_texts()) {
        const Documents documents = hostile(text);
        for (const std::size_t width : {std::size_t{0}, std::size_t{1}, std::size_t{80}}) {
            Options options;
            options.width = width;
            options.list_all = true;
            const std::string out = write_console(documents.verdict, documents.run, options);
            EXPECT_LT(out.size(), 200000U) << text.substr(0, 40);
            for (std::size_t i = 0; i < out.size();) {
                const util::Utf8Step step = util::utf8_step(out, i);
                ASSERT_TRUE(step.valid) << text.substr(0, 40);
                ASSERT_TRUE(step.code_point == '\n' || !util::is_terminal_control(step.code_point))
                    << text.substr(0, 40);
                i += step.length;
            }
        }
    }
}

// A job's log is read by GitHub's runner, line by line.
TEST(Console, NothingHostileIsACommandToTheRunner) {
    std::vector<std::string> texts = hostile_texts();
    texts.insert(texts.end(), {"::add-mask::x", "  ::stop-commands::x", "\u00a0\u2003::error::x",
                               "x ##[add-mask]y##[z]", "##[##[add-mask]x"});
    for (const std::string& text : texts) {
        for (const std::string& line : console_lines(hostile(text))) {
            const std::size_t begin = line.find("::");
            EXPECT_TRUE(begin == std::string::npos ||
                        std::any_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(begin),
                                    [](char c) { return c > ' '; }))
                << line.substr(0, 100);
            EXPECT_EQ(line.find("##["), std::string::npos) << line.substr(0, 100);
        }
    }
}

TEST(Console, LeavesOutRowsThatNobodyReads) {
    const std::vector<std::string> lines = console_lines(many_cases(10000, 4));
    EXPECT_LT(lines.size(), 4000U);
    EXPECT_LT(line_with(lines, "500 more rows"), lines.size());
    EXPECT_EQ(lines.back(), "many: 9000 pass, 1000 regressed; exit 0");
}

TEST(Console, SaysThatARunWasInterrupted) {
    Documents documents = first_run();
    documents.verdict.interrupted = true;
    EXPECT_LT(line_with(console_lines(documents), "interrupted"), console_lines(documents).size());
}

TEST(Console, ShowsTheLastLinesOfALog) {
    Documents documents = every_verdict();
    std::string log;
    for (int i = 0; i < 100; ++i) log += "line " + std::to_string(i) + "\n";
    for (auto& c : documents.verdict.suites[0].cases) {
        if (c.verdict == model::Verdict::error) c.log = log;
    }
    const std::vector<std::string> lines = console_lines(documents);
    EXPECT_LT(line_with(lines, "| line 99"), lines.size());
    EXPECT_LT(line_with(lines, "| line 90"), line_with(lines, "| line 99"));
    EXPECT_EQ(line_with(lines, "| line 89"), lines.size());
}

}  // namespace
}  // namespace perfgate::report
