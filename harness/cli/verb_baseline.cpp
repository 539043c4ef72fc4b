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
#include <string_view>
#include <utility>
#include <vector>

#include "cli/gate_options.hpp"
#include "cli/run_file.hpp"
#include "cli/verb.hpp"
#include "cli/workers.hpp"
#include "gate/baseline_store.hpp"
#include "gate/diff.hpp"
#include "gate/learning.hpp"
#include "gate/refresh.hpp"
#include "gate/selection.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/json_reader.hpp"
#include "model/quantity.hpp"
#include "model/text.hpp"
#include "report/columns.hpp"
#include "suite/profile.hpp"

namespace perfgate::cli {

namespace {

namespace fs = std::filesystem;

std::string shown(std::string_view text) {
    return model::printable(text, 300);
}

/// Rows of equally many cells, aligned; the last column is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], report::display_width(row[i]));
        }
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += "  " + report::pad(row[i], widths[i], report::Align::left);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

bool is_suite_file(const std::string& file) {
    const fs::path extension = fs::path(file).extension();
    return extension == ".yaml" || extension == ".yml";
}

// ---- refresh
// --------------------------------------------------------------------------------------

struct RefreshOptions {
    std::vector<std::string> inputs;
    std::string baselines = "baselines";
    gate::Selection selection;
    gate::Acceptance acceptance;
    MeasuringChoice measuring;
    std::string profile;
    std::size_t runs = 1;  ///< to measure
    model::Policy policy;  ///< for what the gate will see
};

/// The baselines of every suite of the run, made before the first is written: a refused suite
/// leaves all files as they are.
std::vector<gate::Refreshed> refresh_all(const model::Run& run, const RefreshOptions& options) {
    std::vector<gate::Refreshed> results;
    std::set<std::string> names;
    for (const model::SuiteResult& suite : run.suites) {
        if (!names.insert(suite.name).second) {
            throw model::InputError(
                fmt::format("the run has the suite '{}' twice", shown(suite.name)));
        }
        const model::Device& device = run.environment.device;
        std::optional<model::Baseline> existing;
        if (auto stored = gate::load_baseline(options.baselines, device.key, suite.name)) {
            gate::require_same_device(device, stored->baseline.device, stored->file);
            existing = std::move(stored->baseline);
        }
        results.push_back(gate::refresh(run, suite, existing, options.acceptance));
    }
    return results;
}

std::string refreshed_text(const gate::Refreshed& result, const fs::path& file) {
    constexpr std::size_t most_names = 20;
    std::string text = fmt::format(
        "{}: {} accepted, {} unchanged, {} kept, {} removed\n", shown(file.string()),
        result.accepted.size(), result.unchanged.size(), result.kept.size(), result.removed.size());
    for (std::size_t i = 0; i < result.removed.size(); ++i) {
        if (i == most_names) {
            text += fmt::format("  and {} more\n", result.removed.size() - i);
            break;
        }
        text += fmt::format("  removed {}: the suite no longer has it\n", shown(result.removed[i]));
    }
    return text;
}

/// What the processes taught: how fine tolerances can be, and which counts do not repeat.
std::string lessons_text(const gate::Lessons& lessons) {
    constexpr std::size_t most_names = 20;
    const auto percent = [](double fraction) { return fmt::format("{:.3g} %", fraction * 100); };
    std::string text;
    for (const gate::Proposal& proposal : lessons.proposals) {
        text += fmt::format(
            "  {}: tolerances that the spread allows: {} for half of {} cases, {} for nine of ten, "
            "{} for all (worst: {})\n",
            shown(proposal.metric), percent(proposal.half), proposal.cases, percent(proposal.most),
            percent(proposal.all), shown(proposal.worst_id));
        if (proposal.too_fine > 0) {
            text += fmt::format("  {}: {} of the suite's tolerances are finer than that\n",
                                shown(proposal.metric), proposal.too_fine);
        }
    }
    for (std::size_t i = 0; i < lessons.demotions.size(); ++i) {
        if (i == most_names) {
            text += fmt::format("  and {} more\n", lessons.demotions.size() - i);
            break;
        }
        text += fmt::format("  {}: {} did not repeat and is judged by its spread\n",
                            shown(lessons.demotions[i].id), shown(lessons.demotions[i].metric));
    }
    return text;
}

void accept_run(const model::Run& run, const RefreshOptions& options) {
    std::string text;
    const std::vector<gate::Refreshed> results = refresh_all(run, options);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const model::Baseline& baseline = results[i].baseline;
        text += refreshed_text(results[i], gate::save_baseline(options.baselines, baseline));
        text += lessons_text(gate::lessons(run, run.suites[i], baseline, options.policy));
    }
    model::write_file_atomically("-", text);
}

