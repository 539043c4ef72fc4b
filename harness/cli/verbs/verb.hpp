// SPDX-License-Identifier: Apache-2.0
// One file per verb: each adds its options to the verb's command line and returns what the verb
// does. A verb calls other modules and prints; it makes no decisions.
//
// To add a verb, write <name>.cpp (start from report.cpp) and its row here.
#pragma once

#include <functional>
#include <span>

namespace CLI {
class App;
}

namespace perfgate::cli {

/// Returns the exit code (0, 1, 2, 3, 4 or 130). main turns an InputError into exit 2, another
/// Error into exit 3.
using Body = std::function<int()>;
using AddVerb = Body(CLI::App& verb);

AddVerb add_init, add_adopt, add_gate, add_run, add_ab, add_bisect, add_selftest, add_profile,
    add_compare, add_report, add_review, add_validate, add_list, add_doctor, add_demo,
    add_completion, add_complete, add_pages, add_worker, add_compile;
AddVerb add_baseline_refresh, add_baseline_accept, add_baseline_show, add_baseline_verify,
    add_baseline_prune, add_history_add, add_history_show, add_history_site;

struct Verb {
    const char* name;
    const char* description;
    AddVerb* add = nullptr;            ///< null: only what is below
    const char* examples = "";         ///< commands, "\n  " between them
    std::span<const Verb> below = {};  ///< its own verbs
    bool hidden = false;
};

inline constexpr Verb baseline_verbs[] = {
    {"refresh", "Stores measured values as the new baseline", add_baseline_refresh,
     "perfgate baseline refresh suites/gemm.yaml\n  "
     "perfgate baseline refresh --tolerances perfgate-out/run.json suites/gemm.yaml"},
    {"accept", "Accepts what changed in a run, case by case, with a reason", add_baseline_accept,
     "perfgate baseline accept perfgate-out/run.json --filter 'gemm/*' --reason 'larger tiles'"},
    {"show", "Prints the expected values and where they come from, or who accepted them",
     add_baseline_show, "perfgate baseline show suites/gemm.yaml --log"},
    {"verify", "Checks that all baselines and ledgers are well formed and agree",
     add_baseline_verify, "perfgate baseline verify --baselines baselines"},
    {"prune", "Removes cases from baselines that their suites no longer have", add_baseline_prune,
     "perfgate baseline prune suites/gemm.yaml\n  "
     "perfgate baseline prune --all-suites suites/*.yaml"},
};

inline constexpr Verb history_verbs[] = {
    {"add", "Adds runs, other histories, or dated results of other tools", add_history_add,
     "perfgate history add history.db perfgate-out/run.json"},
    {"show", "Shows when cases changed, by how much, and what changed with them", add_history_show,
     "perfgate history show history.db gemm 'gemm/tiled[n=4096]'"},
    {"site", "Writes a static site: a chart for each case, what changed lately, a badge",
     add_history_site, "perfgate history site history.db public"},
};

/// The exit code that ends `git bisect run`, which takes 1, 2 and 3 for a bad commit.
inline constexpr int end_git_bisect = 128;

/// In the order of the help text.
inline constexpr Verb verbs[] = {
    {"init", "Writes a project that works: something to measure and its suite", add_init,
     "perfgate init --from triton\n  "
     "perfgate init --from source kernels"},
    {"adopt", "Writes the CI pipelines of a repository with suites, and says what is left to do",
     add_adopt,
     "perfgate adopt 'perf/*.yaml'\n  "
     "perfgate adopt suites/*.yaml --ci gitlab --build make"},
    {"gate", "Gates a program in one line: drafts a suite, keeps a baseline, then judges each call",
     add_gate, "perfgate gate -- ./app --size 4096"},
    {"run", "Measures suites, compares with the baselines, writes reports", add_run,
     "perfgate run suites/gemm.yaml\n  "
     "perfgate run suites/*.yaml --config configs/ci.yaml --report perfgate-out/report.html\n  "
     "perfgate run suites/gemm.yaml --filter 'gemm/tiled*' --verify-only"},
    {"ab", "Measures two builds, git revisions, checkouts or environments back to back", add_ab,
     "perfgate ab --base rev:origin/main suites/mine.yaml\n  "
     "perfgate ab --base dir:../main --head dir:. suites/mine.yaml"},
    {"bisect", "Finds the commit that made a case slower", add_bisect,
     "perfgate bisect v1.4 main suites/mine.yaml --set build=make"},
    {"compare",
     "Judges stored runs or results of benchmarks by the baselines or by each other; merges the "
     "shards of a run",
     add_compare,
     "perfgate compare shard-*/run.json --out perfgate-out\n  "
     "perfgate compare --base old*.json --head new*.json"},
    {"report", "Writes the reports of a stored run again, and says why cases changed", add_report,
     "perfgate report perfgate-out/run.json --why --filter 'gemm/tiled*'\n  "
     "perfgate report perfgate-out/run.json --report report.html"},
    {"baseline", "Refreshes, accepts, shows, verifies and prunes baselines", nullptr, "",
     baseline_verbs},
    {"history", "Keeps runs of many nights and shows when cases changed", nullptr, "",
     history_verbs},
    {"profile", "Records a program's GPU activity and reports where the GPU time goes", add_profile,
     "perfgate profile --report run.html -- python3 train.py\n  "
     "perfgate profile --report draft.yaml -- ./app"},
    {"list", "Lists the cases of suites, or the metrics that suites can name", add_list,
     "perfgate list suites/gemm.yaml\n  "
     "perfgate list --metrics --chip GH100"},
    {"validate", "Checks suites and reports every problem with its location", add_validate,
     "perfgate validate suites/*.yaml\n  "
     "perfgate validate suites/mine.yaml --architecture 90"},
    {"review", "Lists where the working tree weakens the gate of a commit", add_review,
     "perfgate review --base rev:origin/main suites/*.yaml"},
    {"selftest", "Slows cases down by known amounts and shows what the gate detects", add_selftest,
     "perfgate selftest suites/gemm.yaml"},
    {"doctor", "Checks whether this machine can measure, and names the remedy", add_doctor,
     "perfgate doctor\n  "
     "perfgate doctor --backend cuda"},
    {"demo", "Judges a recorded pull request with five regressions", add_demo, "perfgate demo"},
    {"completion",
     "Prints a script for shell completion",
     add_completion,
     "perfgate completion bash",
     {},
     true},
    {"complete", "Lists names for shell completion", add_complete, "", {}, true},
    {"pages", "Writes manual pages and completion", add_pages, "", {}, true},
    {"worker", "Serves a coordinator", add_worker, "", {}, true},
    {"compile", "Compiles a source", add_compile, "", {}, true},
};

/// Adds the verbs; parsing a command line then stores what the chosen one does in `chosen`.
void add_verbs(CLI::App& app, std::span<const Verb> table, Body& chosen);

}  // namespace perfgate::cli
