// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/installation.hpp"
#include "cli/options/gate.hpp"
#include "cli/options/output.hpp"
#include "cli/run_file.hpp"
#include "cli/suspicions.hpp"
#include "cli/verbs/verb.hpp"
#include "cli/workers.hpp"
#include "explain/explain.hpp"
#include "gate/base_run.hpp"
#include "gate/paired_rule.hpp"
#include "gate/rounds.hpp"
#include "model/error.hpp"
#include "model/text.hpp"
#include "suite/profile.hpp"

namespace perfgate::cli {

namespace {

struct AbOptions {
    std::vector<std::string> suites;
    std::string base, head;
    MeasuringChoice measuring;
    GateOptions gate;
    OutputOptions output;
};

/// The plugins that `--base` or `--head` names: a file, or all of a folder.
std::vector<std::string> plugins_of(const std::string& option, const std::string& value) {
    if (!std::filesystem::is_directory(value)) return {value};
    std::vector<std::string> plugins = plugins_in(value);
    if (plugins.empty())
        throw model::InputError(
            fmt::format("{} {}: the folder has no plugin (*.so, second modules *_cuda.so aside)",
                        option, model::printable(value)));
    return plugins;
}

int measure_and_judge(const AbOptions& options) {
    const model::Policy policy = policy_of(options.gate);
    const gate::PairedRule rule(policy);
    const std::string name = "base " + options.base;
    const auto again = [&](const model::Run& base, const model::Run& head) {
        return suspicions(head, gate::baselines_of(base, name), policy, rule);
    };
    const measure::BothRuns runs = measure_both(
        options.suites, options.measuring,
        {plugins_of("--base", options.base), plugins_of("--head", options.head)}, again);
    const int stored =
        model::combine_exit_codes(store_run(runs.base, base_results(options.measuring.out)),
                                  store_run(runs.head, options.measuring.out));
    model::VerdictDocument document =
        gate::judge(runs.head, gate::baselines_of(runs.base, name), policy, rule);
    gate::explain_what_base_lacks(runs.base, document);
    explain::explain(runs.head, explain::Which::moved, document);
    return model::combine_exit_codes(
        stored, model::combine_exit_codes(document.exit_code,
                                          write_reports(document, runs.head, options.output)));
}

}  // namespace

void add_ab(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "ab", "Measures two builds of the plugins back to back and judges the one by the other");
    const auto options = std::make_shared<AbOptions>();
    options->output.out = "perfgate-out";
    verb->add_option("SUITE", options->suites, "Suite files")->required()->type_name("FILE");
    verb->add_option("--base", options->base,
                     "What to compare with: a plugin, or a folder of plugins")
        ->required()
        ->check(CLI::ExistingPath)
        ->type_name("PATH");
    verb->add_option("--head", options->head, "What is judged, likewise")
        ->required()
        ->check(CLI::ExistingPath)
        ->type_name("PATH");
    add_measuring_options(*verb, options->measuring);
    add_profile_option(*verb, options->gate.profile);
    add_selection_options(*verb, options->gate.selection);
    add_policy_options(*verb, options->gate);
    add_output_options(*verb, options->output);
    verb->footer(
        "One process of each build in turn (A B B A ...) on one device; pairs of processes are "
        "compared, no stored\nbaseline takes part. The bundled plugins are not loaded. Writes what "
        "run writes, of the head; the base's\njournal.jsonl and run.json are in base/. Exit codes "
        "are those of run.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            MeasuringChoice& measuring = options->measuring;
            apply_measuring_profile(*verb, apply_profile(*verb, options->gate, options->output),
                                    measuring);
            check_outputs(*verb, options->output);
            measuring.filters = options->gate.selection.filters;
            measuring.tags = options->gate.selection.tags;
            measuring.out = options->output.out;
            measuring.round_size = gate::round_size;
            return measure_and_judge(*options);
        };
    });
}

}  // namespace perfgate::cli
