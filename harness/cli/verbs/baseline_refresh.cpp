// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "baseline/pooling.hpp"
#include "baseline/refresh.hpp"
#include "cli/options/options.hpp"
#include "cli/terminal/texts.hpp"
#include "cli/verbs/verb.hpp"
#include "model/quantity.hpp"
#include "runner/baselines.hpp"
#include "suite/profile.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

namespace {

namespace fs = std::filesystem;

/// Of a baseline with cases missing: the policy of a run decides about those, as here.
constexpr int not_all_stored = 4;

struct RefreshOptions {
    runner::RefreshRequest request;
    model::Selection selection;
    AcceptanceOptions acceptance;
    Config config;
    bool add_board = false;
    bool dry_run = false;
};

/// The lines of the first items, and how many more there are.
template <class Item, class LineOf>
std::string lines_of(const std::vector<Item>& items, const LineOf& line_of) {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(items.size(), most); ++i) text += line_of(items[i]);
    if (items.size() > most) text += fmt::format("  and {} more\n", items.size() - most);
    return text;
}

std::string refreshed_text(const baseline::Refreshed& result, const fs::path& file) {
    std::string text = fmt::format(
        "{}: {} accepted, {} unchanged, {} kept, {} removed{}\n", util::printable(file.string()),
        result.accepted.size(), result.unchanged.size(),
        result.kept.size() + result.better_known.size(), result.removed.size(),
        result.refused.empty() ? "" : fmt::format(", {} not stored", result.refused.size()));
    text += lines_of(result.slower, [](const baseline::Slower& each) {
        return fmt::format("  slower: {}: {}\n", util::printable(each.id),
                           util::printable(each.sentence, 1000));
    });
    // Scripts look for what failed: it is not among those that are only counted.
    std::vector<baseline::Refused> refused = result.refused;
    std::ranges::stable_partition(refused, &baseline::Refused::failed);
    text += lines_of(refused, [](const baseline::Refused& each) {
        return fmt::format("  {}: {}: {}{}\n", each.failed ? "failed" : "not stored",
                           util::printable(each.id), util::printable(each.why, 1000),
                           util::printable(each.enough, 200));
    });
    text += lines_of(result.removed, [](const std::string& id) {
        return fmt::format("  removed {}: the suite no longer has it\n", util::printable(id));
    });
    if (!result.better_known.empty()) {
        text += fmt::format(
            "  {} kept: the run passes and has fewer processes than the baseline; 'perfgate "
            "baseline refresh SUITE' measures a new baseline\n",
            util::counted(result.better_known.size(), "case"));
    }
    if (!result.pooled.empty()) {
        text += fmt::format(
            "  {} with more processes: the run launches what the baseline's did, and its processes "
            "joined them\n",
            util::counted(result.pooled.size(), "case"));
    }
    if (result.fewer > 0) {
        text += fmt::format(
            "  note: {} accepted with fewer processes than the baseline had, so that only larger "
            "changes are detected; 'perfgate baseline refresh SUITE' measures more\n",
            util::counted(result.fewer, "case"));
    }
    if (result.acknowledged > 0) {
        text += fmt::format(
            "  {} acknowledged metrics keep their expected values until their day is over\n",
            result.acknowledged);
    }
    return text;
}

