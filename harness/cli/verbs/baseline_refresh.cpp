// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "baseline/pooling.hpp"
#include "baseline/refresh.hpp"
#include "baseline/store.hpp"
#include "cli/options/acceptance.hpp"
#include "cli/options/gate.hpp"
#include "cli/options/measuring.hpp"
#include "cli/verbs/verb.hpp"
#include "gate/selection.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/text.hpp"
#include "runner/baseline_runs.hpp"
#include "runner/run_file.hpp"
#include "suite/profile.hpp"

namespace perfgate::cli {

namespace {

namespace fs = std::filesystem;

bool is_suite_file(const std::string& file) {
    const fs::path extension = fs::path(file).extension();
    return extension == ".yaml" || extension == ".yml";
}

struct RefreshOptions {
    std::vector<std::string> inputs;
    std::string baselines = "baselines";
    gate::Selection selection;
    AcceptanceOptions acceptance;
    runner::MeasuringChoice measuring;
    std::string profile;
    std::size_t runs = 1;  ///< to measure
    suite::Profile taken;  ///< from `profile`
};

/// The baselines of every suite of the run, made before the first is written: a refused suite
/// leaves all files as they are.
std::vector<baseline::Refreshed> refresh_all(const model::Run& run, const RefreshOptions& options) {
    const baseline::Acceptance acceptance = acceptance_of(options.acceptance, options.taken);
    std::vector<baseline::Refreshed> results;
    std::set<std::string> names;
    for (const model::SuiteResult& suite : run.suites) {
        if (!names.insert(suite.name).second) {
            throw model::InputError(
                fmt::format("the run has the suite '{}' twice", model::printable(suite.name)));
        }
        const model::Device& device = run.environment.device;
        std::optional<model::Baseline> existing;
        if (auto stored = baseline::load_baseline(options.baselines, device.key, suite.name)) {
            gate::require_same_device(device, stored->baseline.device, stored->file);
            existing = std::move(stored->baseline);
        }
        results.push_back(baseline::refresh(run, suite, existing, acceptance));
    }
    return results;
}

std::string refreshed_text(const baseline::Refreshed& result, const fs::path& file) {
    constexpr std::size_t most_names = 20;
    std::string text = fmt::format(
        "{}: {} accepted, {} unchanged, {} kept, {} removed\n", model::printable(file.string()),
        result.accepted.size(), result.unchanged.size(), result.kept.size(), result.removed.size());
    for (std::size_t i = 0; i < result.removed.size(); ++i) {
        if (i == most_names) {
            text += fmt::format("  and {} more\n", result.removed.size() - i);
            break;
        }
        text += fmt::format("  removed {}: the suite no longer has it\n",
                            model::printable(result.removed[i]));
    }
    if (result.acknowledged > 0) {
        text += fmt::format("  {} acknowledged metrics stay as they are until their day is over\n",
                            result.acknowledged);
    }
    return text;
}

/// What the processes taught: how fine tolerances can be, and which counts do not repeat.
std::string findings_text(const baseline::PoolingFindings& findings) {
    constexpr std::size_t most_names = 20;
    const auto percent = [](double fraction) { return fmt::format("{:.3g} %", fraction * 100); };
    std::string text;
    for (const baseline::Proposal& proposal : findings.proposals) {
        text += fmt::format(
            "  {}: tolerances that the spread allows: {} for half of {} cases, {} for nine of ten, "
            "{} for all (worst: {})\n",
            model::printable(proposal.metric), percent(proposal.half), proposal.cases,
            percent(proposal.most), percent(proposal.all), model::printable(proposal.worst_id));
        if (proposal.too_fine > 0) {
            text += fmt::format("  {}: {} of the suite's tolerances are finer than that\n",
                                model::printable(proposal.metric), proposal.too_fine);
        }
    }
    for (std::size_t i = 0; i < findings.demotions.size(); ++i) {
        if (i == most_names) {
            text += fmt::format("  and {} more\n", findings.demotions.size() - i);
            break;
        }
        text += fmt::format("  {}: {} did not repeat and is judged by its spread\n",
                            model::printable(findings.demotions[i].id),
                            model::printable(findings.demotions[i].metric));
    }
    return text;
}

void accept_run(model::Run run, const RefreshOptions& options) {
    // Suites of which nothing was selected stay as they are.
    std::erase_if(run.suites, [](const model::SuiteResult& suite) {
        return suite.partial && suite.cases.empty();
    });
    std::string text;
    const baseline::BaselineLock lock(options.baselines, waiting_for_baselines(options.baselines));
    const std::vector<baseline::Refreshed> results = refresh_all(run, options);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const model::Baseline& baseline = results[i].baseline;
        std::vector<model::LedgerEntry> entries;
        if (results[i].entry) entries.push_back(*results[i].entry);
        text += refreshed_text(results[i], baseline::store_accepted(lock, baseline, entries));
        text += findings_text(
            baseline::pooling_findings(run, run.suites[i], baseline, options.taken.policy));
    }
    model::write_file_atomically("-", text);
}

int measure_and_accept(const RefreshOptions& options) {
    runner::MeasuringChoice choice = options.measuring;
    choice.filters = options.selection.filters;
    choice.tags = options.selection.tags;
    std::vector<model::Run> runs =
        runner::measure_baseline_runs(options.inputs, choice, options.runs);
    if (runs.back().interrupted) return 130;
    accept_run(baseline::combine_runs(std::move(runs)), options);
    return 0;
}

int refresh(const RefreshOptions& options) {
    const auto suites = std::count_if(options.inputs.begin(), options.inputs.end(), is_suite_file);
    if (suites == std::ssize(options.inputs)) return measure_and_accept(options);
    if (suites != 0) {
        throw model::InputError(
            "baseline refresh takes run documents, or suite files (.yaml) to be measured now");
    }
    std::vector<model::Run> runs;
    for (const std::string& input : options.inputs) {
        runs.push_back(gate::select_cases(runner::read_run(input), options.selection));
    }
    accept_run(baseline::combine_runs(std::move(runs)), options);
    return 0;
}

/// What the command line does not say.
void apply_refresh_profile(const CLI::App& verb, RefreshOptions& options) {
    if (options.profile.empty()) return;
    const suite::Profile& profile = options.taken = suite::load_profile(options.profile);
    take_unless_given(verb, "--baselines", profile.baselines, options.baselines);
    take_unless_given(verb, "--backend", profile.backend, options.measuring.backend.backend);
    take_unless_given(verb, "--out", profile.out, options.measuring.out);
}

}  // namespace

