// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/gate_options.hpp"
#include "cli/output_options.hpp"
#include "cli/verb.hpp"
#include "cli/workers.hpp"
#include "model/file.hpp"
#include "suite/profile.hpp"

namespace perfgate::cli {

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
            check_outputs(options->output);
            measuring.filters = options->gate.selection.filters;
            measuring.tags = options->gate.selection.tags;
            measuring.out = options->output.out;
            const model::Run run = measure_suites(options->suites, measuring);
            model::write_file_atomically(std::filesystem::path(measuring.out) / "run.json",
                                         model::write_run(run));
            return judge_and_report(run, options->gate, options->output);
        };
    });
}

}  // namespace perfgate::cli