int measure_and_accept(const RefreshOptions& options) {
    MeasuringChoice choice = options.measuring;
    choice.filters = options.selection.filters;
    choice.tags = options.selection.tags;
    // As many processes in all, however many runs they are spread over.
    if (!choice.processes) {
        choice.processes = (baseline_processes + options.runs - 1) / options.runs;
    }
    std::vector<model::Run> runs;
    for (std::size_t i = 0; i < options.runs; ++i) {
        if (options.runs > 1) {
            choice.out = (fs::path(options.measuring.out) / fmt::format("run-{}", i + 1)).string();
        }
        runs.push_back(measure_suites(options.inputs, choice));
        if (runs.back().interrupted) return 130;
    }
    accept_run(gate::combine_runs(std::move(runs)), options);
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
        runs.push_back(gate::select_cases(read_run(input), options.selection));
    }
    accept_run(gate::combine_runs(std::move(runs)), options);
    return 0;
}

/// What the command line does not say.
void apply_refresh_profile(const CLI::App& verb, RefreshOptions& options) {
    if (options.profile.empty()) return;
    const suite::Profile profile = suite::load_profile(options.profile);
    options.policy = profile.policy;
    take_unless_given(verb, "--baselines", profile.baselines, options.baselines);
    take_unless_given(verb, "--backend", profile.backend, options.measuring.backend.backend);
    take_unless_given(verb, "--out", profile.out, options.measuring.out);
}

void add_refresh(CLI::App& baseline, Invocation& invocation) {
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
    verb->add_option("--author", options->acceptance.accepted_by,
                     "Who accepts, kept with each accepted case")
        ->type_name("NAME");
    verb->add_option("--out", options->measuring.out, "Folder for the results of measuring")
        ->type_name("DIR")
        ->capture_default_str();
    add_measuring_options(*verb, options->measuring);
    verb->footer(
        "Incorrect, failed and incomplete cases are refused, and nothing is written then. With "
        "--filter or --tag the\nother cases stay as they are. Cases that the suite no longer has "
        "are removed. What did not change stays to the byte.\nExit code: 0 accepted; 2 refused; 3 "
        "could not measure or write; 130 interrupted.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            apply_refresh_profile(*verb, *options);
            return refresh(*options);
        };
    });
}

// ---- show
// -----------------------------------------------------------------------------------------

struct ShowOptions {
    std::string suite;
    std::string baselines = "baselines";
    std::string device;
    std::string json;
};

/// The device that the user named, or the only one there is.
std::string chosen_device(const ShowOptions& options) {
    if (!options.device.empty()) return options.device;
    const std::vector<std::string> keys =
        gate::devices_with_baseline(options.baselines, options.suite);
    if (keys.size() == 1) return keys.front();
    if (keys.empty()) {
        throw model::InputError(fmt::format("{}: no device has a baseline of suite '{}'",
                                            shown(options.baselines), shown(options.suite)));
    }
    std::string list;
    for (const std::string& key : keys) list += (list.empty() ? "" : ", ") + key;
    throw model::InputError(
        fmt::format("suite '{}' has baselines for several devices; choose one with --device: {}",
                    shown(options.suite), model::printable(list, 1000)));
}

std::string provenance_text(const model::Provenance& provenance) {
    std::string text;
    const auto add = [&](std::string_view what, const std::string& value) {
        if (value.empty()) return;
        if (!text.empty()) text += ", ";
        text += fmt::format("{}{}", what, shown(value));
    };
    add("", provenance.recorded_at);
    add("revision ", provenance.git_revision);
    add("board ", provenance.board);
    add("driver ", provenance.driver);
    add("perfgate ", provenance.tool_version);
    add("accepted by ", provenance.accepted_by);
    add("reason: ", provenance.reason);
    return text;
}

std::string baseline_text(const gate::StoredBaseline& stored) {
    const model::Baseline& baseline = stored.baseline;
    std::string text = fmt::format("{}\nsuite {} on {} ({}), {} cases\n", shown(stored.file),
                                   shown(baseline.suite), shown(baseline.device.name),
                                   shown(baseline.device.key), baseline.cases.size());
    for (const auto& [id, expected] : baseline.cases) {
        text += fmt::format("\n{}\n", shown(id));
        const std::string origin = provenance_text(expected.provenance);
        if (!origin.empty()) text += fmt::format("  {}\n", origin);
        std::vector<std::vector<std::string>> rows;
        for (const auto& [metric, series] : expected.metrics) {
            std::size_t samples = 0;
            for (const model::Batch& batch : series.batches) samples += batch.samples.size();
            rows.push_back({shown(metric), model::quantity_text(series.value, series.unit),
                            fmt::format("{} sample{}", samples, samples == 1 ? "" : "s"),
                            shown(series.method)});
        }
        text += table(rows);
    }
    return text;
}

int show(const ShowOptions& options) {
    const std::string device = chosen_device(options);
    const auto stored = gate::load_baseline(options.baselines, device, options.suite);
    if (!stored) {
        throw model::InputError(fmt::format(
            "there is no baseline {}{}",
            shown(gate::baseline_path(options.baselines, device, options.suite).string()),
            model::did_you_mean(device,
                                gate::devices_with_baseline(options.baselines, options.suite))));
    }
    if (!options.json.empty()) {
        model::write_file_atomically(options.json, model::write_baseline(stored->baseline));
    }
    if (options.json != "-") model::write_file_atomically("-", baseline_text(*stored));
    return 0;
}

