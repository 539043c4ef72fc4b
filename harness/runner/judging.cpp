// SPDX-License-Identifier: Apache-2.0
#include "runner/judging.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "baseline/accept.hpp"
#include "baseline/acceptance.hpp"
#include "baseline/file_changes.hpp"
#include "baseline/improvements.hpp"
#include "baseline/store.hpp"
#include "explain/explain.hpp"
#include "gate/gate.hpp"
#include "gate/proof.hpp"
#include "gate/suite_verdict.hpp"
#include "metrics/catalogue.hpp"
#include "model/choices.hpp"
#include "model/host_time.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {
namespace {

/// Whether a side of the relation contains the host's time.
bool names_host_time(const model::Relation& relation) {
    const auto is_host_time = [](const model::ExpressionStep& step) {
        const auto* metric = std::get_if<model::OperandMetric>(&step);
        return metric != nullptr && model::contains_host_time(metric->metric);
    };
    return std::ranges::any_of(relation.left, is_host_time) ||
           std::ranges::any_of(relation.right, is_host_time);
}

/// Where a suite without a baseline would have one, and who has one there.
void note_absent_baselines(const model::Run& run, const std::string& folder,
                           const gate::BaselineSet& baselines, model::VerdictDocument& document) {
    const std::string& key = run.environment.device.key;
    for (std::size_t i = 0; i < document.suites.size(); ++i) {
        model::SuiteVerdict& suite = document.suites[i];
        const bool missed = std::ranges::any_of(suite.cases, [](const model::CaseVerdict& verdict) {
            return verdict.verdict == model::Verdict::no_baseline;
        });
        if (!missed || baselines.contains(suite.name)) continue;
        // A refresh that would not store all of its cases is not advised.
        const bool refreshable =
            i < run.suites.size() &&
            std::ranges::all_of(run.suites[i].cases, [&](const model::CaseResult& result) {
                return result.status == model::CaseStatus::skipped ||
                       baseline::objection(run, result).empty();
            });
        const std::vector<std::string> keys = baseline::devices_with_baseline(folder, suite.name);
        suite.notes.push_back(fmt::format(
            "the baseline would be {}{}; {}",
            util::printable(baseline::baseline_path(folder, key, suite.name).string(), 300),
            refreshable ? ", which 'perfgate baseline refresh' records" : "",
            keys.empty()
                ? "no other device has one there"
                : fmt::format("there is one for {}",
                              util::printable(fmt::format("{}", fmt::join(keys, ", ")), 500))));
    }
}

/// What cannot become a baseline is not advised to.
void note_objections(const model::Run& run, model::VerdictDocument& document) {
    for (const model::CaseIndex& at : model::all_cases(run)) {
        model::CaseVerdict& verdict = model::case_at(document, at);
        if (verdict.verdict != model::Verdict::no_baseline) continue;
        const std::string why = baseline::objection(run, model::case_at(run, at));
        if (why.empty()) continue;
        verdict.reason =
            fmt::format("no baseline for this case, and its values cannot become one: {}",
                        util::printable(why, 1000));
    }
}

/// The options of a command that measures the run again and judges it as now: those that it was
/// measured with, if it has them, and those that judge it now, if there are any.
std::vector<std::string> words_of_again(const model::Run& run, const report::CommandWords& now) {
    constexpr std::string_view measuring[] = {"--backend", "--plugin"};
    constexpr std::string_view judging[] = {"--config", "--set", "--baselines"};
    const auto among = [](const auto& names, const std::string& option) {
        return std::ranges::find(names, option) != std::end(names);
    };
    std::vector<std::string> words;
    for (std::size_t i = 0; i < run.options.size(); i += 2) {
        const std::string& option = run.options[i];
        const bool judges = among(judging, option);
        // The document is an input: nothing else is an option of the run.
        const bool known = judges || among(measuring, option);
        if (!known || i + 1 == run.options.size() || run.options[i + 1].starts_with('-')) {
            return now.again_words;
        }
        if (judges && !now.gate_words.empty()) continue;
        words.insert(words.end(), {option, run.options[i + 1]});
    }
    if (words.empty()) return now.again_words;
    words.insert(words.end(), now.gate_words.begin(), now.gate_words.end());
    return words;
}

/// Of kernels or calls, or of the compiler: more processes would not change its verdict. A count
/// whose processes differ is tested, and a counter is collected again.
bool is_failing_count(const model::MetricVerdict& verdict) {
    const auto metric = metrics::find_metric(verdict.metric);
    return verdict.verdict == model::Verdict::regressed && !verdict.minimum_detectable_change &&
           metric && metric->definition.metric_class == model::MetricClass::exact &&
           metric->source != metrics::Source::counter;
}

/// All else of it passes.
bool fails_by_counts_alone(const model::CaseVerdict& verdict) {
    return verdict.verdict == model::Verdict::regressed &&
           std::all_of(verdict.metrics.begin(), verdict.metrics.end(), [](const auto& metric) {
               return metric.verdict == model::Verdict::pass || is_failing_count(metric);
           });
}

}  // namespace

