// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/options/options.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "runner/ab.hpp"
#include "runner/git.hpp"
#include "runner/run_file.hpp"
#include "suite/amount.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

void note_no_effect(std::string_view key, std::string_view mode, std::string_view why) {
    fmt::print(stderr, "perfgate: the config's '{}: true' has no effect with {}: {}\n", key, mode,
               why);
}

}  // namespace

suite::Profile Config::load() const {
    suite::Profile profile;
    if (!file.empty()) profile = suite::load_profile(file);
    for (const std::string& key : keys) suite::set_key(profile, key);
    return profile;
}

void add_baselines_option(CLI::App& app, std::string& folder, BaselinesFolder use) {
    CLI::Option* option =
        app.add_option("--baselines", folder, "Folder of the baselines: <device-key>/<suite>.json")
            ->type_name("DIR")
            ->capture_default_str()
            ->group(judge_group);
    if (use == BaselinesFolder::created) return;
    option->check([](const std::string& named) {
        std::error_code ignored;
        if (named.empty() || std::filesystem::is_directory(named, ignored)) return std::string();
        return fmt::format(
            "{} is no folder; 'perfgate baseline refresh' creates one with what it measures",
            util::printable(named));
    });
}

void add_config_options(CLI::App& app, Config& config) {
    app.add_option("--config", config.file, "Defaults and policy (YAML), as configs/ci.yaml")
        ->type_name("FILE")
        ->group(judge_group);
    add_repeatable(app, "--set", config.keys,
                   "A key of the config, as not_shown=fail (repeatable); over the file",
                   "KEY=VALUE")
        ->group(judge_group);
}

void add_selection_options(CLI::App& app, model::Selection& selection) {
    add_repeatable(app, "--filter", selection.filters,
                   "Only cases whose id matches (* any text, ? any character; repeatable)", "GLOB")
        ->group(measure_group);
    add_repeatable(app, "--tag", selection.tags, "Only cases with this tag (repeatable)", "TAG")
        ->group(measure_group);
}

void add_prove_option(CLI::App& app, GateOptions& options) {
    app.add_flag("--prove", options.prove,
                 "Prove on the run's document that each gate fails if its metric is worse by twice "
                 "what it claims to detect; exit 3 if one cannot")
        ->group(judge_group);
}

void add_gate_options(CLI::App& app, GateOptions& options) {
    add_baselines_option(app, options.baselines);
    add_config_options(app, options.config);
    add_selection_options(app, options.selection);
}

void take_unless_given(const CLI::App& verb, const std::string& option,
                       const std::optional<std::string>& value, std::string& target) {
    if (value && verb.count(option) == 0) target = *value;
}

suite::Profile apply_profile(const CLI::App& verb, GateOptions& gate_options,
                             runner::OutputOptions& output_options) {
    suite::Profile profile;
    try {
        profile = gate_options.config.load();
    } catch (...) {
        clear_outputs(verb);
        throw;
    }
    if (verb.get_option_no_throw("--baselines") != nullptr) {
        take_unless_given(verb, "--baselines", profile.baselines, gate_options.baselines);
    }
    gate_options.prove =
        gate_options.prove || (profile.prove && verb.get_option_no_throw("--prove") != nullptr);
    gate_options.policy = profile.policy;
    output_options.commands.builds = profile.build.has_value();
    if (profile.junit_profile) output_options.junit_profile = *profile.junit_profile;
    take_unless_given(verb, "--out", profile.out, output_options.out);
    return profile;
}

void leave_out_config(const Config& config, std::vector<std::string>& suites) {
    const auto plain = [](const std::string& file) {
        return std::filesystem::path(file).lexically_normal();
    };
    const auto is_config = [&](const std::string& suite) {
        return plain(suite) == plain(config.file);
    };
    // If nothing else was given, the suite's reader says what is wrong with it.
    if (config.file.empty() || std::ranges::all_of(suites, is_config)) return;
    std::erase_if(suites, is_config);
}

void note_unproved(const suite::Profile& profile, std::string_view mode) {
    if (profile.prove) {
        note_no_effect("prove", mode, "only gates with a stored baseline are proved");
    }
}

void note_without_canary(const suite::Profile& profile, std::string_view mode) {
    if (profile.canary) note_no_effect("canary", mode, "only 'run' measures a canary");
}

void name_run(const CLI::App& verb, const GateOptions& gate, const std::string& run_file,
              runner::OutputOptions& output) {
    report::CommandWords& commands = output.commands;
    commands.run_file = run_file;
    if (!gate.config.file.empty()) commands.gate_words = {"--config", gate.config.file};
    const auto typed = [&](const char* name, std::vector<std::string>& words) {
        const CLI::Option* option = verb.get_option_no_throw(name);
        if (option == nullptr) return;
        for (const std::string& value : option->results()) {
            words.emplace_back(name);
            words.push_back(value);
        }
    };
    for (const char* name : {"--set", "--baselines"}) typed(name, commands.gate_words);
    for (const char* name : {"--base", "--head", "--backend", "--plugin"}) {
        typed(name, commands.again_words);
    }
    commands.again_words.insert(commands.again_words.end(), commands.gate_words.begin(),
                                commands.gate_words.end());
}