void add_show(CLI::App& baseline, Invocation& invocation) {
    CLI::App* verb =
        baseline.add_subcommand("show", "Prints what is expected, and where it comes from");
    const auto options = std::make_shared<ShowOptions>();
    verb->add_option("SUITE", options->suite, "The suite's name (gemm)")->required();
    add_baselines_option(*verb, options->baselines);
    verb->add_option("--device", options->device,
                     "Device key (nvidia-h100-80gb-hbm3); may be left out where there is one")
        ->type_name("KEY");
    verb->add_option("--json", options->json, "Write the baseline document (- is standard output)")
        ->type_name("FILE");
    verb->callback(
        [&invocation, options] { invocation.body = [options] { return show(*options); }; });
}

// ---- diff
// -----------------------------------------------------------------------------------------

struct DiffOptions {
    std::string input;
    std::string baselines = "baselines";
    gate::Selection selection;
};

std::string change_line(const gate::MetricChange& change) {
    if (!change.note.empty()) return change.note;
    return change.change ? model::change_text(*change.change) : "";
}

model::QuantityTexts value_texts(const gate::MetricChange& change) {
    if (change.before && change.after && change.before_unit == change.after_unit) {
        return model::quantity_texts(*change.before, *change.after, change.after_unit);
    }
    const auto text = [](const std::optional<double>& value, const std::string& unit) {
        return value ? model::quantity_text(*value, unit) : std::string("absent");
    };
    return {text(change.before, change.before_unit), text(change.after, change.after_unit)};
}

std::string diff_text(const gate::BaselineDiff& difference, bool partial) {
    std::string text;
    // What a selection left out was not taken away.
    if (!partial) {
        for (const std::string& id : difference.removed) {
            text += fmt::format("\n{}\n  only in the stored baseline\n", shown(id));
        }
    }
    for (const std::string& id : difference.added) {
        text += fmt::format("\n{}\n  not in the stored baseline\n", shown(id));
    }
    for (auto change = difference.changes.begin(); change != difference.changes.end();) {
        const std::string& id = change->id;
        std::vector<std::vector<std::string>> rows;
        for (; change != difference.changes.end() && change->id == id; ++change) {
            const model::QuantityTexts values = value_texts(*change);
            rows.push_back({shown(change->metric), values.before + " → " + values.after,
                            change_line(*change)});
        }
        text += fmt::format("\n{}\n{}", shown(id), table(rows));
    }
    return text;
}

/// What is stored for the device and suite of `after`, against it.
std::string stored_diff_text(const model::Baseline& after, bool partial,
                             const std::string& folder) {
    model::Baseline before;
    std::string file = gate::baseline_path(folder, after.device.key, after.suite).string();
    const auto stored = gate::load_baseline(folder, after.device.key, after.suite);
    if (stored) {
        gate::require_same_device(after.device, stored->baseline.device, stored->file);
        before = stored->baseline;
    } else {
        file += " (does not exist)";
    }
    const gate::BaselineDiff difference = gate::diff(before, after);
    return fmt::format("{}: {} metrics differ, {} do not; {} cases are new{}\n{}", shown(file),
                       difference.changes.size(), difference.unchanged, difference.added.size(),
                       partial ? "" : fmt::format(", {} gone", difference.removed.size()),
                       diff_text(difference, partial));
}

std::string schema_of(const std::string& text, const std::string& file) {
    return std::string(model::JsonDocument(text, file).root().at("schema").text());
}

int diff(const DiffOptions& options) {
    const std::string text = model::read_file(options.input, run_limit_bytes, "document");
    std::string output;
    if (schema_of(text, options.input) == "perfgate.baseline") {
        const model::Baseline other = model::parse_baseline(text, options.input);
        output = stored_diff_text(other, false, options.baselines);
    } else {
        const model::Run run =
            gate::select_cases(model::parse_run(text, options.input), options.selection);
        for (const model::SuiteResult& suite : run.suites) {
            if (!output.empty()) output += '\n';
            output += stored_diff_text(gate::measured_values(run, suite),
                                       suite.partial || run.interrupted, options.baselines);
        }
    }
    model::write_file_atomically("-", output);
    return 0;
}

void add_diff(CLI::App& baseline, Invocation& invocation) {
    CLI::App* verb = baseline.add_subcommand(
        "diff", "Prints what a refresh would change: the stored baseline against a document");
    const auto options = std::make_shared<DiffOptions>();
    verb->add_option("DOCUMENT", options->input, "A run document, or another baseline file")
        ->required();
    add_baselines_option(*verb, options->baselines);
    add_selection_options(*verb, options->selection);
    verb->footer("Says what moved, whether it matters or not; compare judges.");
    verb->callback(
        [&invocation, options] { invocation.body = [options] { return diff(*options); }; });
}

}  // namespace

void add_baseline(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand("baseline", "Refreshes, shows and compares baselines");
    verb->require_subcommand(1);
    add_refresh(*verb, invocation);
    add_show(*verb, invocation);
    add_diff(*verb, invocation);
}

}  // namespace perfgate::cli
