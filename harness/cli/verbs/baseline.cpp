// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/verb.hpp"

#include <CLI/CLI.hpp>

namespace perfgate::cli {

void add_baseline(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "baseline", "Refreshes, accepts, shows, compares, verifies and prunes baselines");
    verb->require_subcommand(1);
    for (AddVerb* add : baseline_verbs) add(*verb, invocation);
}

}  // namespace perfgate::cli
