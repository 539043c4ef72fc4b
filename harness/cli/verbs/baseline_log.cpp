// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/baseline.hpp"
#include "cli/verbs/verb.hpp"
#include "model/quantity.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct LogOptions {
    runner::BaselineChoice choice;
    std::vector<std::string> cases;
};

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

int log(const LogOptions& options) {
    std::string text;
    for (const model::LedgerEntry& entry : runner::ledger_entries(options.choice, options.cases)) {
        text += entry_text(entry);
    }
    util::write_file_atomically("-", text);
    return 0;
}

}  // namespace

void add_baseline_log(CLI::App& baseline, Invocation& invocation) {
    CLI::App* verb =
        baseline.add_subcommand("log", "Shows who accepted what, when and why, newest first");
    const auto options = std::make_shared<LogOptions>();
    add_baseline_choice_options(*verb, options->choice);
    verb->add_option("--case", options->cases, "Only cases whose id matches; may be repeated")
        ->type_name("GLOB")
        ->type_size(1)
        ->allow_extra_args(false);
    verb->footer(
        "The ledger is <suite>.ledger.jsonl beside the baseline: one JSON object a line, for "
        "other programs.");
    verb->callback(
        [&invocation, options] { invocation.body = [options] { return log(*options); }; });
}

}  // namespace perfgate::cli