void check_baselines(const JudgingChoice& choice, const model::Device& device,
                     std::vector<std::string> suites, bool whole) {
    if (choice.policy.complete && whole) {
        for (std::string& other : baseline::suites_with_baseline(choice.baselines, device.key)) {
            suites.push_back(std::move(other));
        }
    }
    baseline::load_baselines(choice.baselines, device, suites);
}

Judge::Judge(JudgingChoice choice, const model::Run& run)
    : choice_(std::move(choice)), rule_(choice_.policy) {
    const model::Device& device = run.environment.device;
    others_ = baseline::suites_with_baseline(choice_.baselines, device.key);
    std::erase_if(others_, [&](const std::string& suite) { return gate::has_suite(run, suite); });
    baselines_ = baseline::load_baselines(choice_.baselines, run);
    if (choice_.policy.complete && gate::is_of_all_suites(run)) {
        baselines_.merge(baseline::load_baselines(choice_.baselines, device, others_));
    }
}

model::VerdictDocument Judge::verdict(const model::Run& run) const {
    model::VerdictDocument document = gate::judge(run, baselines_, choice_.policy, rule_);
    const std::string note = gate::other_suites_note(run, others_, choice_.policy);
    if (!note.empty() && !document.suites.empty()) {
        document.suites.front().notes.push_back(note);
    }
    note_absent_baselines(run, choice_.baselines, baselines_, document);
    note_objections(run, document);
    explain::explain(run, explain::Which::moved, document);
    return document;
}

std::vector<model::CaseIndex> worth_measuring_again(const model::Run& run,
                                                    const gate::BaselineSet& baselines,
                                                    const model::Policy& policy,
                                                    const gate::Rule& rule) {
    std::vector<model::CaseIndex> flagged = gate::flagged(run, baselines, policy, rule);
    if (flagged.empty()) return flagged;
    const model::VerdictDocument verdict = gate::judge(run, baselines, policy, rule);
    std::erase_if(flagged, [&](const model::CaseIndex& at) {
        return std::ranges::any_of(model::case_at(verdict, at).metrics, is_failing_count);
    });
    return flagged;
}

std::vector<model::CaseIndex> Judge::flagged(const model::Run& run) const {
    return worth_measuring_again(run, baselines_, choice_.policy, rule_);
}

std::map<model::CaseIndex, std::size_t> Judge::first_looks(const model::Run& run) const {
    std::map<model::CaseIndex, std::size_t> found =
        gate::first_looks(run, baselines_, choice_.policy, rule_);
    if (found.empty()) return found;
    const std::vector<model::CaseIndex> again = flagged(run);
    std::erase_if(found, [&](const auto& look) {
        return std::ranges::find(again, look.first) == again.end();
    });
    return found;
}

std::vector<model::CaseIndex> Judge::undecided_on_board(const model::Run& run) const {
    return gate::undecided_on_board(run, baselines_, choice_.policy, rule_);
}

std::vector<model::CaseIndex> Judge::unsettled(const model::Run& run) const {
    const model::VerdictDocument verdict = gate::judge(run, baselines_, choice_.policy, rule_);
    std::vector<model::CaseIndex> found = model::all_cases(run);
    std::erase_if(found, [&](const model::CaseIndex& at) {
        const model::CaseVerdict& of_case = model::case_at(verdict, at);
        return of_case.verdict == model::Verdict::pass || fails_by_counts_alone(of_case);
    });
    return found;
}

std::vector<model::CaseIndex> failing_host_times(const model::Run& run,
                                                 const model::VerdictDocument& verdict) {
    if (run.interrupted || run.verify_only) return {};
    const auto fails = [](const model::MetricVerdict& each) {
        return each.verdict == model::Verdict::regressed && model::contains_host_time(each.metric);
    };
    std::vector<std::set<std::string>> of_host;  // by suite: relations with such a metric
    for (const model::SuiteResult& suite : run.suites) {
        std::set<std::string>& relations = of_host.emplace_back();
        for (const model::Relation& each : suite.relations) {
            if (names_host_time(each)) relations.insert(to_text(each));
        }
    }
    std::vector<model::CaseIndex> found = model::all_cases(run);
    std::erase_if(found, [&](const model::CaseIndex& at) {
        const model::CaseVerdict& of_case = model::case_at(verdict, at);
        const auto& relations = verdict.suites[at.suite].relations;
        return std::ranges::none_of(of_case.metrics, fails) &&
               std::ranges::none_of(relations, [&](const model::RelationVerdict& each) {
                   return each.verdict == model::Verdict::regressed && each.leading == of_case.id &&
                          of_host[at.suite].contains(each.relation);
               });
    });
    return found;
}

std::vector<model::CaseIndex> Judge::failing_host_times(const model::Run& run) const {
    return runner::failing_host_times(run, gate::judge(run, baselines_, choice_.policy, rule_));
}

