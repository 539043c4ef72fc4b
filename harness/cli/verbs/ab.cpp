// SPDX-License-Identifier: Apache-2.0
#include "runner/ab.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"

namespace perfgate::cli {

namespace {

struct AbOptions {
    runner::AbRequest request;
    std::vector<std::string> base, head;
    GateOptions gate;
};

int compare(const CLI::App& verb, AbOptions& options) {
    runner::AbRequest& request = options.request;
    const suite::Profile profile = apply_profile(verb, options.gate, request.reports);
    apply_measuring_profile(verb, profile, request.measuring);
    leave_out_config(options.gate.config, request.suites);
    check_outputs(verb, request.reports);
    note_unproved(profile, "ab");
    note_without_canary(profile, "ab");
    request.base = runner::side_of("--base", options.base);
    request.head = runner::side_of("--head", options.head);
    request.measuring.filters = options.gate.selection.filters;
    request.measuring.tags = options.gate.selection.tags;
    request.measuring.out = request.reports.out;
    request.policy = options.gate.policy;
    name_run(verb, options.gate, request.reports.out + "/run.json", request.reports);
    return runner::compare_builds(request);
}

}  // namespace

Body add_ab(CLI::App& verb) {
    const auto options = std::make_shared<AbOptions>();
    runner::AbRequest& request = options->request;
    request.reports.out = suite::usual_out;
    verb.add_option("SUITE", request.suites, "Suite files")->required()->type_name("FILE");
    add_repeatable(verb, "--base", options->base,
                   "What to compare with: build:PATH (plugins), rev:REF (a git revision), dir:DIR "
                   "(a checkout), env:NAME=VALUE (of programs and Python kernels); repeatable",
                   "SIDE")
        ->group(measure_group);
    add_repeatable(verb, "--head", options->head,
                   "What is judged, in the same form; default: what the suites name, as it is",
                   "SIDE")
        ->group(measure_group);
    add_measuring_options(verb, request.measuring);
    add_selection_options(verb, options->gate.selection);
    add_config_options(verb, options->gate.config);
    add_output_options(verb, request.reports);
    verb.footer(
        "One process of each side in turn (A B B A ...) on one device; pairs of processes are "
        "compared, no stored baseline takes part. The bundled plugins are not loaded. A revision "
        "is checked out into a temporary folder; the suite's programs run in a checkout, and its "
        "sources are read from it. Writes what run writes, of the head; the base's journal.jsonl "
        "and run.json are in base/. Exit codes are those of run.");
    return [options, &verb] { return compare(verb, *options); };
}

}  // namespace perfgate::cli
