// SPDX-License-Identifier: Apache-2.0
// One file per verb: each adds its subcommand to the command line. A verb parses its options, calls
// the rooms and prints; it holds no logic of its own.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace perfgate::cli {

/// Runs the chosen verb's body and keeps its exit code (0, 1, 2, 3, 4 or 130). main turns an
/// InputError into exit 2, another Error into exit 3.
struct Invocation {
    std::function<int()> body;
};

void add_run(CLI::App& app, Invocation& invocation);
void add_ab(CLI::App& app, Invocation& invocation);
void add_selftest(CLI::App& app, Invocation& invocation);
void add_compare(CLI::App& app, Invocation& invocation);
void add_merge(CLI::App& app, Invocation& invocation);
void add_report(CLI::App& app, Invocation& invocation);
void add_explain(CLI::App& app, Invocation& invocation);
void add_review(CLI::App& app, Invocation& invocation);
void add_baseline(CLI::App& app, Invocation& invocation);
void add_validate(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_metrics(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_profile(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);
void add_worker(CLI::App& app, Invocation& invocation);

}  // namespace perfgate::cli
