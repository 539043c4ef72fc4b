// SPDX-License-Identifier: Apache-2.0
// Options that `run`, `compare` and `report` share: how a run is judged.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
    std::string baselines{suite::usual_baselines};  ///< folder
    std::string profile;                            ///< file; empty: none
    model::Selection selection;                     ///< --filter and --tag
    std::string no_baseline = "skip";               ///< or "fail"
    std::string inconclusive = "pass";              ///< or "fail"
    std::string not_shown = "pass";                 ///< or "fail"
    bool prove = false;
    model::Policy policy;  ///< the rest: from a profile, or the defaults
};

/// Only --baselines, for verbs that do not judge. A folder that is named must be there, unless the
/// verb creates it: what is mistyped has no baselines, and nothing would fail.
enum class BaselinesFolder { must_exist, created };
void add_baselines_option(CLI::App& app, std::string& folder,
                          BaselinesFolder use = BaselinesFolder::must_exist);
/// Only --profile.
void add_profile_option(CLI::App& app, std::string& file);
/// Only --filter and --tag.
void add_selection_options(CLI::App& app, model::Selection& selection);
/// Only --no-baseline, --inconclusive and --not-shown.
void add_policy_options(CLI::App& app, GateOptions& options);
/// Only --prove.
void add_prove_option(CLI::App& app, GateOptions& options);
/// All of GateOptions except the selection and --prove.
void add_judging_options(CLI::App& app, GateOptions& options);
/// All of GateOptions except --prove.
void add_gate_options(CLI::App& app, GateOptions& options);

/// Uses a profile's value if the option is not given.
void take_unless_given(const CLI::App& verb, const std::string& option,
                       const std::optional<std::string>& value, std::string& target);

/// Uses the profile, if one is given, for options that are not given. Returns it for the verb's
/// other options.
suite::Profile apply_profile(const CLI::App& verb, GateOptions& gate_options,
                             runner::OutputOptions& output_options);

/// Takes the profile out of the suites: a pattern such as perf/*.yaml may match it too, and no file
/// is both.
void leave_out_profile(const std::string& profile, std::vector<std::string>& suites);

/// Says that the profile's `prove` does nothing with this verb or option, if it is set.
void note_unproved(const suite::Profile& profile, std::string_view mode);
/// The same of its `canary`.
void note_without_canary(const suite::Profile& profile, std::string_view mode);

model::Policy policy_of(const GateOptions& options);

/// What the commands at the end of a report need: the run document, and the options of this command
/// line that judge, or measure, as it did.
void name_run(const CLI::App& verb, const GateOptions& gate, const std::string& run_file,
              runner::OutputOptions& output);

runner::JudgingChoice judging_of(const GateOptions& options);

}  // namespace perfgate::cli
