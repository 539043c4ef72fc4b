// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/difference.hpp"
#include "activity/outputs.hpp"
#include "activity/timeline.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/texts.hpp"
#include "cli/verbs/verb.hpp"
#include "model/selection.hpp"
#include "runner/imported.hpp"
#include "runner/judging.hpp"
#include "runner/merge.hpp"
#include "runner/run_file.hpp"
#include "runner/sides.hpp"
#include "traces/traces.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> files;
    std::vector<std::string> base, head;
    runner::ImportChoice results;
    GateOptions gate;
    runner::OutputOptions output;
};

void refuse(const CLI::App& verb, std::initializer_list<const char*> names, const char* why) {
    for (const char* name : names) {
        if (verb.count(name) == 0) continue;
        throw util::InputError("{} {}: leave it out", name, why);
    }
}

/// The suite says how results are read, and the gates.
void refuse_beside_suite(const CLI::App& verb, const CompareOptions& options) {
    if (options.results.suite_file.empty()) return;
    refuse(verb, {"--format", "--tolerance"}, "is the suite's to say");
}

bool is_profile(const std::string& file) {
    return traces::is_recording(file) || runner::schema_of(file) == "perfgate.profile";
}

std::vector<activity::Profile> read_profiles(const std::string& file) {
    if (!traces::is_recording(file)) {
        return activity::parse_profiles(util::read_file(file, runner::run_limit_bytes, "profile"),
                                        file);
    }
    std::vector<activity::Profile> profiles;
    for (const activity::Recording& recording : traces::read_recordings(file)) {
        profiles.push_back(activity::profile_of(activity::Timeline(recording)));
    }
    return profiles;
}

/// Recordings are judged by the labels of a suite, if there are several.
bool are_judged(const CompareOptions& options) {
    return !options.results.suite_file.empty() &&
           (options.base.size() != 1 || options.head.size() != 1);
}

/// A run that is stored as it is, or one of shards or results, which is made here.
int judge_by_baselines(const CLI::App& verb, CompareOptions& options) {
    const suite::Profile profile = apply_profile(verb, options.gate, options.output);
    clear_outputs(verb, options.output);
    if (options.results.suite_file.empty() && is_profile(options.files.front())) {
        throw util::InputError("two profiles are compared with --base FILE --head FILE");
    }
    refuse_beside_suite(verb, options);
    const bool results = !options.results.format.empty() || !options.results.suite_file.empty() ||
                         runner::schema_of(options.files.front()).empty();
    if (!results) {
        refuse(verb, {"--format", "--tolerance", "--suite", "--device-key"},
               "is for results of benchmarks");
    }
    std::vector<runner::NamedRun> runs;
    if (!results) {
        for (const std::string& file : options.files) {
            runs.push_back({file, runner::read_run(file)});
        }
    }
    // A shard alone would pass without the cases of the others.
    const bool shards = runs.size() > 1 || (!results && runs.front().run.shard);
    if (shards) refuse(verb, {"--filter", "--tag"}, "has no meaning with shards");
    const bool made = results || shards;
    if (made && !options.output.out.empty()) options.output.runs = {"run.json"};
    check_outputs(verb, options.output);
    note_without_canary(profile, "compare");
    model::Run run = results  ? runner::import_results(options.files, options.results)
                     : shards ? runner::merge_shards(std::move(runs))
                              : std::move(runs.front().run);
    int stored = 0;
    if (!made) {
        name_run(verb, options.gate, options.files.front(), options.output);
    } else if (!options.output.out.empty()) {
        name_run(verb, options.gate, options.output.out + "/run.json", options.output);
        stored = runner::store_run(run, options.output.out);
    }
    run = model::select_cases(std::move(run), options.gate.selection);
    runner::JudgingChoice judging = judging_of(options.gate);
    // Which suites were to be measured only `run` knows, and its shards.
    judging.policy.complete = judging.policy.complete && shards;
    const runner::Judge judge(judging, run);
    return model::combine_exit_codes(stored,
                                     judge.conclude(judge.verdict(run), run, options.output));
}

