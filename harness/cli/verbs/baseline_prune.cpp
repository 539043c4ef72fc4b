// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "model/case.hpp"
#include "runner/baselines.hpp"
#include "runner/devices.hpp"
#include "runner/run_file.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct PruneOptions {
    std::vector<std::string> inputs;
    std::vector<std::string> plugins;
    std::string baselines = "baselines";
    AcceptanceOptions acceptance;
    bool all_suites = false;
    bool dry_run = false;
};

runner::CasesOfSuites cases_of(const std::vector<std::string>& files, const PruneOptions& options) {
    runner::CasesOfSuites cases;
    for (const suite::Suite& suite : runner::read_suites(files, options.plugins)) {
        baseline::KnownCases& known = cases[suite.name];
        for (const suite::SuiteCase& suite_case : suite.cases) {
            if (model::stands_for_cases(suite_case.spec)) {
                known.reported.push_back({suite_case.spec, ""});
            } else {
                known.ids.insert(suite_case.id);
                // Its baseline may have it by its former name, which a refresh changes.
                known.ids.insert(suite::former_id(suite_case));
            }
        }
    }
    return cases;
}

int prune(const PruneOptions& options) {
    std::vector<std::string> suites, run_files;
    for (const std::string& file : options.inputs) {
        (runner::is_suite_file(file) ? suites : run_files).push_back(file);
    }
    if (suites.empty()) {
        throw util::InputError("baseline prune takes at least one suite file (.yaml)");
    }
    std::vector<model::Run> runs;
    for (const std::string& file : run_files) runs.push_back(runner::read_run(file));
    const runner::PruneOutcome outcome =
        runner::prune_baselines({.cases = cases_of(suites, options),
                                 .runs = std::move(runs),
                                 .baselines = options.baselines,
                                 .acceptance = acceptance_of(options.acceptance, {}),
                                 .all_suites = options.all_suites,
                                 .dry_run = options.dry_run});
    std::string text;
    std::size_t orphans = 0;
    for (const runner::PruneOutcome::File& file : outcome.files) {
        orphans += file.ids.size();
        text += fmt::format("{}\n", util::printable(file.file));
        for (const std::string& id : file.ids) {
            text += fmt::format("  {}\n", util::printable(id));
        }
    }
    text += fmt::format("{} {}\n", util::counted(orphans, "orphan"),
                        options.dry_run ? "would be removed" : "removed");
    if (outcome.unknown > 0) {
        text += fmt::format(
            "{} of benchmarks kept: a run of the whole suite on the same device shows which are "
            "gone; name it, too: perfgate baseline prune SUITE RUN.json\n",
            util::counted(outcome.unknown, "case"));
    }
    if (outcome.left_alone > 0) {
        text += fmt::format("{} of other suites kept; --all-suites removes such\n",
                            util::counted(outcome.left_alone, "baseline"));
    }
    util::write_file_atomically("-", text);
    return 0;
}

}  // namespace

Body add_baseline_prune(CLI::App& verb) {
    const auto options = std::make_shared<PruneOptions>();
    verb.add_option(
            "SUITE", options->inputs,
            "Suite files (.yaml), and run documents that show the cases of their benchmarks")
        ->required()
        ->type_name("FILE");
    add_baselines_option(verb, options->baselines);
    verb.add_flag("--dry-run", options->dry_run, "Show the orphans and change nothing");
    verb.add_flag("--all-suites", options->all_suites,
                  "The given suites are complete: remove baselines of all other suites");
    add_reason_options(verb, options->acceptance);
    add_plugin_option(verb, options->plugins);
    verb.footer(
        "Prunes the baselines of every device. Which cases a benchmark has, only a run shows: "
        "without one of the whole suite on the same device, those of benchmarks that are in the "
        "suite are kept. Exit code: 0; 2 a suite or baseline cannot be read; 3 could not write.");
    return [options] { return prune(*options); };
}

}  // namespace perfgate::cli