/// What pooling found: how small tolerances can be, which counts do not repeat, and that drift is
/// not known.
std::string findings_text(const baseline::PoolingFindings& findings, bool add_board) {
    const auto number = [](double value) {
        return value < 1000 || value >= 1e6 ? fmt::format("{:.3g}", value)
                                            : fmt::format("{:.0f}", value);
    };
    const auto amount = [&](double value, bool points) {
        return points ? number(value) + " points" : number(value * 100) + " %";
    };
    // Of what is estimated, digits beyond say no more than that the spread is too large.
    constexpr double most = 10;
    const auto estimate = [&](double value, bool points) {
        return points || value <= most ? amount(value, points) : "more than 1000 %";
    };
    const auto advice = [&](const baseline::Unshown& unshown) -> std::string {
        if (!unshown.needed) return "there are too few processes, record at least 20";
        if (!unshown.points && *unshown.needed > most) {
            return "with this spread no tolerance up to 1000 % is enough";
        }
        return fmt::format("with this spread the tolerance should be {}",
                           amount(*unshown.needed, unshown.points));
    };
    std::string text;
    for (const baseline::Proposal& proposal : findings.proposals) {
        text += fmt::format(
            "  {}: smallest tolerance that the spread allows: {} covers half of {}, {} covers 90 "
            "%, {} covers all (worst: {})\n",
            util::printable(proposal.metric), estimate(proposal.half, proposal.points),
            util::counted(proposal.cases, "case"), estimate(proposal.most, proposal.points),
            estimate(proposal.all, proposal.points), util::printable(proposal.worst_id));
        if (proposal.too_fine.empty()) continue;
        constexpr std::size_t most_too_fine = 3;
        const std::size_t named = std::min(proposal.too_fine.size(), most_too_fine);
        text += fmt::format(
            "  {}: {} smaller than the spread allows:", util::printable(proposal.metric),
            proposal.too_fine.size() == 1
                ? std::string("1 of the suite's tolerances is")
                : fmt::format("{} of the suite's tolerances are", proposal.too_fine.size()));
        for (std::size_t i = 0; i < named; ++i) {
            text += fmt::format("{} {} needs {}", i == 0 ? "" : ",",
                                util::printable(proposal.too_fine[i].id),
                                estimate(proposal.too_fine[i].needed, proposal.points));
        }
        if (proposal.too_fine.size() > named) {
            text += fmt::format(" and {} more", proposal.too_fine.size() - named);
        }
        text += '\n';
    }
    for (const baseline::AllowedByAbs& coarse : findings.by_abs) {
        text += fmt::format(
            "  {}: in {} 'abs' allows more than the tolerance in per cent: up to {} (worst: {})\n",
            util::printable(coarse.metric), util::counted(coarse.cases, "case"),
            estimate(coarse.most, false), util::printable(coarse.worst_id));
    }
    for (const baseline::SteadyTrend& trend : findings.trends) {
        text += fmt::format(
            "  warning: {} {} steadily from {}, by {} in all: it may go on, and the gate takes "
            "what comes after the last for a change of the code; find the cause, or compare with "
            "'perfgate ab'\n",
            util::printable(trend.metric), trend.change > 0 ? "rises" : "falls",
            trend.sessions ? "session to session" : "process to process",
            amount(std::fabs(trend.change), false));
    }
    text += lines_of(findings.unshown, [&](const baseline::Unshown& unshown) {
        return fmt::format("  warning: {}: {} cannot be shown to be within {}: {}\n",
                           util::printable(unshown.id), util::printable(unshown.metric),
                           amount(unshown.tolerance, unshown.points), advice(unshown));
    });
    text += lines_of(findings.tiny, [&](const baseline::TinyKernel& tiny) {
        return fmt::format(
            "  note: {} also matches {}, which takes {} beside {} of {}: measure it apart, with a "
            "tolerance of at least {}\n",
            util::printable(tiny.id), util::printable(tiny.kernel),
            model::quantity_text(tiny.time_ns, "ns"), model::quantity_text(tiny.longest_ns, "ns"),
            util::printable(tiny.longest), amount(tiny.tolerance, false));
    });
    text += lines_of(findings.demotions, [](const auto& each) {
        return fmt::format("  {}: {} did not repeat and is judged by its spread\n",
                           util::printable(each.id), util::printable(each.metric));
    });
    if (findings.others_busy >= baseline::notable_other_work) {
        text += fmt::format(
            "  note: other work had {:.0f} % of the processors while this was measured, which "
            "makes times longer and spread more: a quiet machine detects smaller changes\n",
            100 * findings.others_busy);
    }
    if (findings.sessions == 1 || findings.sessions == 2) {
        text += fmt::format(
            "  note: recorded in {}; 'perfgate baseline refresh {}--runs 5 SUITE' records five\n",
            findings.sessions == 1 ? "one session: how much sessions differ is not known, and a "
                                     "drift between them counts as a change of the code"
                                   : "two sessions: too few to learn a drift that all cases share, "
                                     "so the gate may allow a large one and miss regressions",
            add_board ? "--add-board " : "");
    }
    return text;
}

/// What a refresh with this document would change, whether it matters or not.
int show_changes(const RefreshOptions& options) {
    const runner::RefreshRequest& request = options.request;
    if (request.inputs.size() != 1 || runner::is_suite_file(request.inputs.front())) {
        throw util::InputError(
            "--dry-run takes one run document or baseline file, and measures nothing");
    }
    if (!std::filesystem::is_directory(request.baselines)) {
        throw util::InputError("{} is no folder of baselines", util::printable(request.baselines));
    }
    std::string text;
    for (const runner::StoredDiff& result : runner::diff_against_stored(
             request.inputs.front(), options.selection, request.baselines)) {
        if (!text.empty()) text += '\n';
        text += stored_diff_text(result);
    }
    util::write_file_atomically("-", text);
    return 0;
}

