// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/gate_options.hpp"
#include "cli/output_options.hpp"
#include "cli/verb.hpp"
#include "cli/workers.hpp"
#include "gate/batch_rule.hpp"
#include "gate/suspects.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/text.hpp"
#include "suite/profile.hpp"

namespace perfgate::cli {

namespace {

/// Stores the Run where it belongs, or, where there is no room for it, where temporary files go:
/// what a GPU has measured for minutes is not thrown away. 3 where it is not in its place; where no
/// place takes it the reports are still to come.
int store_run(const model::Run& run, const std::filesystem::path& folder) {
    const std::string text = model::write_run(run);
    try {
        model::write_file_atomically(folder / "run.json", text);
        return 0;
    } catch (const model::Error& error) {
        fmt::print(stderr, "perfgate: {}\n", model::printable(error.what(), 1000));
    }
    const std::filesystem::path elsewhere =
        std::filesystem::temp_directory_path() / fmt::format("perfgate-run-{}.json", getpid());
    try {
        model::write_file_atomically(elsewhere, text);
        fmt::print(stderr, "perfgate: the run is in {} instead\n", elsewhere.string());
    } catch (const model::Error& error) {
        fmt::print(stderr, "perfgate: {}\n", model::printable(error.what(), 1000));
    }
    return 3;
}

/// The gate's suspects, for the coordinator.
std::vector<measure::Suspicion> suspicions(const model::Run& run, const GateOptions& options) {
    const model::Policy policy = policy_of(options);
    std::vector<measure::Suspicion> suspicions;
    try {
        for (const gate::Suspect& suspect : gate::suspects(
                 run, load_baselines(run, options.baselines), policy, gate::BatchRule(policy)))
            suspicions.push_back({suspect.suite, suspect.index});
    } catch (const model::InputError&) {
        // A baseline that cannot be used: judging says so, once the run is stored.
    }
    return suspicions;
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "run", "Measures the suites, compares with the baselines, writes reports");
    struct Options {
        std::vector<std::string> suites;
        MeasuringChoice measuring;
        GateOptions gate;
        OutputOptions output;
    };
    const auto options = std::make_shared<Options>();
    options->output.out = "perfgate-out";
    verb->add_option("SUITE", options->suites, "Suite files")->required()->type_name("FILE");
    add_measuring_options(*verb, options->measuring);
    verb->add_option("--resume", options->measuring.resume,
                     "Measure what is missing in the output folder of a run that did not come to "
                     "its end; the rest must be as it was")
        ->type_name("DIR");
    add_gate_options(*verb, options->gate);
    add_output_options(*verb, options->output);
    verb->footer(
        "Writes journal.jsonl, run.json, verdict.json and junit.xml into the output folder.\n"
        "Exit codes: 0 pass; 1 regressed, incorrect or missing; 2 usage or invalid input, nothing "
        "measured;\n3 something could not be measured; 4 inconclusive or no baseline, where the "
        "policy says so; 130 interrupted.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            MeasuringChoice& measuring = options->measuring;
            const suite::Profile profile = apply_profile(*verb, options->gate, options->output);
            if (profile.backend && verb->count("--backend") == 0)
                measuring.backend.backend = *profile.backend;
            if (profile.processes && !measuring.processes)
                measuring.processes = static_cast<std::size_t>(*profile.processes);
            if (!measuring.resume.empty()) options->output.out = measuring.resume;
            check_outputs(options->output);
            measuring.filters = options->gate.selection.filters;
            measuring.tags = options->gate.selection.tags;
            measuring.out = options->output.out;
            measuring.again = [&](const model::Run& run) { return suspicions(run, options->gate); };
            measuring.processes_per_round = gate::processes_per_round;
            const model::Run run = measure_suites(options->suites, measuring);
            const int stored = store_run(run, measuring.out);
            return model::combine_exit_codes(stored,
                                             judge_and_report(run, options->gate, options->output));
        };
    });
}

}  // namespace perfgate::cli