void add_baseline_refresh(CLI::App& baseline, Invocation& invocation) {
    CLI::App* verb = baseline.add_subcommand(
        "refresh", "Accepts what was measured as what is expected from now on");
    const auto options = std::make_shared<RefreshOptions>();
    verb->add_option(
            "RUN", options->inputs,
            "Run documents (perfgate-out/run.json) of the same cases, or suite files (.yaml) to be "
            "measured now")
        ->required();
    add_baselines_option(*verb, options->baselines);
    add_profile_option(*verb, options->profile);
    add_selection_options(*verb, options->selection);
    verb->add_option("--runs", options->runs,
                     "Measure the suites so many times, with 20 processes in all; three or more "
                     "show how far whole runs lie apart")
        ->check(CLI::Range(1, 100))
        ->type_name("N")
        ->capture_default_str();
    verb->add_option("--reason", options->acceptance.reason, "Why, kept with each accepted case")
        ->type_name("TEXT");
    add_acceptance_options(*verb, options->acceptance);
    verb->add_option("--out", options->measuring.out, "Folder for the results of measuring")
        ->type_name("DIR")
        ->capture_default_str();
    add_measuring_options(*verb, options->measuring);
    verb->footer(
        "Incorrect, failed and incomplete cases are refused, and those whose processes disagree by "
        "more than the tolerance;\nnothing is written then. With --filter or --tag the other cases "
        "stay as they are. Cases that the suite no longer has "
        "are removed. What did not change stays to the byte.\nExit code: 0 accepted; 2 refused; 3 "
        "could not measure or write; 130 interrupted.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            apply_refresh_profile(*verb, *options);
            return refresh(*options);
        };
    });
}

}  // namespace perfgate::cli
