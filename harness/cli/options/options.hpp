// SPDX-License-Identifier: Apache-2.0
// Options that several verbs share. Each add_… function adds the options that it names; what they
// are bound to must not move until the command line is parsed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baseline/acceptance.hpp"
#include "model/selection.hpp"
#include "model/verdict.hpp"
#include "runner/baselines.hpp"
#include "runner/choice.hpp"
#include "runner/imported.hpp"
#include "runner/reports.hpp"
#include "suite/profile.hpp"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace perfgate::runner {
struct AbRequest;
}

namespace perfgate::cli {

// The groups of --help. Options of the last one are only in --help-all.
inline constexpr const char* measure_group = "Measure";
inline constexpr const char* judge_group = "Judge";
inline constexpr const char* report_group = "Report";
inline constexpr const char* more_group = "More";

/// One of these words; help and completion list them. `synonyms`: what people type, and the word
/// that a message names then.
CLI::Validator one_of(const std::vector<std::string>& words,
                      const std::map<std::string, std::string>& synonyms = {});
/// A number in this range, ends included.
CLI::Validator in_range(double least, double most);
inline constexpr double most_seconds = 1e9;

/// An option that may be repeated and takes one value each time.
CLI::Option* add_repeatable(CLI::App& app, const std::string& name,
                            std::vector<std::string>& values, const std::string& help,
                            const std::string& type);

// Measuring (measuring.cpp)

/// --plugin.
CLI::Option* add_plugin_option(CLI::App& app, std::vector<std::string>& plugins);
/// --backend, --devices, --plugin, --no-cupti.
void add_backend_options(CLI::App& app, runner::BackendChoice& choice);
/// All options for measuring suites, except --filter, --tag and --out. Progress goes to standard
/// error.
void add_measuring_options(CLI::App& app, runner::MeasuringChoice& choice);
/// Adds the config's plugins. Throws util::InputError for one that is absent.
void add_config_plugins(const suite::Profile& profile, runner::BackendChoice& choice);
/// Uses the config for options that are not given, and its plugins.
void apply_measuring_profile(const CLI::App& verb, const suite::Profile& profile,
                             runner::MeasuringChoice& choice);

// Judging (judging.cpp)

struct Config {
    std::string file;               ///< empty: none
    std::vector<std::string> keys;  ///< KEY=VALUE, which take precedence

    [[nodiscard]] suite::Profile load() const;
};

struct GateOptions {
    std::string baselines{suite::usual_baselines};  ///< folder
    Config config;
    model::Selection selection;  ///< --filter and --tag
    bool prove = false;
    model::Policy policy;  ///< the config's
};

/// --baselines. A folder that is named must be there, unless the verb creates it: what is mistyped
/// has no baselines, and nothing would fail.
enum class BaselinesFolder { must_exist, created };
void add_baselines_option(CLI::App& app, std::string& folder,
                          BaselinesFolder use = BaselinesFolder::must_exist);
/// --config and --set.
void add_config_options(CLI::App& app, Config& config);
/// --filter and --tag.
void add_selection_options(CLI::App& app, model::Selection& selection);
/// --prove.
void add_prove_option(CLI::App& app, GateOptions& options);
/// All of GateOptions except --prove.
void add_gate_options(CLI::App& app, GateOptions& options);

/// Uses a config's value if the option is not given.
void take_unless_given(const CLI::App& verb, const std::string& option,
                       const std::optional<std::string>& value, std::string& target);

/// Uses the config for options that are not given. Returns it for the verb's other options.
suite::Profile apply_profile(const CLI::App& verb, GateOptions& gate_options,
                             runner::OutputOptions& output_options);

/// Takes the config out of the suites: a pattern such as perf/*.yaml may match it too, and no file
/// is both.
void leave_out_config(const Config& config, std::vector<std::string>& suites);

/// Says that the config's `prove` does nothing with this verb or option, if it is set.
void note_unproved(const suite::Profile& profile, std::string_view mode);
/// The same of its `canary`.
void note_without_canary(const suite::Profile& profile, std::string_view mode);

/// What the commands at the end of a report need: the run document, and the options of this command
/// line that judge, or measure, as it did.
void name_run(const CLI::App& verb, const GateOptions& gate, const std::string& run_file,
              runner::OutputOptions& output);

/// All options for measuring sides back to back and judging one by the other, except the sides.
void add_comparing_options(CLI::App& app, runner::AbRequest& request, GateOptions& options);
/// Uses the config for options that are not given, and checks the outputs.
void apply_comparing_options(const CLI::App& verb, GateOptions& options,
                             runner::AbRequest& request);

runner::JudgingChoice judging_of(const GateOptions& options);

/// --format: how results of benchmarks are read.
CLI::Option* add_format_option(CLI::App& app, runner::ImportChoice& choice);
/// --format, --tolerance and --suite.
void add_result_options(CLI::App& app, runner::ImportChoice& choice);

// Baselines (judging.cpp)

/// SUITE, --baselines and --device-key.
void add_baseline_choice_options(CLI::App& app, runner::BaselineChoice& choice);

struct AcceptanceOptions {
    std::string reason, author;
    bool reset_anchor = false;
};

/// --reason and --author.
CLI::Option* add_reason_options(CLI::App& app, AcceptanceOptions& options);
/// --reset-anchor.
void add_anchor_option(CLI::App& app, AcceptanceOptions& options);

/// With the current time, and git's user name if no author is given.
baseline::Acceptance acceptance_of(const AcceptanceOptions& options, const suite::Profile& profile);

// Output (output.cpp)

/// A format of --report. A file with its ending needs no FORMAT: before it.
struct ReportFormat {
    std::string name, ending;  ///< "markdown", ".md"; no ending: it is always named
};
using ReportFiles = std::map<std::string, std::string>;  ///< format to file; "-": standard output

/// --report [FORMAT:]FILE. `files` has an entry for every format, empty if it is not wanted.
CLI::Option* add_report_option(CLI::App& app, const std::vector<ReportFormat>& formats,
                               ReportFiles& files);
/// The same for a verb that has one document, in JSON.
CLI::Option* add_json_option(CLI::App& app, std::string& file);

/// --out, --report and what changes the reports' appearance. The help of --out shows the verb's
/// default, the present value of `options.out`.
void add_output_options(CLI::App& app, runner::OutputOptions& options);

/// runner::clear_outputs, with the inputs that the command line names and the run documents that
/// the verb stores.
void clear_outputs(const CLI::App& verb, runner::OutputOptions options);

/// The same for a command line that was refused, or whose config cannot be read: for the outputs
/// that it names, or the verb's default folder. A verb without options, typed to see its usage,
/// clears nothing.
void clear_outputs(const CLI::App& verb);

/// runner::check_outputs, likewise.
void check_outputs(const CLI::App& verb, runner::OutputOptions options);

}  // namespace perfgate::cli
