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
    apply_comparing_options(verb, options.gate, request);
    leave_out_config(options.gate.config, request.suites);
    request.base = runner::side_of("--base", options.base);
    request.head = runner::side_of("--head", options.head);
    return runner::compare_builds(request);
}

}  // namespace

Body add_ab(CLI::App& verb) {
    const auto options = std::make_shared<AbOptions>();
    runner::AbRequest& request = options->request;
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
    add_comparing_options(verb, request, options->gate);
    verb.footer(
        "One process of each side in turn (A B B A ...) on one device; pairs of processes are "
        "compared, no stored baseline takes part. The bundled plugins are not loaded. A revision "
        "is checked out into a temporary folder; the suite's programs run in a checkout, and its "
        "sources are read from it. Writes what run writes, of the head; the base's journal.jsonl "
        "and run.json are in base/. Exit codes are those of run.");
    return [options, &verb] { return compare(verb, *options); };
}

}  // namespace perfgate::cli
