// SPDX-License-Identifier: Apache-2.0
#include "runner/baselines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>
#include <utility>

#include "baseline/file_changes.hpp"
#include "baseline/store.hpp"
#include "document/baseline.hpp"
#include "document/json_reader.hpp"
#include "document/run.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "model/case.hpp"
#include "runner/baseline_runs.hpp"
#include "runner/run_file.hpp"
#include "suite/suite.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;

baseline::BaselineLock::Waiting waiting_for_baselines(const std::string& folder) {
    baseline::BaselineLock::Waiting waiting;
    waiting.tell = [folder, limit_s = waiting.limit_s] {
        fmt::print(stderr,
                   "perfgate: another perfgate is writing {}: waiting up to {:g} s for it\n",
                   util::printable(folder), limit_s);
    };
    waiting.recovered = [](const std::string& line) { fmt::print(stderr, "perfgate: {}\n", line); };
    return waiting;
}

std::vector<std::string> suites_of(const RefreshRequest& request) {
    std::vector<std::string> suites;
    std::ranges::copy_if(request.inputs, std::back_inserter(suites), is_suite_file);
    return suites;
}

/// Whether it measures the suites that it names.
bool measures(const RefreshRequest& request) {
    return suites_of(request).size() == request.inputs.size();
}

/// The cases of a suite as the stored baselines judge them.
struct JudgedSuite {
    /// They may keep their baselines. None if what is measured now is meant as the new baseline.
    std::set<std::string> passing;
    std::vector<baseline::Slower> slower;
};

std::map<std::string, JudgedSuite> judged_suites(const model::Run& run,
                                                 const gate::BaselineSet& stored,
                                                 const RefreshRequest& request) {
    std::map<std::string, JudgedSuite> judged;
    const gate::BatchRule rule(request.policy);
    for (const model::SuiteVerdict& suite : gate::judge(run, stored, request.policy, rule).suites) {
        JudgedSuite& of = judged[suite.name];
        for (const model::CaseVerdict& verdict : suite.cases) {
            const model::MetricVerdict* metric = model::deciding_metric(verdict);
            if (model::stayed(verdict)) {
                if (!measures(request)) of.passing.insert(verdict.id);
            } else if (model::is_worse(verdict.verdict) && metric != nullptr) {
                of.slower.push_back({verdict.id, metric->sentence});
            }
        }
    }
    return judged;
}

/// The baselines of every suite of the run, made before the first is written: a refused suite
/// leaves all files as they are.
std::vector<baseline::Refreshed> refresh_all(const model::Run& run, const RefreshRequest& request) {
    std::vector<baseline::Refreshed> results;
    baseline::Acceptance acceptance = request.acceptance;
    acceptance.stored_run = !measures(request);
    const gate::BaselineSet stored = baseline::load_baselines(request.baselines, run);
    std::map<std::string, JudgedSuite> judged = judged_suites(run, stored, request);
    std::set<std::string> names;
    for (const model::SuiteResult& suite : run.suites) {
        if (!names.insert(suite.name).second) {
            throw util::InputError("the run has the suite '{}' twice", util::printable(suite.name));
        }
        std::optional<model::Baseline> existing;
        std::map<std::string, std::string> renamed;
        if (const auto found = stored.find(suite.name); found != stored.end()) {
            existing = found->second.baseline;
            renamed = found->second.renamed;
        }
        JudgedSuite& of = judged[suite.name];
        if (!existing) of = {};
        results.push_back(baseline::refresh(run, suite, existing, acceptance, of.passing, renamed));
        for (const baseline::Refused& refused : results.back().refused) {
            for (baseline::Slower& each : of.slower) {
                if (each.id == refused.id) each.sentence += "; not stored";
            }
        }
        results.back().slower = std::move(of.slower);
    }
    return results;
}

/// The choice with the suite's name, where its file is given; a name has neither '/' nor '.'.
BaselineChoice by_name(BaselineChoice choice) {
    if (!is_suite_file(choice.suite) && choice.suite.find('/') == std::string::npos) return choice;
    choice.suite = suite::name_in(choice.suite);
    return choice;
}

std::string chosen_device(const BaselineChoice& choice) {
    if (!choice.device_key.empty()) return choice.device_key;
    const std::vector<std::string> keys =
        baseline::devices_with_baseline(choice.baselines, choice.suite);
    if (keys.size() == 1) return keys.front();
    if (keys.empty()) {
        throw util::InputError("{}: no device has a baseline of suite '{}'",
                               util::printable(choice.baselines), util::printable(choice.suite));
    }
    throw util::InputError(
        "suite '{}' has baselines for several devices; choose one with --device-key: {}",
        util::printable(choice.suite),
        util::printable(fmt::format("{}", fmt::join(keys, ", ")), 1000));
}

