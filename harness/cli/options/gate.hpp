// SPDX-License-Identifier: Apache-2.0
// What `run`, `compare` and `report` share: the options that say how a run is judged.
#pragma once

#include <optional>
#include <string>

#include "model/selection.hpp"
#include "model/verdict.hpp"
#include "runner/choice.hpp"
#include "runner/reports.hpp"
#include "suite/profile.hpp"

namespace CLI {
class App;
}

namespace perfgate::cli {

struct GateOptions {
    std::string baselines = "baselines";  ///< folder
    std::string profile;                  ///< file; empty: none
    model::Selection selection;           ///< --filter and --tag
    std::string no_baseline = "skip";     ///< or "fail"
    std::string inconclusive = "pass";    ///< or "fail"
    model::Policy policy;                 ///< the rest of it: a profile's, or the defaults
};

/// --baselines alone, for verbs that judge nothing.
void add_baselines_option(CLI::App& app, std::string& folder);
/// --profile alone.
void add_profile_option(CLI::App& app, std::string& file);
/// --filter and --tag alone.
void add_selection_options(CLI::App& app, model::Selection& selection);
/// --no-baseline and --inconclusive alone.
void add_policy_options(CLI::App& app, GateOptions& options);
/// All of GateOptions but the selection.
void add_judging_options(CLI::App& app, GateOptions& options);
/// All of GateOptions.
void add_gate_options(CLI::App& app, GateOptions& options);

/// Puts a profile's value where the command line has none.
void take_unless_given(const CLI::App& verb, const std::string& option,
                       const std::optional<std::string>& value, std::string& target);

/// Takes from the profile, where one is given, what the command line does not say. Returns it, for
/// what the verb's other options are.
suite::Profile apply_profile(const CLI::App& verb, GateOptions& gate_options,
                             runner::OutputOptions& output_options);

model::Policy policy_of(const GateOptions& options);

runner::JudgingChoice judging_of(const GateOptions& options);

}  // namespace perfgate::cli
