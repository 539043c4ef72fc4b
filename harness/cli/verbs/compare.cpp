// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "activity/difference.hpp"
#include "activity/outputs.hpp"
#include "cli/options/gate.hpp"
#include "cli/options/importing.hpp"
#include "cli/options/output.hpp"
#include "cli/terminal/texts.hpp"
#include "cli/verbs/verb.hpp"
#include "model/selection.hpp"
#include "report/across_devices.hpp"
#include "runner/imported.hpp"
#include "runner/judging.hpp"
#include "runner/run_file.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> runs;
    std::vector<std::string> base, head;
    runner::ImportChoice results;
    bool across_devices = false;
    GateOptions gate;
    runner::OutputOptions output;
};

int judge_one(const CLI::App& verb, CompareOptions& options) {
    for (const char* name : {"--format", "--tolerance"}) {
        if (verb.count(name) == 0) continue;
        throw util::InputError(
            fmt::format("{} is for results that --base and --head name: leave it out", name));
    }
    const suite::Profile profile = apply_profile(verb, options.gate, options.output);
    check_outputs(verb, options.output);
    note_without_canary(profile, "compare");
    name_run(verb, options.gate, options.runs.front(), options.output);
    const model::Run run =
        model::select_cases(runner::read_run(options.runs.front()), options.gate.selection);
    runner::JudgingChoice judging = judging_of(options.gate);
    judging.policy.complete = false;  // which suites were to be measured only `run` knows
    return runner::Judge(judging, run).judge_and_report(run, options.output);
}

/// A run document, or results of benchmarks.
model::Run read_side(const std::vector<std::string>& files, const CompareOptions& options) {
    return model::select_cases(runner::read_run_or_results(files, options.results),
                               options.gate.selection);
}

/// Options for judging a run or writing a verdict have no meaning here.
void refuse_other_options(const CLI::App& verb, const std::set<std::string>& meaningful,
                          std::string_view mode) {
    for (const CLI::Option* option : verb.get_options()) {
        const std::string name = option->get_name();
        if (option->count() == 0 || meaningful.contains(name)) continue;
        throw util::InputError(fmt::format(
            "{} has no meaning with {}, which judges nothing: leave it out", name, mode));
    }
}

int set_side_by_side(const CLI::App& verb, const CompareOptions& options) {
    const bool two_sides = !options.base.empty();
    if (!two_sides && options.runs.size() != 2) {
        throw util::InputError(
            fmt::format("--across-devices needs two runs, {} given", options.runs.size()));
    }
    refuse_other_options(verb,
                         {"RUN", "--base", "--head", "--format", "--across-devices", "--filter",
                          "--tag", "--json", "--color", "--verbose"},
                         "--across-devices");
    check_outputs(verb, options.output);
    const std::vector<std::string> of_first =
        two_sides ? options.base : std::vector{options.runs[0]};
    const std::vector<std::string> of_second =
        two_sides ? options.head : std::vector{options.runs[1]};
    const model::Run first = read_side(of_first, options);
    const model::Run second = read_side(of_second, options);
    const report::NamedRun left{of_first.front(), &first};
    const report::NamedRun right{of_second.front(), &second};
    const std::string& json = options.output.files.at("json");
    if (!json.empty()) util::write_file_atomically(json, write_across_json(left, right));
    runner::print_for_people(options.output, [&](const report::Options& how) {
        return write_across_console(left, right, how);
    });
    return 0;
}

int compare_profiles(const CLI::App& verb, const CompareOptions& options) {
    refuse_other_options(verb, {"RUN"}, "a comparison of two profiles");
    const auto read = [](const std::string& file) {
        try {
            return activity::parse_profiles(
                util::read_file(file, runner::run_limit_bytes, "profile"), file);
        } catch (const util::InputError& error) {
            throw util::InputError(fmt::format(
                "{}; two runs are set side by side with --across-devices", error.what()));
        }
    };
    const activity::ProfileDifference difference =
        activity::difference(read(options.runs[0]), read(options.runs[1]));
    std::fputs(difference_text(difference).c_str(), stdout);
    return 0;
}

int judge_head(const CLI::App& verb, CompareOptions& options) {
    if (options.base.empty() || options.head.empty() || !options.runs.empty()) {
        throw util::InputError(
            "--base and --head belong together, without RUN: each is a run document, or results "
            "of benchmarks");
    }
    if (options.across_devices) return set_side_by_side(verb, options);
    for (const char* name : {"--baselines", "--prove"}) {
        if (verb.count(name) == 0) continue;
        throw util::InputError(fmt::format(
            "{} has no meaning with --base, which takes the baselines' place: leave it out", name));
    }
    const suite::Profile profile = apply_profile(verb, options.gate, options.output);
    check_outputs(verb, options.output);
    note_unproved(profile, "--base");
    note_without_canary(profile, "compare");
    const model::Run base = read_side(options.base, options);
    return runner::judge_against(base, options.base.front(), read_side(options.head, options),
                                 policy_of(options.gate), options.output);
}

int carry_out(const CLI::App& verb, CompareOptions& options) {
    if (!options.base.empty() || !options.head.empty()) return judge_head(verb, options);
    if (options.runs.empty()) {
        throw util::InputError("nothing to compare: name a run document, or --base and --head");
    }
    if (options.across_devices) return set_side_by_side(verb, options);
    return options.runs.size() == 2 ? compare_profiles(verb, options) : judge_one(verb, options);
}

}  // namespace

void add_compare(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "compare",
        "Judges a stored run against the baselines as run does, or lists what changed between two "
        "profiles; needs no GPU");
    const auto options = std::make_shared<CompareOptions>();
    verb->add_option(
            "RUN", options->runs,
            "Run document (perfgate-out/run.json), two with --across-devices; or two documents "
            "of `profile --json`")
        ->expected(1, 2)
        ->type_name("FILE");
    verb->add_option("--base", options->base,
                     "Judge --head by this run document, or these results of benchmarks (one file "
                     "per process), instead of baselines")
        ->type_name("FILE");
    verb->add_option("--head", options->head,
                     "The run or results to judge, in the same form as --base")
        ->type_name("FILE");
    add_result_options(*verb, options->results);
    verb->add_flag("--across-devices", options->across_devices,
                   "Show two runs, or --base and --head, side by side; judges nothing");
    add_gate_options(*verb, options->gate);
    add_prove_option(*verb, options->gate);
    add_output_options(*verb, options->output);
    verb->footer("Exit code: as for run; 0 for two files, which are not judged.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] { return carry_out(*verb, *options); };
    });
}

}  // namespace perfgate::cli
