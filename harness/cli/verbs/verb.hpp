// SPDX-License-Identifier: Apache-2.0
// One file per verb: each adds its subcommand to the command line. A verb parses its options, calls
// other modules and prints; it makes no decisions.
//
// To add a verb, write <name>.cpp (start from merge.cpp), and declare its function and add it to
// the table here.
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

using AddVerb = void(CLI::App& app, Invocation& invocation);

AddVerb add_init, add_run, add_ab, add_selftest, add_profile, add_compare, add_import, add_merge,
    add_report, add_explain, add_baseline, add_review, add_validate, add_list, add_metrics,
    add_doctor, add_demo, add_completion, add_complete, add_pages, add_worker, add_compile;

/// In the order of the help text.
inline constexpr AddVerb* verbs[] = {
    add_init,     add_run,   add_ab,      add_selftest, add_profile,  add_compare,
    add_import,   add_merge, add_report,  add_explain,  add_baseline, add_review,
    add_validate, add_list,  add_metrics, add_doctor,   add_demo,     add_completion,
    add_complete, add_pages, add_worker,  add_compile,
};

/// The verbs of `perfgate baseline`; `app` is its own.
AddVerb add_baseline_refresh, add_baseline_accept, add_baseline_show, add_baseline_diff,
    add_baseline_log, add_baseline_verify, add_baseline_prune;

inline constexpr AddVerb* baseline_verbs[] = {
    add_baseline_refresh, add_baseline_accept, add_baseline_show,  add_baseline_diff,
    add_baseline_log,     add_baseline_verify, add_baseline_prune,
};

}  // namespace perfgate::cli
