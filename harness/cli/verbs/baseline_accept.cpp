// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <strings.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

#include "baseline/accept.hpp"
#include "cli/options/options.hpp"
#include "cli/verbs/verb.hpp"
#include "model/quantity.hpp"
#include "runner/baselines.hpp"
#include "suite/profile.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

struct AcceptOptions {
    std::string run;
    std::string baselines = "baselines";
    Config config;
    baseline::AcceptChoice choice;
    AcceptanceOptions acceptance;
};

std::string change_text(const std::string& metric, const model::LedgerChange& change) {
    if (!change.before) {
        return fmt::format("    {} {}\n", util::printable(metric),
                           model::quantity_text(change.after, change.unit));
    }
    const model::QuantityTexts values =
        model::quantity_texts(*change.before, change.after, change.unit);
    const std::string moved = model::moved_text(*change.before, change.after, change.unit);
    return fmt::format("    {} {} → {}{}\n", util::printable(metric), values.before, values.after,
                       moved.empty() ? "" : fmt::format(" ({})", moved));
}

std::string accepted_text(const baseline::Accepted& result, const std::string& file,
                          bool acknowledge) {
    const auto is_removed = [](const model::LedgerEntry& entry) {
        return entry.action == model::LedgerAction::prune;
    };
    const auto removed = std::ranges::count_if(result.entries, is_removed);
    std::string text =
        fmt::format("{}: {} {}{}, {} of the chosen cases have nothing to {}, {} skipped\n",
                    util::printable(file), std::ssize(result.entries) - removed,
                    acknowledge ? "acknowledged" : "accepted",
                    removed == 0 ? "" : fmt::format(", {} removed", removed), result.unchanged,
                    acknowledge ? "acknowledge" : "accept", result.skipped);
    for (const model::LedgerEntry& entry : result.entries) {
        text +=
            fmt::format("  {}{}\n", is_removed(entry) ? "removed " : "", util::printable(entry.id));
        for (const auto& [metric, change] : entry.changes) text += change_text(metric, change);
    }
    return text;
}

int accept(const CLI::App& verb, const AcceptOptions& options) {
    const suite::Profile profile = options.config.load();
    std::string folder = options.baselines;
    take_unless_given(verb, "--baselines", profile.baselines, folder);
    std::string text;
    for (const runner::AcceptedSuite& suite :
         runner::accept_changes(options.run, folder, profile.policy, options.choice,
                                acceptance_of(options.acceptance, profile))) {
        text += accepted_text(suite.result, suite.file.string(), !options.choice.until.empty());
        if (suite.renewed) {
            text += "note: the file was of an older format version; all of it is written anew\n";
        }
    }
    util::write_file_atomically("-", text);
    return 0;
}

}  // namespace

Body add_baseline_accept(CLI::App& verb) {
    const auto options = std::make_shared<AcceptOptions>();
    verb.add_option("RUN", options->run, "Run document (perfgate-out/run.json)")
        ->required()
        ->type_name("FILE");
    add_repeatable(
        verb, "--filter", options->choice.cases,
        "Only cases with this id, or whose id matches (* any text, ? any character; repeatable). "
        "The id of a case that the suite no longer has removes it",
        "GLOB");
    add_reason_options(verb, options->acceptance)
        ->required()
        ->check([](const std::string& text) -> std::string {
            // The word that reports leave for the user's own.
            constexpr const char* ends = " \t\r\n!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~…";
            const std::size_t first = text.find_first_not_of(ends);
            if (first == std::string::npos) return "expected a reason";
            const std::string words = text.substr(first, text.find_last_not_of(ends) + 1 - first);
            return strcasecmp(words.c_str(), "why") == 0 ? "expected a reason" : "";
        });
    verb.add_option("--expires", options->choice.until,
                    "Acknowledge the regressions through this day (UTC) instead of accepting "
                    "them: expected values stay")
        ->type_name("DATE");
    add_anchor_option(verb, options->acceptance);
    add_baselines_option(verb, options->baselines);
    add_config_options(verb, options->config);
    verb.footer(
        "Makes the smallest change: unchanged metrics of an accepted case, and all other cases, "
        "stay identical to the byte. Refuses cases that are incorrect, failed, incomplete, invalid "
        "or inconclusive, and changes that add up beyond the config's 'creep'; nothing is written "
        "then. Exit code: 0 accepted, or nothing to accept; 2 refused; 3 could not write.");
    return [options, &verb] { return accept(verb, *options); };
}

}  // namespace perfgate::cli