int refresh(const CLI::App& verb, RefreshOptions& options) {
    runner::RefreshRequest& request = options.request;
    const suite::Profile profile = options.config.load();
    leave_out_config(options.config, request.inputs);
    take_unless_given(verb, "--baselines", profile.baselines, request.baselines);
    take_unless_given(verb, "--backend", profile.backend, request.measuring.backend.backend);
    take_unless_given(verb, "--out", profile.out, request.measuring.out);
    if (options.dry_run) return show_changes(options);
    add_config_plugins(profile, request.measuring.backend);
    request.measuring.builds = profile.builds.value_or("");
    request.measuring.filters = options.selection.filters;
    request.measuring.tags = options.selection.tags;
    request.acceptance = acceptance_of(options.acceptance, profile);
    request.acceptance.add_board = options.add_board;
    request.policy = profile.policy;
    const auto refreshed = runner::refresh_baselines(request);
    if (!refreshed) return 130;
    util::write_file_atomically("-", refreshes_text(*refreshed, options.add_board));
    return refresh_code(*refreshed);
}

}  // namespace

std::string refreshes_text(const std::vector<runner::RefreshedSuite>& refreshed, bool add_board) {
    std::string text;
    for (const runner::RefreshedSuite& suite : refreshed) {
        text += refreshed_text(suite.result, suite.file) + findings_text(suite.findings, add_board);
        for (const runner::WantedTolerance& raised : suite.raised) {
            text += fmt::format("  {}.{}: the suite's tolerance is now {}\n",
                                util::printable(raised.id), util::printable(raised.metric),
                                runner::tolerance_text(raised));
        }
    }
    return text;
}

int refresh_code(const std::vector<runner::RefreshedSuite>& refreshed) {
    const bool all = std::ranges::all_of(
        refreshed, [](const auto& suite) { return suite.result.refused.empty(); });
    return all ? 0 : not_all_stored;
}

Body add_baseline_refresh(CLI::App& verb) {
    const auto options = std::make_shared<RefreshOptions>();
    options->request.baselines = "baselines";
    verb.add_option(
            "FILE", options->request.inputs,
            "Suite files (.yaml) to be measured now, or run documents (perfgate-out/run.json) of "
            "the same cases, with suite files for the gates that they have now")
        ->required()
        ->type_name("FILE");
    add_baselines_option(verb, options->request.baselines, BaselinesFolder::created);
    add_config_options(verb, options->config);
    add_selection_options(verb, options->selection);
    verb.add_option("--runs", options->request.runs,
                    "Measure the suites this many times, with 20 processes in all (of programs "
                    "fewer); three or more show how much whole runs differ")
        ->check(in_range(1, 100))
        ->type_name("N")
        ->capture_default_str();
    verb.add_flag("--add-board", options->add_board,
                  "Add the times of another board to a baseline of the same code, or replace those "
                  "of one of its boards");
    verb.add_flag("--tolerances", options->request.tolerances,
                  "Raise tolerances that are smaller than the spread allows in the suite files; "
                  "all else in these stays as it is");
    verb.add_flag(
        "--dry-run", options->dry_run,
        "Show what a run document, or another baseline file, would change; write nothing");
    add_reason_options(verb, options->acceptance);
    add_anchor_option(verb, options->acceptance);
    verb.add_option("--out", options->request.measuring.out, "Folder for the results of measuring")
        ->type_name("DIR")
        ->capture_default_str();
    add_measuring_options(verb, options->request.measuring);
    verb.footer(
        "Incorrect, failed and incomplete cases are not stored, nor those whose processes disagree "
        "by more than the tolerance; each is named, and what the baseline has of it stays. With "
        "--filter or --tag the other cases stay as they are. Cases that the suite no longer has "
        "are removed. Unchanged cases stay identical to the byte. Exit code: 0 all stored; 2 "
        "refused, nothing stored; 3 could not measure or write; 4 stored, but not all; 130 "
        "interrupted.");
    return [options, &verb] { return refresh(verb, *options); };
}

}  // namespace perfgate::cli