StoredDiff diff_against_stored(const model::Baseline& after, bool partial,
                               const std::string& baselines) {
    StoredDiff result;
    result.partial = partial;
    result.file = baseline::baseline_path(baselines, after.device.key, after.suite).string();
    const auto stored = baseline::load_baselines(baselines, after.device, {after.suite});
    result.stored = !stored.empty();
    result.difference =
        baseline::diff(result.stored ? stored.begin()->second.baseline : model::Baseline(), after);
    if (partial) result.difference.removed.clear();
    return result;
}

/// The runs that the request names, or measures now; nothing if that was interrupted.
std::optional<std::vector<model::Run>> runs_of(const RefreshRequest& request) {
    std::vector<model::Run> runs;
    if (measures(request)) {
        runs = measure_baseline_runs(request.inputs, request.measuring, request.runs,
                                     request.baselines);
        if (runs.back().interrupted) return std::nullopt;
        return runs;
    }
    DistinctFiles distinct;
    for (const std::string& input : request.inputs) {
        if (is_suite_file(input)) continue;
        std::string text = util::read_file(input, run_limit_bytes, "run");
        distinct.add(input, text);
        runs.push_back(model::select_cases(document::parse_run(std::move(text), input),
                                           {request.measuring.filters, request.measuring.tags}));
    }
    return runs;
}

/// The tolerances that the spread of the run's processes needs, where the suites' are smaller.
std::vector<WantedTolerance> needed_tolerances(const model::Run& run, const model::Policy& policy) {
    constexpr double most = 10;  // a spread that needs more is no reference
    std::vector<WantedTolerance> needed;
    for (const model::SuiteResult& suite : run.suites) {
        const auto findings =
            baseline::pooling_findings(run, suite, baseline::measured_values(run, suite), policy);
        for (const baseline::Unshown& each : findings.unshown) {
            if (!each.needed || (!each.points && *each.needed > most)) continue;
            needed.push_back({suite.name, each.id, each.metric, *each.needed, each.points});
        }
    }
    return needed;
}

/// What the suites state now, which is more where one place states it for several cases.
void take_stated(std::vector<WantedTolerance>& raised, const model::Run& run) {
    for (WantedTolerance& each : raised) {
        for (const model::SuiteResult& suite : run.suites) {
            if (suite.name != each.suite) continue;
            for (const model::CaseResult& result : suite.cases) {
                if (model::case_id(result.spec) != each.id) continue;
                for (const model::GateRule& gate : result.gates) {
                    if (gate.metric != each.metric) continue;
                    each.amount = each.points ? gate.tolerance.abs : gate.tolerance.worse;
                }
            }
        }
    }
}

/// What was found in the baseline, and in the cases that are not in it.
baseline::PoolingFindings findings_of(const model::Run& run, const model::SuiteResult& suite,
                                      const baseline::Refreshed& result,
                                      const model::Policy& policy) {
    if (result.refused.empty()) {
        return baseline::pooling_findings(run, suite, result.baseline, policy);
    }
    model::Baseline with_refused = result.baseline;
    const model::Baseline measured = baseline::measured_values(run, suite);
    for (const baseline::Refused& refused : result.refused) {
        const auto found = measured.cases.find(refused.id);
        if (found != measured.cases.end()) with_refused.cases[refused.id] = found->second;
    }
    return baseline::pooling_findings(run, suite, with_refused, policy);
}

/// Adds to each refused case the tolerances that would do, which are said once, unless it says what
/// would.
void name_tolerances(baseline::Refreshed& result, baseline::PoolingFindings& findings) {
    for (baseline::Refused& refused : result.refused) {
        const bool said = !refused.enough.empty();
        for (const baseline::Unshown& each : findings.unshown) {
            if (said || each.id != refused.id || !each.needed) continue;
            refused.enough +=
                fmt::format("; {}: {} would do", each.metric,
                            tolerance_text({"", each.id, each.metric, *each.needed, each.points}));
        }
        std::erase_if(findings.unshown, [&](const auto& each) { return each.id == refused.id; });
    }
}