int compare_profiles(const CLI::App& verb, const CompareOptions& options) {
    if (options.base.size() != 1 || options.head.size() != 1) {
        throw util::InputError(
            "--base and --head are one profile each; several recordings of each side are judged by "
            "the labels of a suite: name it with --suite FILE");
    }
    for (const CLI::Option* option : verb.get_options()) {
        const std::string name = option->get_name();
        if (option->count() == 0 || name == "--base" || name == "--head") continue;
        if (name == "--suite") {
            throw util::InputError(
                "--suite judges several recordings of each side, and there is one: name each "
                "run's, "
                "or leave --suite out to list what changed");
        }
        throw util::InputError(
            "{} has no meaning with two profiles, which are not judged: leave it out", name);
    }
    const activity::ProfileDifference difference = activity::difference(
        read_profiles(options.base.front()), read_profiles(options.head.front()));
    std::fputs(difference_text(difference).c_str(), stdout);
    return 0;
}

int judge_by_base(const CLI::App& verb, CompareOptions& options) {
    if (options.base.empty() || options.head.empty() || !options.files.empty()) {
        throw util::InputError(
            "--base and --head belong together, without FILE: each is a run document, or results "
            "of benchmarks");
    }
    clear_outputs(verb, options.output);
    runner::require_files("--base", options.base);
    runner::require_files("--head", options.head);
    if (!are_judged(options) &&
        (is_profile(options.base.front()) || is_profile(options.head.front()))) {
        return compare_profiles(verb, options);
    }
    refuse_beside_suite(verb, options);
    refuse(verb, {"--baselines", "--prove"},
           "has no meaning with --base, which takes the baselines' place");
    const suite::Profile profile = apply_profile(verb, options.gate, options.output);
    check_outputs(verb, options.output);
    note_unproved(profile, "--base");
    note_without_canary(profile, "compare");
    runner::Constants of_base, of_head;
    const auto read = [&](const std::vector<std::string>& files, runner::Constants& constants) {
        return model::select_cases(runner::read_run_or_results(files, options.results, &constants),
                                   options.gate.selection);
    };
    const model::Run base = read(options.base, of_base);
    const model::Run head = read(options.head, of_head);
    return runner::judge_against(base, options.base.front(), head, options.gate.policy,
                                 options.output, runner::differences(of_base, of_head));
}

}  // namespace

Body add_compare(CLI::App& verb) {
    const auto options = std::make_shared<CompareOptions>();
    verb.add_option("FILE", options->files,
                    "A run document (perfgate-out/run.json), those of all shards of a run in any "
                    "order, or results that a benchmark wrote, one file per process")
        ->type_name("FILE");
    verb.add_option("--base", options->base,
                    "Judge --head by this run, or these results of benchmarks, in place of "
                    "baselines; of two profiles (profile --report), list what changed")
        ->type_name("FILE");
    verb.add_option("--head", options->head, "What is judged, in the same form as --base")
        ->type_name("FILE");
    add_gate_options(verb, options->gate);
    add_prove_option(verb, options->gate);
    add_output_options(verb, options->output);
    add_result_options(verb, options->results);
    verb.add_option("--device-key", options->results.device_key,
                    "Where results were measured: the name of the baselines' folder")
        ->type_name("KEY")
        ->capture_default_str();
    for (const char* name : {"--format", "--tolerance", "--suite", "--device-key"}) {
        verb.get_option(name)->group("Results of benchmarks");
    }
    verb.footer(
        "Needs no GPU. With --out, shards and results are also stored as one run.json. Missing and "
        "duplicate shards are refused, and shards with different suites, devices, backends, "
        "drivers, tools, revisions, tolerances or selections. Exit code: as for run; 0 for two "
        "profiles, which are not judged.");
    return [options, &verb] {
        if (!options->base.empty() || !options->head.empty()) return judge_by_base(verb, *options);
        if (options->files.empty()) {
            throw util::InputError("nothing to compare: name a run document, or --base and --head");
        }
        return judge_by_baselines(verb, *options);
    };
}

}  // namespace perfgate::cli