void add_comparing_options(CLI::App& app, runner::AbRequest& request, GateOptions& options) {
    request.reports.out = suite::usual_out;
    request.reports.commands.verb = "ab";
    add_measuring_options(app, request.measuring);
    add_selection_options(app, options.selection);
    add_config_options(app, options.config);
    add_output_options(app, request.reports);
}

void apply_comparing_options(const CLI::App& verb, GateOptions& options,
                             runner::AbRequest& request) {
    const suite::Profile profile = apply_profile(verb, options, request.reports);
    apply_measuring_profile(verb, profile, request.measuring);
    check_outputs(verb, request.reports);
    note_unproved(profile, verb.get_name());
    note_without_canary(profile, verb.get_name());
    request.measuring.filters = options.selection.filters;
    request.measuring.tags = options.selection.tags;
    request.measuring.out = request.reports.out;
    request.policy = options.policy;
    name_run(verb, options, request.reports.out + "/run.json", request.reports);
}

runner::JudgingChoice judging_of(const GateOptions& options) {
    return {options.baselines, options.policy, options.prove};
}

/// "suite.yaml", or "suite.yaml/bench" for one of its benchmarks. False: it names no file.
static bool take_suite_file(const std::string& text, runner::ImportChoice& choice) {
    const std::size_t end = text.rfind('/');
    if (runner::is_suite_file(text)) {
        choice.suite_file = text;
    } else if (end != std::string::npos && runner::is_suite_file(text.substr(0, end))) {
        choice.suite_file = text.substr(0, end);
        choice.entry = text.substr(end + 1);
    }
    return !choice.suite_file.empty();
}

CLI::Option* add_format_option(CLI::App& app, runner::ImportChoice& choice) {
    return app
        .add_option("--format", choice.format,
                    "Format of results that benchmarks wrote (default: recognised)")
        ->check(one_of(benchmark::format_names()));
}

void add_result_options(CLI::App& app, runner::ImportChoice& choice) {
    add_format_option(app, choice);
    app.add_option_function<std::string>(
           "--tolerance",
           [&choice](const std::string& text) {
               const auto fraction = suite::fraction_of(text);
               if (!fraction) {
                   throw util::InputError("--tolerance: expected a percentage such as 5%");
               }
               choice.tolerance = *fraction;
           },
           "How much longer the time of a case in results may take")
        ->type_name("PERCENT")
        ->default_str("5%");
    app.add_option_function<std::string>(
           "--suite",
           [&choice](const std::string& text) {
               if (take_suite_file(text, choice)) return;
               const std::size_t end = text.find('/');
               choice.suite = text.substr(0, end);
               if (end != std::string::npos) choice.name = text.substr(end + 1);
               if (choice.suite.empty() || choice.name.empty()) {
                   throw util::InputError("--suite: expected NAME or NAME/FIRST");
               }
           },
           "How results are read and gated: a suite's file, with the name of its benchmark if it "
           "has "
           "several; or else only the suite's name and the first part of the case ids")
        ->type_name("FILE[/NAME]|NAME[/FIRST]")
        ->default_str(choice.suite + '/' + choice.name);
}

CLI::Option* add_reason_options(CLI::App& app, AcceptanceOptions& options) {
    app.add_option("--author", options.author,
                   "Who accepts, kept in the ledger (default: git's user.name)")
        ->type_name("NAME");
    return app.add_option("--reason", options.reason, "Why, kept in the ledger")->type_name("TEXT");
}

void add_anchor_option(CLI::App& app, AcceptanceOptions& options) {
    app.add_flag("--reset-anchor", options.reset_anchor,
                 "Accept changes that add up beyond the config's 'creep' (10%); later ones add up "
                 "from the new values");
}

baseline::Acceptance acceptance_of(const AcceptanceOptions& options,
                                   const suite::Profile& profile) {
    baseline::Acceptance acceptance;
    acceptance.accepted_by = options.author.empty() ? runner::git_user_name() : options.author;
    acceptance.reason = options.reason;
    acceptance.at = runner::utc_now();
    acceptance.reset_anchors = options.reset_anchor;
    acceptance.creep_bound = profile.creep.value_or(model::usual_creep_bound);
    acceptance.acknowledgement_days = profile.policy.acknowledgement_days;
    return acceptance;
}

void add_baseline_choice_options(CLI::App& app, runner::BaselineChoice& choice) {
    app.add_option("SUITE", choice.suite, "The suite's file, or its name (gemm)")
        ->required()
        ->type_name("FILE|NAME");
    add_baselines_option(app, choice.baselines);
    app.add_option("--device-key", choice.device_key,
                   "Device key (nvidia-h100-80gb-hbm3); may be left out if only one has a baseline")
        ->type_name("KEY");
}

}  // namespace perfgate::cli