/// What to do where nothing could be stored: take the tolerances that would do, if all that is
/// wrong with a case is its own, from what is measured already.
std::string remedy_for(const model::Run& run, const RefreshRequest& request,
                       const std::vector<baseline::PoolingFindings>& findings) {
    std::string again = "measure them again";
    double busy = 0;
    for (const baseline::PoolingFindings& each : findings) busy = std::max(busy, each.others_busy);
    if (busy >= baseline::notable_other_work) {
        again +=
            fmt::format(" beside less other work (it had {:.0f} % of the processors)", 100 * busy);
    }
    if (request.tolerances || (measures(request) && request.runs > 1)) return again;
    if (needed_tolerances(run, request.policy).empty()) return again;
    std::vector<std::string> files = request.inputs;
    if (measures(request)) files.insert(files.begin(), request.measuring.out + "/run.json");
    std::string command = "perfgate baseline refresh --tolerances";
    for (const std::string& file : files) command += ' ' + util::shell_word(file);
    return fmt::format("{}, or take the tolerances that would do: {}{}", again, command,
                       suites_of(request).empty() ? " SUITE" : "");
}

}  // namespace

bool is_suite_file(const std::string& file) {
    const fs::path extension = fs::path(file).extension();
    return extension == ".yaml" || extension == ".yml";
}

std::optional<std::vector<RefreshedSuite>> refresh_baselines(const RefreshRequest& request) {
    const std::vector<std::string> suite_files = suites_of(request);
    if (request.tolerances && suite_files.empty()) {
        throw util::InputError("--tolerances needs the suite file that it is to change");
    }
    std::optional<SuiteGates> gates;
    if (request.tolerances || !(measures(request) || suite_files.empty())) {
        gates.emplace(suite_files, request.measuring.backend.plugins);
    }
    std::optional<std::vector<model::Run>> runs = runs_of(request);
    if (!runs) return std::nullopt;
    model::Run run = baseline::combine_runs(std::move(*runs));
    if (gates) gates->take(run);
    // Suites without selected cases stay unchanged.
    std::erase_if(run.suites, [](const model::SuiteResult& suite) {
        return suite.partial && suite.cases.empty();
    });
    std::vector<WantedTolerance> raised;
    if (request.tolerances) {
        raised = needed_tolerances(run, request.policy);
        gates->raise(raised, run);
        gates->take(run);
        take_stated(raised, run);
    }
    const baseline::BaselineLock lock(request.baselines, waiting_for_baselines(request.baselines));
    std::vector<baseline::Refreshed> results = refresh_all(run, request);
    std::vector<baseline::PoolingFindings> findings;
    for (std::size_t i = 0; i < results.size(); ++i) {
        findings.push_back(findings_of(run, run.suites[i], results[i], request.policy));
        name_tolerances(results[i], findings[i]);
    }
    baseline::require_stored(results, remedy_for(run, request, findings));
    if (gates) gates->write();
    std::vector<baseline::AcceptedBaseline> accepted;
    for (const baseline::Refreshed& result : results) {
        if (!result.stored_any()) continue;
        accepted.push_back({result.baseline, {}});
        if (result.entry) accepted.back().entries.push_back(*result.entry);
    }
    baseline::store_accepted(lock, accepted);
    std::vector<RefreshedSuite> refreshed;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const model::Baseline& baseline = results[i].baseline;
        const fs::path file =
            baseline::baseline_path(request.baselines, baseline.device.key, baseline.suite);
        refreshed.push_back({std::move(results[i]), file, std::move(findings[i]), {}});
        std::ranges::copy_if(raised, std::back_inserter(refreshed.back().raised),
                             [&](const auto& each) { return each.suite == run.suites[i].name; });
    }
    return refreshed;
}

std::vector<AcceptedSuite> accept_changes(const std::string& run_file, const std::string& baselines,
                                          const model::Policy& policy,
                                          const baseline::AcceptChoice& choice,
                                          const baseline::Acceptance& acceptance) {
    const model::Run run = read_run(run_file);
    const baseline::BaselineLock lock(baselines, waiting_for_baselines(baselines));
    const gate::BaselineSet stored = baseline::load_baselines(baselines, run);
    const gate::BatchRule rule(policy);
    std::vector<AcceptedSuite> accepted;
    std::vector<baseline::AcceptedBaseline> changed;
    std::vector<baseline::Accepted> results = baseline::accept(
        run, gate::judge(run, stored, policy, rule), stored, choice, acceptance, rule);
    for (const baseline::Accepted& result : results) {
        if (!result.entries.empty()) changed.push_back({result.baseline, result.entries});
    }
    baseline::store_accepted(lock, changed);
    for (baseline::Accepted& result : results) {
        const model::Baseline& baseline = result.baseline;
        const fs::path file =
            baseline::baseline_path(baselines, baseline.device.key, baseline.suite);
        const auto before = stored.find(baseline.suite);
        const bool renewed =
            before != stored.end() && before->second.older && !result.entries.empty();
        accepted.push_back({std::move(result), file, renewed});
    }
    return accepted;
}