std::set<std::string> without_base(const model::Run& run, bool builds) {
    std::set<std::string> ids;
    const auto is_made = [builds](const std::string& file) {
        return builds && !file.starts_with('/');
    };
    for (const model::CaseIndex& at : model::all_cases(run)) {
        const model::CaseResult& result = model::case_at(run, at);
        const bool found = !result.command.empty()
                               ? result.command.front().find('/') == std::string::npos ||
                                     is_made(result.command.front())
                           : !result.source.empty()
                               ? model::kind_of_source(result.source) == model::SourceKind::cuda ||
                                     is_made(result.source)
                               : result.metrics.contains(std::string(model::prepare_time));
        if (!found) ids.insert(model::case_id(result.spec));
    }
    return ids;
}

std::vector<model::CaseIndex> Judge::failing_counters(const model::Run& run, bool again) const {
    if (run.interrupted || run.verify_only) return {};
    const model::VerdictDocument verdict = gate::judge(run, baselines_, choice_.policy, rule_);
    const auto fails = [again](const model::MetricVerdict& each) {
        if (again && !each.minimum_detectable_change) return false;
        const auto metric = metrics::find_metric(each.metric);
        const bool worse =
            each.verdict == model::Verdict::regressed || each.verdict == model::Verdict::warned ||
            (each.verdict == model::Verdict::inconclusive && each.doubt == model::Doubt::unclear);
        return worse && metric && metric->source == metrics::Source::counter;
    };
    std::vector<model::CaseIndex> found = model::all_cases(run);
    std::erase_if(found, [&](const model::CaseIndex& at) {
        const std::vector<model::MetricVerdict>& of_case = model::case_at(verdict, at).metrics;
        return std::ranges::none_of(of_case, fails);
    });
    return found;
}

int Judge::report(const model::VerdictDocument& document, const model::Run& run,
                  OutputOptions reports) const {
    if (!reports.commands.run_file.empty()) {
        reports.commands.not_acceptable =
            baseline::not_acceptable(run, document, baselines_, rule_);
        reports.commands.without_base = without_base(run, reports.commands.builds);
        reports.commands.again_words = words_of_again(run, reports.commands);
    }
    return write_reports(document, run, reports);
}

int Judge::prove(const model::Run& run) const {
    if (!choice_.prove || run.interrupted || run.verify_only) return 0;
    constexpr std::size_t most_problems = 20;
    const auto known = [](std::string_view metric) -> std::optional<model::Direction> {
        const auto found = metrics::find_metric(metric);
        if (!found) return std::nullopt;
        return found->definition.direction;
    };
    const gate::Proof proof = gate::prove(run, baselines_, choice_.policy, known);
    for (std::size_t i = 0; i < std::min(proof.problems.size(), most_problems); ++i) {
        fmt::print(stderr, "perfgate: proof: {}\n", proof.problems[i]);
    }
    fmt::print(stderr, "perfgate: proof: {}\n", proof.sentence());
    return proof.problems.empty() ? 0 : 3;
}

int Judge::note_improvements(const model::VerdictDocument& document, const model::Run& run) const {
    if (!choice_.policy.improved_fails || run.interrupted || run.verify_only) return 0;
    const std::string& key = run.environment.device.key;
    const auto entries_of = [&](const gate::BaselineSet& baselines,
                                const model::SuiteVerdict& suite) {
        const auto stored = baselines.find(suite.name);
        std::vector<model::LedgerEntry> entries;
        if (stored == baselines.end()) return entries;
        entries = baseline::improvement_entries(suite, stored->second.improved, run);
        // A ledger names a case as its baseline does.
        for (model::LedgerEntry& entry : entries) {
            const auto was = stored->second.renamed.find(entry.id);
            if (was != stored->second.renamed.end()) entry.id = was->second;
        }
        return entries;
    };
    if (std::ranges::all_of(document.suites, [&](const auto& suite) {
            return entries_of(baselines_, suite).empty();
        })) {
        return 0;
    }
    try {
        const baseline::BaselineLock lock(choice_.baselines, baseline::BaselineLock::Waiting{});
        // What another run has noted meanwhile is known, too.
        const gate::BaselineSet stored = baseline::load_baselines(choice_.baselines, run);
        for (const model::SuiteVerdict& suite : document.suites) {
            const std::vector<model::LedgerEntry> entries = entries_of(stored, suite);
            if (entries.empty()) continue;
            baseline::append_to_ledger(choice_.baselines, key, suite.name, entries);
            fmt::print(
                stderr, "perfgate: improvements are noted in {}: commit it\n",
                util::printable(baseline::ledger_path(choice_.baselines, key, suite.name).string(),
                                300));
        }
    } catch (const util::Error& error) {
        fmt::print(stderr, "perfgate: improvements are not noted: {}\n",
                   util::printable(error.what(), 500));
        return 3;
    }
    return 0;
}

int Judge::conclude(const model::VerdictDocument& document, const model::Run& run,
                    const OutputOptions& reports) const {
    int judged = model::combine_exit_codes(document.exit_code, report(document, run, reports));
    judged = model::combine_exit_codes(judged, note_improvements(document, run));
    return model::combine_exit_codes(judged, prove(run));
}

}  // namespace perfgate::runner
