// SPDX-License-Identifier: Apache-2.0
#include "cli/options/gate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "cli/options/output.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

void note_no_effect(std::string_view key, std::string_view mode, std::string_view why) {
    fmt::print(stderr, "perfgate: the profile's '{}: true' has no effect with {}: {}\n", key, mode,
               why);
}

}  // namespace

void add_baselines_option(CLI::App& app, std::string& folder, BaselinesFolder use) {
    CLI::Option* option =
        app.add_option("--baselines", folder, "Folder of the baselines: <device-key>/<suite>.json")
            ->type_name("DIR")
            ->capture_default_str();
    if (use == BaselinesFolder::created) return;
    option->check([](const std::string& named) {
        std::error_code ignored;
        if (named.empty() || std::filesystem::is_directory(named, ignored)) return std::string();
        return fmt::format(
            "{} is no folder; 'perfgate baseline refresh' creates one with what it measures",
            util::printable(named));
    });
}

void add_profile_option(CLI::App& app, std::string& file) {
    app.add_option("--profile", file, "Defaults for options that are not given (YAML)")
        ->type_name("FILE");
}

void add_selection_options(CLI::App& app, model::Selection& selection) {
    app.add_option("--filter", selection.filters,
                   "Only cases whose id matches (* any text, ? any character); may be repeated")
        ->type_name("GLOB")
        ->type_size(1)
        ->allow_extra_args(false);
    app.add_option("--tag", selection.tags, "Only cases with this tag; may be repeated")
        ->type_name("TAG")
        ->type_size(1)
        ->allow_extra_args(false);
}

void add_gate_options(CLI::App& app, GateOptions& options) {
    add_judging_options(app, options);
    add_selection_options(app, options.selection);
}

void add_judging_options(CLI::App& app, GateOptions& options) {
    add_baselines_option(app, options.baselines);
    add_profile_option(app, options.profile);
    add_policy_options(app, options);
}

void add_policy_options(CLI::App& app, GateOptions& options) {
    app.add_option("--no-baseline", options.no_baseline,
                   "Whether a case without a baseline fails (exit 4) or counts as skipped")
        ->check(CLI::IsMember({"fail", "skip"}))
        ->capture_default_str();
    app.add_option("--inconclusive", options.inconclusive,
                   "Whether an inconclusive case fails (exit 4) or passes")
        ->check(CLI::IsMember({"fail", "pass"}))
        ->capture_default_str();
    app.add_option("--not-shown", options.not_shown,
                   "Whether a time that is not shown to be within its tolerance fails (exit 4) or "
                   "passes")
        ->check(CLI::IsMember({"fail", "pass"}))
        ->capture_default_str();
}

void add_prove_option(CLI::App& app, GateOptions& options) {
    app.add_flag("--prove", options.prove,
                 "Prove on the run's document that each gate fails if its metric is worse by twice "
                 "what it claims to detect; exit 3 if one cannot");
}

void take_unless_given(const CLI::App& verb, const std::string& option,
                       const std::optional<std::string>& value, std::string& target) {
    if (value && verb.count(option) == 0) target = *value;
}

suite::Profile apply_profile(const CLI::App& verb, GateOptions& gate_options,
                             runner::OutputOptions& output_options) {
    if (gate_options.profile.empty()) return {};
    suite::Profile profile;
    try {
        profile = suite::load_profile(gate_options.profile);
    } catch (...) {
        clear_outputs(verb);
        throw;
    }
    if (verb.get_option_no_throw("--baselines") != nullptr) {
        take_unless_given(verb, "--baselines", profile.baselines, gate_options.baselines);
    }
    take_unless_given(verb, "--no-baseline", profile.policy.no_baseline_fails ? "fail" : "skip",
                      gate_options.no_baseline);
    take_unless_given(verb, "--inconclusive", profile.policy.inconclusive_fails ? "fail" : "pass",
                      gate_options.inconclusive);
    take_unless_given(verb, "--not-shown", profile.policy.not_shown_fails ? "fail" : "pass",
                      gate_options.not_shown);
    gate_options.prove =
        gate_options.prove || (profile.prove && verb.get_option_no_throw("--prove") != nullptr);
    gate_options.policy = profile.policy;
    take_unless_given(verb, "--junit-profile", profile.junit_profile, output_options.junit_profile);
    take_unless_given(verb, "--out", profile.out, output_options.out);
    return profile;
}

void leave_out_profile(const std::string& profile, std::vector<std::string>& suites) {
    const auto plain = [](const std::string& file) {
        return std::filesystem::path(file).lexically_normal();
    };
    const auto is_profile = [&](const std::string& suite) {
        return plain(suite) == plain(profile);
    };
    // If nothing else was given, the suite's reader says what is wrong with it.
    if (profile.empty() || std::all_of(suites.begin(), suites.end(), is_profile)) return;
    std::erase_if(suites, is_profile);
}

void note_unproved(const suite::Profile& profile, std::string_view mode) {
    if (profile.prove)
        note_no_effect("prove", mode, "only gates with a stored baseline are proved");
}

void note_without_canary(const suite::Profile& profile, std::string_view mode) {
    if (profile.canary) note_no_effect("canary", mode, "only 'run' measures a canary");
}

model::Policy policy_of(const GateOptions& options) {
    model::Policy policy = options.policy;
    policy.no_baseline_fails = options.no_baseline == "fail";
    policy.inconclusive_fails = options.inconclusive == "fail";
    policy.not_shown_fails = options.not_shown == "fail";
    return policy;
}

void name_run(const CLI::App& verb, const GateOptions& gate, const std::string& run_file,
              runner::OutputOptions& output) {
    report::CommandWords& commands = output.commands;
    commands.run_file = run_file;
    if (verb.get_name() == "ab") commands.verb = "ab";
    if (!gate.profile.empty()) commands.gate_words = {"--profile", gate.profile};
    const auto typed = [&](const char* name, std::vector<std::string>& words) {
        const CLI::Option* option = verb.get_option_no_throw(name);
        if (option == nullptr) return;
        for (const std::string& value : option->results()) {
            words.emplace_back(name);
            words.push_back(value);
        }
    };
    typed("--baselines", commands.gate_words);
    for (const char* name : {"--base", "--head", "--base-root", "--head-root", "--base-rev",
                             "--head-rev", "--base-env", "--head-env", "--backend", "--plugin"}) {
        typed(name, commands.run_words);
    }
}

runner::JudgingChoice judging_of(const GateOptions& options) {
    return {options.baselines, policy_of(options), options.prove};
}

}  // namespace perfgate::cli