PruneOutcome prune_baselines(const PruneRequest& request) {
    // Without baselines there is nothing to remove, and no folder to create.
    baseline::stored_places(request.baselines);
    std::optional<baseline::BaselineLock> lock;
    if (!request.dry_run) lock.emplace(request.baselines, waiting_for_baselines(request.baselines));
    PruneOutcome outcome;
    std::vector<baseline::Pruned> pruned;
    for (const baseline::BaselinePlace& place : baseline::stored_places(request.baselines)) {
        const auto ids = request.cases.find(place.suite);
        const auto stored =
            baseline::load_baseline(request.baselines, place.device_key, place.suite);
        if (!stored) continue;
        if (ids == request.cases.end() && !request.all_suites) {
            ++outcome.left_alone;
            continue;
        }
        baseline::KnownCases cases;
        if (ids != request.cases.end()) cases = ids->second;
        for (const model::Run& run : request.runs) {
            if (run.environment.device.key == place.device_key) {
                baseline::add_reported(run, place.suite, cases);
            }
        }
        baseline::Pruned result = baseline::prune(stored->baseline, cases, request.acceptance);
        outcome.unknown += result.unknown;
        if (result.entries.empty()) continue;
        PruneOutcome::File& file = outcome.files.emplace_back();
        file.file = stored->file;
        for (const model::LedgerEntry& entry : result.entries) file.ids.push_back(entry.id);
        pruned.push_back(std::move(result));
    }
    if (lock) {
        std::vector<baseline::AcceptedBaseline> changed;
        for (const baseline::Pruned& each : pruned) {
            changed.push_back({each.baseline, each.entries});
        }
        baseline::store_accepted(*lock, changed);
    }
    return outcome;
}

gate::StoredBaseline stored_baseline(const BaselineChoice& given) {
    const BaselineChoice choice = by_name(given);
    const std::string key = chosen_device(choice);
    if (auto stored = baseline::load_baseline(choice.baselines, key, choice.suite)) {
        return std::move(*stored);
    }
    throw util::InputError(
        "there is no baseline {}{}",
        util::printable(baseline::baseline_path(choice.baselines, key, choice.suite).string()),
        util::did_you_mean(key, baseline::devices_with_baseline(choice.baselines, choice.suite)));
}

std::vector<model::LedgerEntry> ledger_entries(const BaselineChoice& given,
                                               const std::vector<std::string>& cases) {
    const BaselineChoice choice = by_name(given);
    const std::string key = chosen_device(choice);
    auto ledger = baseline::load_ledger(choice.baselines, key, choice.suite);
    if (!ledger) {
        throw util::InputError(
            "there is no ledger {}: it begins with the first refresh or acceptance",
            util::printable(baseline::ledger_path(choice.baselines, key, choice.suite).string()));
    }
    std::vector<model::LedgerEntry> entries = std::move(ledger->entries);
    std::erase_if(entries, [&](const model::LedgerEntry& entry) {
        return !cases.empty() && std::ranges::none_of(cases, [&](const auto& glob) {
            return util::glob_match(glob, entry.id);
        });
    });
    // Of entries of the same second, the last in the ledger is the newest.
    std::ranges::reverse(entries);
    std::ranges::stable_sort(
        entries, [](const auto& left, const auto& right) { return left.at > right.at; });
    return entries;
}

std::optional<std::vector<model::Ledger>> all_ledgers(const std::string& folder) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) return std::nullopt;
    std::vector<model::Ledger> ledgers;
    for (const baseline::BaselinePlace& place : baseline::stored_places(folder)) {
        auto ledger = baseline::load_ledger(folder, place.device_key, place.suite);
        if (ledger) ledgers.push_back(std::move(*ledger));
    }
    return ledgers;
}

std::vector<StoredDiff> diff_against_stored(const std::string& document,
                                            const model::Selection& selection,
                                            const std::string& baselines) {
    const std::string text = util::read_file(document, run_limit_bytes, "document");
    if (document::JsonDocument(text, document).root().at("schema").text() == "perfgate.baseline") {
        return {diff_against_stored(document::parse_baseline(text, document), false, baselines)};
    }
    const model::Run run = model::select_cases(document::parse_run(text, document), selection);
    std::vector<StoredDiff> result;
    for (const model::SuiteResult& suite : run.suites) {
        result.push_back(diff_against_stored(baseline::measured_values(run, suite),
                                             suite.partial || run.interrupted, baselines));
        std::erase_if(result.back().difference.removed, [&](const std::string& id) {
            return std::ranges::any_of(suite.cases, [&](const model::CaseResult& of_run) {
                return model::case_id(of_run.spec) == id || model::stands_for(of_run.spec, id);
            });
        });
    }
    return result;
}

}  // namespace perfgate::runner
