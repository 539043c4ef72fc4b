// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baseline/diff.hpp"
#include "baseline/store.hpp"
#include "cli/options/gate.hpp"
#include "cli/verbs/verb.hpp"
#include "document/baseline.hpp"
#include "document/json_reader.hpp"
#include "document/run.hpp"
#include "model/file.hpp"
#include "model/quantity.hpp"
#include "model/selection.hpp"
#include "model/text.hpp"
#include "report/columns.hpp"
#include "runner/run_file.hpp"

namespace perfgate::cli {

namespace {

struct DiffOptions {
    std::string input;
    std::string baselines = "baselines";
    model::Selection selection;
};

std::string change_line(const baseline::MetricChange& change) {
    if (!change.note.empty()) return change.note;
    return change.change ? model::change_text(*change.change) : "";
}

model::QuantityTexts value_texts(const baseline::MetricChange& change) {
    if (change.before && change.after && change.before_unit == change.after_unit) {
        return model::quantity_texts(*change.before, *change.after, change.after_unit);
    }
    const auto text = [](const std::optional<double>& value, const std::string& unit) {
        return value ? model::quantity_text(*value, unit) : std::string("absent");
    };
    return {text(change.before, change.before_unit), text(change.after, change.after_unit)};
}

std::string diff_text(const baseline::BaselineDiff& difference, bool partial) {
    std::string text;
    // What a selection left out was not taken away.
    if (!partial) {
        for (const std::string& id : difference.removed) {
            text += fmt::format("\n{}\n  only in the stored baseline\n", model::printable(id));
        }
    }
    for (const std::string& id : difference.added) {
        text += fmt::format("\n{}\n  not in the stored baseline\n", model::printable(id));
    }
    for (auto change = difference.changes.begin(); change != difference.changes.end();) {
        const std::string& id = change->id;
        std::vector<std::vector<std::string>> rows;
        for (; change != difference.changes.end() && change->id == id; ++change) {
            const model::QuantityTexts values = value_texts(*change);
            rows.push_back({model::printable(change->metric), values.before + " → " + values.after,
                            change_line(*change)});
        }
        text += fmt::format("\n{}\n{}", model::printable(id), report::table(rows));
    }
    return text;
}

/// What is stored for the device and suite of `after`, against it.
std::string stored_diff_text(const model::Baseline& after, bool partial,
                             const std::string& folder) {
    model::Baseline before;
    std::string file = baseline::baseline_path(folder, after.device.key, after.suite).string();
    const auto stored = baseline::load_baseline(folder, after.device.key, after.suite);
    if (stored) {
        gate::require_same_device(after.device, stored->baseline.device, stored->file);
        before = stored->baseline;
    } else {
        file += " (does not exist)";
    }
    const baseline::BaselineDiff difference = baseline::diff(before, after);
    return fmt::format("{}: {} metrics differ, {} do not; {} cases are new{}\n{}",
                       model::printable(file), difference.changes.size(), difference.unchanged,
                       difference.added.size(),
                       partial ? "" : fmt::format(", {} gone", difference.removed.size()),
                       diff_text(difference, partial));
}

std::string schema_of(const std::string& text, const std::string& file) {
    return std::string(document::JsonDocument(text, file).root().at("schema").text());
}

int diff(const DiffOptions& options) {
    const std::string text = model::read_file(options.input, runner::run_limit_bytes, "document");
    std::string output;
    if (schema_of(text, options.input) == "perfgate.baseline") {
        const model::Baseline other = document::parse_baseline(text, options.input);
        output = stored_diff_text(other, false, options.baselines);
    } else {
        const model::Run run =
            model::select_cases(document::parse_run(text, options.input), options.selection);
        for (const model::SuiteResult& suite : run.suites) {
            if (!output.empty()) output += '\n';
            output += stored_diff_text(baseline::measured_values(run, suite),
                                       suite.partial || run.interrupted, options.baselines);
        }
    }
    model::write_file_atomically("-", output);
    return 0;
}

}  // namespace

void add_baseline_diff(CLI::App& baseline, Invocation& invocation) {
    CLI::App* verb = baseline.add_subcommand(
        "diff", "Prints what a refresh would change: the stored baseline against a document");
    const auto options = std::make_shared<DiffOptions>();
    verb->add_option("DOCUMENT", options->input, "A run document, or another baseline file")
        ->required();
    add_baselines_option(*verb, options->baselines);
    add_selection_options(*verb, options->selection);
    verb->footer("Lists every difference, whether it matters or not; compare judges.");
    verb->callback(
        [&invocation, options] { invocation.body = [options] { return diff(*options); }; });
}

}  // namespace perfgate::cli
