// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/gate.hpp"
#include "cli/options/output.hpp"
#include "cli/verbs/verb.hpp"
#include "runner/judging.hpp"
#include "runner/merge.hpp"
#include "runner/run_file.hpp"

namespace perfgate::cli {

namespace {

struct MergeOptions {
    std::vector<std::string> runs;
    GateOptions gate;
    runner::OutputOptions output;
};

int merge(const CLI::App& verb, MergeOptions& options) {
    const suite::Profile profile = apply_profile(verb, options.gate, options.output);
    check_outputs(verb, options.output);
    note_without_canary(profile, "merge");
    name_run(verb, options.gate, options.output.out + "/run.json", options.output);
    std::vector<runner::NamedRun> shards;
    for (const std::string& file : options.runs) shards.push_back({file, runner::read_run(file)});
    const model::Run run = runner::merge_shards(std::move(shards));
    const runner::Judge judge(judging_of(options.gate), run);
    const int stored = runner::store_run(run, options.output.out);
    return model::combine_exit_codes(stored, judge.judge_and_report(run, options.output));
}

}  // namespace

void add_merge(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "merge", "Merges the shards of `run --shard` into one run and judges it; needs no GPU");
    const auto options = std::make_shared<MergeOptions>();
    options->output.out = "perfgate-out";
    verb->add_option("RUN", options->runs, "The run documents of all shards, in any order")
        ->required()
        ->type_name("FILE");
    add_judging_options(*verb, options->gate);
    add_prove_option(*verb, options->gate);
    add_output_options(*verb, options->output);
    verb->footer(
        "Writes run.json, verdict.json and junit.xml into the output folder, as run does. Refuses "
        "missing and duplicate\nshards, and shards with different suites, devices, backends, "
        "drivers, tools, revisions, tolerances or selections.\nRelations between cases are "
        "judged here. Exit code: the verdict's, as for run.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] { return merge(*verb, *options); };
    });
}

}  // namespace perfgate::cli
