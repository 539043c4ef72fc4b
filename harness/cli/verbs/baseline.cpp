// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/baseline.hpp"

#include <CLI/CLI.hpp>

namespace perfgate::cli {

void add_baseline(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "baseline", "What is expected: refreshed, accepted, shown, compared, kept in order");
    verb->require_subcommand(1);
    add_baseline_refresh(*verb, invocation);
    add_baseline_accept(*verb, invocation);
    add_baseline_show(*verb, invocation);
    add_baseline_diff(*verb, invocation);
    add_baseline_log(*verb, invocation);
    add_baseline_verify(*verb, invocation);
    add_baseline_prune(*verb, invocation);
}

}  // namespace perfgate::cli
