// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/options/gate.hpp"
#include "cli/options/output.hpp"
#include "cli/verbs/verb.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/selection.hpp"
#include "report/across_devices.hpp"
#include "runner/judging.hpp"
#include "runner/run_file.hpp"

namespace perfgate::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> runs;
    bool across_devices = false;
    GateOptions gate;
    runner::OutputOptions output;
};

int judge_one(const CLI::App& verb, CompareOptions& options) {
    if (options.runs.size() != 1) {
        throw model::InputError(
            "compare judges one run; pass --across-devices to set two side by side");
    }
    apply_profile(verb, options.gate, options.output);
    check_outputs(verb, options.output);
    const model::Run run =
        model::select_cases(runner::read_run(options.runs.front()), options.gate.selection);
    return runner::judge_and_report(run, judging_of(options.gate), options.output);
}

/// Options for judging a run or writing a verdict have no meaning here.
void refuse_options_of_judging(const CLI::App& verb) {
    static const std::set<std::string> meaningful{"RUN",    "--across-devices", "--filter", "--tag",
                                                  "--json", "--color",          "--verbose"};
    for (const CLI::Option* option : verb.get_options()) {
        const std::string name = option->get_name();
        if (option->count() == 0 || meaningful.contains(name)) continue;
        throw model::InputError(
            fmt::format("{} has no meaning with --across-devices, which judges nothing; its "
                        "report is --json",
                        name));
    }
}

int set_side_by_side(const CLI::App& verb, const CompareOptions& options) {
    if (options.runs.size() != 2) {
        throw model::InputError(
            fmt::format("--across-devices needs two runs, {} given", options.runs.size()));
    }
    refuse_options_of_judging(verb);
    check_outputs(verb, options.output);
    const model::Run first =
        model::select_cases(runner::read_run(options.runs[0]), options.gate.selection);
    const model::Run second =
        model::select_cases(runner::read_run(options.runs[1]), options.gate.selection);
    const report::NamedRun left{options.runs[0], &first};
    const report::NamedRun right{options.runs[1], &second};
    const std::string& json = options.output.files.at("json");
    if (!json.empty()) model::write_file_atomically(json, write_across_json(left, right));
    runner::print_for_people(options.output, [&](const report::Options& how) {
        return write_across_console(left, right, how);
    });
    return 0;
}

}  // namespace

void add_compare(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "compare", "Judges a stored run against the baselines as run does; needs no GPU");
    const auto options = std::make_shared<CompareOptions>();
    verb->add_option("RUN", options->runs,
                     "Run document (perfgate-out/run.json); two with --across-devices")
        ->required()
        ->expected(1, 2)
        ->type_name("FILE");
    verb->add_flag("--across-devices", options->across_devices,
                   "Set two devices' runs side by side, for information: nothing is judged");
    add_gate_options(*verb, options->gate);
    add_output_options(*verb, options->output);
    verb->footer("Exit code: the verdict's, as of run; 0 with --across-devices.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            return options->across_devices ? set_side_by_side(*verb, *options)
                                           : judge_one(*verb, *options);
        };
    });
}

}  // namespace perfgate::cli
