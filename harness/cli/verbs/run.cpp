// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "runner/run.hpp"
#include "suite/plan.hpp"
#include "suite/profile.hpp"

namespace perfgate::cli {

namespace {

struct RunOptions {
    runner::RunRequest request;
    GateOptions gate;
    std::string shard;
};

int run(const CLI::App& verb, RunOptions& options) {
    runner::RunRequest& request = options.request;
    runner::MeasuringChoice& measuring = request.measuring;
    const suite::Profile profile = apply_profile(verb, options.gate, request.reports);
    apply_measuring_profile(verb, profile, measuring);
    leave_out_config(options.gate.config, request.suites);
    if (!measuring.resume.empty()) request.reports.out = measuring.resume;
    check_outputs(verb, request.reports);
    name_run(verb, options.gate, request.reports.out + "/run.json", request.reports);
    measuring.filters = options.gate.selection.filters;
    measuring.tags = options.gate.selection.tags;
    measuring.out = request.reports.out;
    request.judging = judging_of(options.gate);
    request.canary = profile.canary;
    measuring.changed_only = measuring.changed_only || profile.changed_only;
    if (!options.shard.empty()) request.shard = suite::parse_shard(options.shard);
    return runner::run_suites(request);
}

}  // namespace

Body add_run(CLI::App& verb) {
    const auto options = std::make_shared<RunOptions>();
    runner::RunRequest& request = options->request;
    request.reports.out = suite::usual_out;
    verb.add_option("SUITE", request.suites, "Suite files")->required()->type_name("FILE");
    add_measuring_options(verb, request.measuring);
    add_selection_options(verb, options->gate.selection);
    verb.add_option("--shard", options->shard,
                    "Measure one part of the cases, as 2/3; 'compare' merges the parts")
        ->type_name("I/N")
        ->group(measure_group);
    verb.add_option(
            "--resume", request.measuring.resume,
            "Continue an interrupted run in its output folder; suites and options must be the same")
        ->type_name("DIR")
        ->group(measure_group);
    verb.add_flag("--changed-only", request.measuring.changed_only,
                  "Measure only the cases whose machine code, launch or inputs differ from the "
                  "baseline's; one launch of each case is recorded for that")
        ->group(measure_group);
    add_baselines_option(verb, options->gate.baselines);
    add_config_options(verb, options->gate.config);
    add_prove_option(verb, options->gate);
    add_output_options(verb, request.reports);
    verb.footer(
        "Writes journal.jsonl, run.json, verdict.json and junit.xml into the output folder. Exit "
        "codes: 0 pass; 1 regressed, incorrect or missing; 2 usage or invalid input, nothing "
        "measured; 3 something could not be measured; 4 inconclusive or no baseline, where the "
        "policy says so; 130 interrupted.");
    return [options, &verb] { return run(verb, *options); };
}

}  // namespace perfgate::cli
