// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "baseline/store.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/texts.hpp"
#include "cli/verbs/verb.hpp"
#include "runner/baselines.hpp"
#include "runner/devices.hpp"
#include "runner/record.hpp"
#include "runner/run.hpp"
#include "suite/suite.hpp"
#include "suite/yaml_reader.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

namespace fs = std::filesystem;

struct ProgramGate {
    std::vector<std::string> words;
    runner::RunRequest run;
    GateOptions gate;
    std::string folder = "perfgate";
};

/// Records the program and writes its suite. Returns the exit code.
int draft_suite(const ProgramGate& options, const std::string& suite) {
    runner::ProfileRequest request;
    request.words = options.words;
    request.suite = suite;
    request.settings.level = inject::Level::api;
    request.time_limit_s = options.run.measuring.case_limit_s;
    const runner::ProfiledProgram program = runner::profile_program(request);
    for (const auto* lines : {&program.notes, &program.problems}) {
        for (const std::string& line : *lines) fmt::print(stderr, "perfgate: {}\n", line);
    }
    if (program.exit_code != 0) return program.exit_code;
    const fs::path file = suite;
    util::Folder(file.parent_path()).write(file.filename(), runner::suite_draft(request, program));
    return 0;
}

/// The file's text, which is people's by now, for a terminal.
std::string suite_lines(const std::string& suite) {
    const std::string text = util::read_file(suite, suite::most_yaml_bytes, "suite");
    std::string out;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        out += "  " + util::printable(text.substr(begin, end - begin)) + '\n';
        begin = end + 1;
    }
    return out;
}

int first_baseline(const ProgramGate& options, const std::string& suite) {
    runner::RefreshRequest request;
    request.inputs = {suite};
    request.baselines = options.gate.baselines;
    request.measuring = options.run.measuring;
    const suite::Profile profile = options.gate.config.load();
    AcceptanceOptions acceptance;
    acceptance.reason = "the first, by 'perfgate gate'";
    request.acceptance = acceptance_of(acceptance, profile);
    request.policy = profile.policy;
    const auto refreshed = runner::refresh_baselines(request);
    if (!refreshed) return 130;
    util::write_file_atomically(
        "-",
        fmt::format("{0}{1}:\n\n{2}\nCommit {1} and {3}; the same command judges from now on.\n",
                    refreshes_text(*refreshed, false), util::printable(suite), suite_lines(suite),
                    util::printable(options.gate.baselines)));
    return refresh_code(*refreshed);
}

int gate_program(const CLI::App& verb, ProgramGate& options) {
    runner::RunRequest& run = options.run;
    if (options.words.empty()) {
        throw util::InputError("name the program to gate after --: perfgate gate -- ./app");
    }
    options.folder = run.reports.out;
    const suite::Profile profile = apply_profile(verb, options.gate, run.reports);
    apply_measuring_profile(verb, profile, run.measuring);
    options.gate.baselines = (fs::path(options.folder) / "baselines").native();
    run.reports.out = run.measuring.out = (fs::path(options.folder) / "out").native();
    check_outputs(verb, run.reports);
    const std::string suite = runner::suite_file_of(options.words, options.folder);
    std::error_code ignored;
    if (!fs::exists(suite, ignored)) {
        fmt::print(stderr,
                   "perfgate: the folder {} will hold the suite, its baselines and the results\n",
                   util::printable(options.folder));
        if (const int failed = draft_suite(options, suite); failed != 0) return failed;
    }
    const model::Device device = runner::device_of(run.measuring.backend);
    const std::string name = suite::name_in(suite);
    const bool has_baseline =
        baseline::load_baseline(options.gate.baselines, device.key, name).has_value();
    // The policy is for CI, where a baseline that is not committed would never judge anything.
    if (!has_baseline && !options.gate.policy.no_baseline_fails) {
        return first_baseline(options, suite);
    }
    run.suites = {suite};
    name_run(verb, options.gate, run.reports.out + "/run.json", run.reports);
    for (const std::string& word : {std::string("--baselines"), options.gate.baselines}) {
        run.reports.commands.gate_words.push_back(word);
        run.reports.commands.again_words.push_back(word);
    }
    run.judging = judging_of(options.gate);
    return runner::run_suites(run);
}

}  // namespace

Body add_gate(CLI::App& verb) {
    const auto options = std::make_shared<ProgramGate>();
    runner::RunRequest& run = options->run;
    run.reports.out = "perfgate";
    run.measuring.backend.workers = false;
    verb.add_option("PROGRAM", options->words, "The program and its arguments, after --");
    add_measuring_options(verb, run.measuring);
    for (const char* name : {"--plugin", "--verify-only", "--seed", "--no-cupti"}) {
        verb.remove_option(verb.get_option(name));
    }
    add_config_options(verb, options->gate.config);
    add_output_options(verb, run.reports);
    verb.get_option("--out")->description(
        "Folder of the program's suite (NAME.yaml), its baselines and, in out, the results");
    verb.footer(
        "The first call records the program once, drafts a suite, measures a baseline and prints "
        "the suite; each later call is a run of it. Exit codes are those of run; the first call "
        "exits with 0 if the baseline is stored, 4 if some cases vary too much for it and are "
        "named, 2 if all do: then edit the tolerances in the suite, and call it again or store the "
        "rest with 'perfgate baseline refresh'. With --set no_baseline=fail, as in CI, a call "
        "without a baseline exits with 4 and stores none.");
    return [options, &verb] { return gate_program(verb, *options); };
}

}  // namespace perfgate::cli
