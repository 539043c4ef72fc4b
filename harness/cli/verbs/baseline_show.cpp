// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "document/baseline.hpp"
#include "model/quantity.hpp"
#include "report/columns.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct ShowOptions {
    runner::BaselineChoice choice;
    std::vector<std::string> cases;
    std::string json;
    bool log = false;
};

std::string provenance_text(const model::Provenance& provenance) {
    std::string text;
    const auto add = [&](std::string_view what, const std::string& value) {
        if (value.empty()) return;
        if (!text.empty()) text += ", ";
        text += fmt::format("{}{}", what, util::printable(value));
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
    std::string text = fmt::format(
        "{}\nsuite {} on {} ({}), {}\n", util::printable(stored.file),
        util::printable(baseline.suite), util::printable(baseline.device.name),
        util::printable(baseline.device.key), util::counted(baseline.cases.size(), "case"));
    for (const auto& [id, expected] : baseline.cases) {
        text += fmt::format("\n{}\n", util::printable(id));
        const std::string origin = provenance_text(expected.provenance);
        if (!origin.empty()) text += fmt::format("  {}\n", origin);
        std::vector<std::vector<std::string>> rows;
        for (const auto& [metric, series] : expected.metrics) {
            std::size_t samples = 0;
            for (const model::Batch& batch : series.batches) samples += batch.samples.size();
            rows.push_back(
                {util::printable(metric), model::quantity_text(series.value, series.unit),
                 util::counted(samples, "sample"), util::printable(to_text(series.method))});
        }
        text += report::table(rows);
    }
    return text;
}

std::string entry_text(const model::LedgerEntry& entry) {
    using model::LedgerAction;
    std::string text =
        fmt::format("{}  {}", util::printable(entry.at), model::to_text(entry.action));
    text += entry.action == LedgerAction::refresh ? "  " + util::counted(entry.cases, "case")
                                                  : "  " + util::printable(entry.id);
    if (!entry.until.empty()) text += "  until " + util::printable(entry.until);
    if (entry.anchor_reset) text += "  anchor reset";
    for (const std::string& board : entry.added_boards) {
        text += "  added board " + util::printable(board);
    }
    text += '\n';
    if (!entry.by.empty() || !entry.reason.empty()) {
        text += fmt::format("    {}{}{}\n", util::printable(entry.by),
                            entry.by.empty() || entry.reason.empty() ? "" : ": ",
                            util::printable(entry.reason));
    }
    for (const auto& [metric, change] : entry.changes) {
        if (!change.before) {
            text += fmt::format("    {} {}\n", util::printable(metric),
                                model::quantity_text(change.after, change.unit));
            continue;
        }
        const model::QuantityTexts values =
            model::quantity_texts(*change.before, change.after, change.unit);
        text += fmt::format("    {} {} → {}", util::printable(metric), values.before, values.after);
        if (change.anchor) {
            text += fmt::format(", anchor {}", model::quantity_text(*change.anchor, change.unit));
        }
        text += '\n';
    }
    return text;
}

int show_log(const ShowOptions& options) {
    if (!options.json.empty()) {
        throw util::InputError(
            "--report has no meaning with --log: the ledger beside the baseline is JSON lines");
    }
    std::string text;
    for (const model::LedgerEntry& entry : runner::ledger_entries(options.choice, options.cases)) {
        text += entry_text(entry);
    }
    util::write_file_atomically("-", text);
    return 0;
}

int show(const ShowOptions& options) {
    if (options.log) return show_log(options);
    if (!options.cases.empty()) throw util::InputError("--filter is for --log: leave it out");

    const gate::StoredBaseline stored = runner::stored_baseline(options.choice);
    if (!options.json.empty()) {
        util::write_file_atomically(options.json, document::write_baseline(stored.baseline));
    }
    if (options.json != "-") util::write_file_atomically("-", baseline_text(stored));
    return 0;
}

}  // namespace

Body add_baseline_show(CLI::App& verb) {
    const auto options = std::make_shared<ShowOptions>();
    add_baseline_choice_options(verb, options->choice);
    verb.add_flag("--log", options->log,
                  "Show who accepted what, when and why, newest first, in place of the values");
    add_repeatable(verb, "--filter", options->cases,
                   "With --log: only cases whose id matches (repeatable)", "GLOB");
    add_json_option(verb, options->json);
    verb.footer(
        "The ledger is <suite>.ledger.jsonl beside the baseline: one JSON object a line, for other "
        "programs.");
    return [options] { return show(*options); };
}

}  // namespace perfgate::cli
