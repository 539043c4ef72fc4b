// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baseline/store.hpp"
#include "cli/options/baseline_choice.hpp"
#include "cli/options/gate.hpp"
#include "cli/verbs/verb.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/quantity.hpp"
#include "model/text.hpp"

namespace perfgate::cli {

namespace {

struct LogOptions {
    std::string suite;
    std::string baselines = "baselines";
    std::string device;
    std::vector<std::string> cases;
};

std::string entry_text(const model::LedgerEntry& entry) {
    using model::LedgerAction;
    std::string text =
        fmt::format("{}  {}", model::printable(entry.at), model::to_text(entry.action));
    text += entry.action == LedgerAction::refresh ? fmt::format("  {} cases", entry.cases)
                                                  : "  " + model::printable(entry.id);
    if (!entry.until.empty()) text += "  until " + model::printable(entry.until);
    if (entry.anchor_reset) text += "  anchor reset";
    text += '\n';
    if (!entry.by.empty() || !entry.reason.empty()) {
        text += fmt::format("    {}{}{}\n", model::printable(entry.by),
                            entry.by.empty() || entry.reason.empty() ? "" : ": ",
                            model::printable(entry.reason));
    }
    for (const auto& [metric, change] : entry.changes) {
        if (!change.before) {
            text += fmt::format("    {} {}\n", model::printable(metric),
                                model::quantity_text(change.after, change.unit));
            continue;
        }
        const model::QuantityTexts values =
            model::quantity_texts(*change.before, change.after, change.unit);
        text +=
            fmt::format("    {} {} → {}", model::printable(metric), values.before, values.after);
        if (change.anchor) {
            text += fmt::format(", anchor {}", model::quantity_text(*change.anchor, change.unit));
        }
        text += '\n';
    }
    return text;
}

int log(const LogOptions& options) {
    const std::string device = chosen_device(options.baselines, options.suite, options.device);
    auto ledger = baseline::load_ledger(options.baselines, device, options.suite);
    if (!ledger) {
        throw model::InputError(fmt::format(
            "there is no ledger {}: it begins with the first refresh or acceptance",
            model::printable(
                baseline::ledger_path(options.baselines, device, options.suite).string())));
    }
    std::erase_if(ledger->entries, [&](const model::LedgerEntry& entry) {
        return !options.cases.empty() &&
               std::none_of(options.cases.begin(), options.cases.end(),
                            [&](const auto& glob) { return model::glob_match(glob, entry.id); });
    });
    // Of one second, what stands last in the ledger is the newest.
    std::reverse(ledger->entries.begin(), ledger->entries.end());
    std::stable_sort(ledger->entries.begin(), ledger->entries.end(),
                     [](const auto& left, const auto& right) { return left.at > right.at; });
    std::string text;
    for (const model::LedgerEntry& entry : ledger->entries) text += entry_text(entry);
    model::write_file_atomically("-", text);
    return 0;
}

}  // namespace

void add_baseline_log(CLI::App& baseline, Invocation& invocation) {
    CLI::App* verb =
        baseline.add_subcommand("log", "Shows who accepted what, when and why, newest first");
    const auto options = std::make_shared<LogOptions>();
    verb->add_option("SUITE", options->suite, "The suite's name (gemm)")->required();
    add_baselines_option(*verb, options->baselines);
    add_device_option(*verb, options->device);
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
