// SPDX-License-Identifier: Apache-2.0
#include "baseline/accept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "baseline/pooling.hpp"
#include "document/baseline.hpp"
#include "gate/machine_code.hpp"
#include "model/case.hpp"
#include "model/date.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

using model::BaselineCase;
using model::CaseResult;
using model::CaseVerdict;
using model::LedgerEntry;
using model::MetricSeries;
using model::MetricVerdict;
using model::Run;
using model::Verdict;

/// The cases that the choice selects. An id selects its own case alone, whatever it is as a glob.
class Chosen {
  public:
    Chosen(const AcceptChoice& choice, const model::VerdictDocument& document) : choice_(choice) {
        for (const model::SuiteVerdict& suite : document.suites) {
            for (const CaseVerdict& verdict : suite.cases) {
                if (is_named(verdict.id)) named_.insert(verdict.id);
            }
        }
    }

    /// By its id, not only by a glob.
    [[nodiscard]] bool is_named(const std::string& id) const {
        return std::ranges::find(choice_.cases, id) != choice_.cases.end();
    }

    [[nodiscard]] bool contains(const std::string& id) const {
        return choice_.cases.empty() ||
               std::ranges::any_of(choice_.cases, [&](const std::string& glob) {
                   return named_.contains(glob) ? glob == id : util::glob_match(glob, id);
               });
    }

  private:
    const AcceptChoice& choice_;
    std::set<std::string> named_;
};

void require_globs_match(const Run& run, const AcceptChoice& choice,
                         const model::VerdictDocument& document) {
    std::set<std::string> missing;
    for (const model::SuiteVerdict& suite : document.suites) {
        for (const CaseVerdict& verdict : suite.cases) {
            if (verdict.verdict == Verdict::missing) missing.insert(verdict.id);
        }
    }
    for (const std::string& glob : choice.cases) {
        bool found = missing.contains(glob);
        std::string example;
        for (const model::SuiteResult& suite : run.suites) {
            for (const CaseResult& result : suite.cases) {
                example = model::case_id(result.spec);
                found = found || glob == example || util::glob_match(glob, example);
            }
        }
        if (found) continue;
        throw util::InputError(
            "--filter '{}' matches no case of the run{}", util::printable(glob),
            example.empty() ? ""
                            : fmt::format("; an id looks like '{}'", util::printable(example)));
    }
}

void require_day_to_come(const AcceptChoice& choice, const Acceptance& acceptance) {
    if (choice.until.empty()) return;
    if (!model::is_date(choice.until)) {
        throw util::InputError("--expires '{}': expected a day, as 2026-12-31",
                               util::printable(choice.until));
    }
    const std::string today = model::date_of(acceptance.at);
    if (choice.until < today) {
        throw util::InputError("--expires {}: that day is over, today is {}", choice.until, today);
    }
    if (!today.empty() &&
        model::days_between(today, choice.until) > acceptance.acknowledgement_days) {
        throw util::InputError(
            "--expires {}: that is more than {} days ahead; name an earlier day, or raise "
            "acknowledgement_days in the config's policy",
            choice.until, acceptance.acknowledgement_days);
    }
}

/// Whoever accepts it says that a time which is too good is one, and that a slow tail is meant.
bool may_be_accepted(model::Doubt doubt) {
    return doubt == model::Doubt::not_shown || doubt == model::Doubt::too_good ||
           doubt == model::Doubt::slow_tail || doubt == model::Doubt::unaccepted;
}

/// Why a case cannot be accepted, beyond objection(); empty: it can.
std::string undecided(const CaseVerdict& verdict) {
    for (const MetricVerdict& metric : verdict.metrics) {
        if (metric.verdict == Verdict::invalid ||
            (metric.verdict == Verdict::inconclusive && !may_be_accepted(metric.doubt))) {
            return metric.sentence;
        }
    }
    const bool decided =
        model::severity(verdict.verdict) <= model::severity(Verdict::no_baseline) ||
        (verdict.verdict == Verdict::inconclusive && may_be_accepted(verdict.doubt)) ||
        verdict.verdict == Verdict::regressed;
    return decided ? std::string()
                   : fmt::format("{}: {}", model::to_text(verdict.verdict), verdict.reason);
}

/// The metrics share one provenance: with another one, all are replaced or none.
bool same_provenance(const model::Provenance& then, const model::Provenance& now) {
    return then.board == now.board && then.driver == now.driver &&
           then.cuda_toolkit == now.cuda_toolkit && then.cupti == now.cupti &&
           then.tool_version == now.tool_version;
}

/// The code by which a time may be shown, or excused, from then on.
class AdoptedCode {
  public:
    AdoptedCode(const Run& run, const CaseResult& result, const BaselineCase& before)
        : then_(gate::compare_code(gate::code_of(result, run.environment), gate::code_of(before))),
          from_now_(gate::compare_code(gate::code_of(result, run.environment),
                                       gate::code_of(result, run.environment))) {}

    /// Whether the run's code would prove the time that the baseline has, which is of other code.
    bool would_prove(const model::MetricDefinition& definition) const {
        return gate::shown_by_code(from_now_, definition) &&
               !gate::shown_by_code(then_, definition);
    }

  private:
    gate::CodeComparison then_, from_now_;
};

/// The new baseline of one suite of the run.
class Accepting {
  public:
    Accepting(const Run& run, const model::VerdictDocument& document, const AcceptChoice& choice,
              const Acceptance& acceptance, const gate::Rule& rule)
        : run_(run),
          choice_(choice),
          chosen_(choice, document),
          acceptance_(acceptance),
          rule_(rule) {}

    Accepted suite(const model::SuiteResult& suite, const model::SuiteVerdict& verdict,
                   const gate::StoredBaseline* stored) {
        Accepted accepted;
        renamed_.clear();
        if (stored != nullptr) {
            accepted.baseline = stored->baseline;
            renamed_ = stored->renamed;
        }
        if (stored == nullptr) {
            accepted.baseline.suite = suite.name;
            accepted.baseline.device = run_.environment.device;
            accepted.baseline.device.board.clear();
        }
        for (std::size_t i = 0; i < suite.cases.size(); ++i) {
            if (chosen_.contains(verdict.cases.at(i).id)) {
                add(suite.cases[i], verdict.cases.at(i), accepted);
            }
        }
        // Behind those of the run stand cases that only the baseline has.
        for (std::size_t i = suite.cases.size(); i < verdict.cases.size(); ++i) {
            if (chosen_.is_named(verdict.cases[i].id)) remove(verdict.cases[i], accepted);
        }
        keep_former_names(accepted);
        return accepted;
    }

    std::vector<std::string> refused;   ///< a line for each case that cannot be accepted
    std::set<std::string> refused_ids;  ///< of these
    std::vector<std::string> creeping;  ///< a line for each metric beyond the bound

  private:
    void add(const CaseResult& result, const CaseVerdict& verdict, Accepted& accepted) {
        if (result.status == model::CaseStatus::skipped) {
            ++accepted.skipped;
            return;
        }
        std::string why = objection(run_, result);
        if (why.empty()) why = undecided(verdict);
        if (!why.empty()) return refuse(verdict.id, why);
        const auto found = accepted.baseline.cases.find(verdict.id);
        BaselineCase* const expected =
            found == accepted.baseline.cases.end() ? nullptr : &found->second;
        LedgerEntry entry = ledger_entry(
            choice_.until.empty() ? model::LedgerAction::accept : model::LedgerAction::acknowledge,
            verdict.id, acceptance_, run_);
        entry.until = choice_.until;
        if (!choice_.until.empty()) {
            acknowledge(result, verdict, expected, entry);
        } else if (!model::stayed(verdict)) {
            accept(result, verdict, expected, entry, accepted);
        }
        const auto renamed = renamed_.find(verdict.id);
        const bool added = (expected == nullptr || renamed != renamed_.end()) &&
                           accepted.baseline.cases.contains(verdict.id);
        if (entry.changes.empty() && !added) {
            ++accepted.unchanged;
        } else {
            entry.digests.emplace(
                verdict.id,
                document::digest_of_case(verdict.id, accepted.baseline.cases.at(verdict.id)));
            accepted.entries.push_back(std::move(entry));
            if (renamed == renamed_.end()) return;
            accepted.entries.push_back(
                ledger_entry(model::LedgerAction::prune, renamed->second, acceptance_));
            renamed_.erase(renamed);
        }
    }

    /// Gives the cases that were not accepted their former names back.
    void keep_former_names(Accepted& accepted) const {
        for (const auto& [id, was] : renamed_) {
            auto node = accepted.baseline.cases.extract(id);
            if (node.empty()) continue;
            node.key() = was;
            accepted.baseline.cases.insert(std::move(node));
        }
    }

    void refuse(const std::string& id, const std::string& why) {
        refused.push_back(fmt::format("{} ({})", util::printable(id), util::printable(why)));
        refused_ids.insert(id);
    }

    /// The suite no longer has the case, and the user named it.
    void remove(const CaseVerdict& verdict, Accepted& accepted) {
        if (verdict.verdict != Verdict::missing || !choice_.until.empty()) {
            return refuse(verdict.id,
                          fmt::format("{}: {}", model::to_text(verdict.verdict), verdict.reason));
        }
        accepted.baseline.cases.erase(verdict.id);
        accepted.entries.push_back(
            ledger_entry(model::LedgerAction::prune, verdict.id, acceptance_));
    }

    void acknowledge(const CaseResult& result, const CaseVerdict& verdict, BaselineCase* expected,
                     LedgerEntry& entry) const {
        for (const MetricVerdict& metric : verdict.metrics) {
            const bool worse = is_worse(metric.verdict) || metric.verdict == Verdict::acknowledged;
            if (!worse || expected == nullptr) continue;
            const MetricSeries known = condensed(result.metrics.at(metric.metric));
            entry.changes[metric.metric] = {known.unit, expected->metrics.at(metric.metric).value,
                                            known.value, std::nullopt};
            expected->acknowledged[metric.metric] = {choice_.until, acceptance_.accepted_by,
                                                     acceptance_.reason, known};
        }
    }

    void accept(const CaseResult& result, const CaseVerdict& verdict, BaselineCase* expected,
                LedgerEntry& entry, Accepted& accepted) {
        BaselineCase before;
        if (expected != nullptr) before = *expected;
        BaselineCase after = with_code_of(run_, result, acceptance_, before);
        // Of an older baseline it is not known; a refresh makes it known.
        if (expected == nullptr || !before.measured_as.empty()) {
            after.measured_as = result.measured_as;
            // An older run does not know it, and metrics that stay keep theirs.
            after.measured_as.insert(before.measured_as.begin(), before.measured_as.end());
        }
        std::set<std::string> replaced =
            replaced_metrics(result, verdict, before, after.provenance);
        if (!adopt_code(result, verdict, before, replaced)) return;
        for (const std::string& metric : replaced) {
            after.metrics[metric] = condensed(result.metrics.at(metric));
            after.acknowledged.erase(metric);
        }
        forget_values_of_other_code(result, before, after);
        after.anchors =
            moved_anchors(run_, result, before, after.metrics, acceptance_.reset_anchors);
        if (!acceptance_.reset_anchors) {
            for (std::string& line : baseline::creeping(
                     run_, result, before, after, FirstChange::decided, acceptance_.creep_bound)) {
                creeping.push_back(std::move(line));
            }
        }
        for (const model::GateRule& gate : result.gates) {
            if (replaced.contains(gate.metric)) record(gate.metric, before, after, entry);
        }
        accepted.baseline.cases.insert_or_assign(verdict.id, std::move(after));
    }

    /// Device times and counters that this run did not measure are not the new code's.
    void forget_values_of_other_code(const CaseResult& result, const BaselineCase& before,
                                     BaselineCase& after) const {
        const gate::CodeComparison code =
            gate::compare_code(gate::code_of(result, run_.environment), gate::code_of(before));
        if (code.change == model::CodeChange::unchanged) return;
        std::erase_if(after.metrics, [&](const auto& entry) {
            const auto& [metric, series] = entry;
            if (result.metrics.contains(metric)) return false;
            if (metric == "gpu_time") return !code.runs_the_same;
            return gate::can_be_excused(metric, series);
        });
    }

    /// The run's code replaces the baseline's, and with it the times that nobody judged. A gated
    /// time that stays must be shown to be that code's, too; false: it is not, and the case is
    /// refused.
    bool adopt_code(const CaseResult& result, const CaseVerdict& verdict,
                    const BaselineCase& before, std::set<std::string>& replaced) {
        const AdoptedCode code(run_, result, before);
        std::set<std::string> gated;
        for (const MetricVerdict& metric : verdict.metrics) {
            gated.insert(metric.metric);
            const auto definition = run_.metric_definitions.find(metric.metric);
            if (replaced.contains(metric.metric) || metric.verdict == Verdict::pass ||
                definition == run_.metric_definitions.end() ||
                !code.would_prove(definition->second)) {
                continue;
            }
            refuse(verdict.id,
                   fmt::format("{} is not shown to be within its tolerance, and the code is not "
                               "the baseline's: measure in more processes, or accept the whole "
                               "case with 'perfgate baseline refresh RUN --filter CASE'",
                               util::printable(metric.metric)));
            return false;
        }
        for (const auto& [metric, series] : result.metrics) {
            const auto definition = run_.metric_definitions.find(metric);
            if (!gated.contains(metric) && definition != run_.metric_definitions.end() &&
                code.would_prove(definition->second)) {
                replaced.insert(metric);
            }
        }
        return true;
    }

    std::set<std::string> replaced_metrics(const CaseResult& result, const CaseVerdict& verdict,
                                           const BaselineCase& before,
                                           const model::Provenance& now) const {
        std::set<std::string> replaced;
        if (!same_provenance(before.provenance, now)) {
            for (const auto& [metric, series] : result.metrics) replaced.insert(metric);
            return replaced;
        }
        std::set<std::string> gated;
        for (const MetricVerdict& metric : verdict.metrics) {
            gated.insert(metric.metric);
            if (!model::stayed(metric)) replaced.insert(metric.metric);
        }
        add_ungated(result, before, gated, replaced);
        return replaced;
    }

    /// Metrics that are not gated and changed significantly.
    void add_ungated(const CaseResult& result, const BaselineCase& before,
                     const std::set<std::string>& gated, std::set<std::string>& replaced) const {
        std::vector<std::string> names;
        std::vector<gate::Comparison> comparisons;
        for (const auto& [metric, series] : result.metrics) {
            if (gated.contains(metric)) continue;
            const auto old_series = before.metrics.find(metric);
            const auto definition = run_.metric_definitions.find(metric);
            if (old_series == before.metrics.end() || definition == run_.metric_definitions.end() ||
                !comparable(old_series->second, series)) {
                replaced.insert(metric);
                continue;
            }
            names.push_back(metric);
            comparisons.push_back({&definition->second, &old_series->second, &series, {}, 0});
        }
        const std::vector<gate::Judgement> judgements = rule_.judge(comparisons);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const Verdict moved = judgements.at(i).verdict;
            if (moved == Verdict::regressed || moved == Verdict::improved) {
                replaced.insert(names[i]);
            }
        }
    }

    static void record(const std::string& metric, const BaselineCase& before,
                       const BaselineCase& after, LedgerEntry& entry) {
        const MetricSeries& now = after.metrics.at(metric);
        model::LedgerChange& change = entry.changes[metric];
        change.unit = now.unit;
        change.after = now.value;
        const auto then = before.metrics.find(metric);
        if (then != before.metrics.end() && then->second.unit == now.unit) {
            change.before = then->second.value;
        }
        const auto anchor = after.anchors.find(metric);
        if (anchor != after.anchors.end()) change.anchor = anchor->second;
    }

    const Run& run_;
    const AcceptChoice& choice_;
    const Chosen chosen_;
    const Acceptance& acceptance_;
    const gate::Rule& rule_;
    std::map<std::string, std::string> renamed_;  ///< of the suite: cases not accepted so far
};

std::vector<Accepted> accept_suites(const Run& run, const model::VerdictDocument& document,
                                    const gate::BaselineSet& baselines, Accepting& accepting) {
    std::vector<Accepted> results;
    for (std::size_t i = 0; i < run.suites.size(); ++i) {
        const auto stored = baselines.find(run.suites[i].name);
        results.push_back(accepting.suite(run.suites[i], document.suites.at(i),
                                          stored == baselines.end() ? nullptr : &stored->second));
    }
    return results;
}

}  // namespace

std::set<std::string> not_acceptable(const Run& run, const model::VerdictDocument& document,
                                     const gate::BaselineSet& baselines, const gate::Rule& rule) {
    const AcceptChoice all;
    const Acceptance acceptance;
    Accepting accepting(run, document, all, acceptance, rule);
    accept_suites(run, document, baselines, accepting);
    // Missing, and in the run: the suite has the case, and it was not built.
    for (const model::CaseIndex& at : model::all_cases(run)) {
        const CaseVerdict& verdict = model::case_at(document, at);
        if (verdict.verdict == Verdict::missing) accepting.refused_ids.insert(verdict.id);
    }
    return std::move(accepting.refused_ids);
}

std::vector<Accepted> accept(const Run& run, const model::VerdictDocument& document,
                             const gate::BaselineSet& baselines, const AcceptChoice& choice,
                             const Acceptance& acceptance, const gate::Rule& rule) {
    require_finished(run);
    require_globs_match(run, choice, document);
    require_day_to_come(choice, acceptance);
    Accepting accepting(run, document, choice, acceptance, rule);
    std::vector<Accepted> results = accept_suites(run, document, baselines, accepting);
    refuse_if_any(
        "these cases cannot be accepted: measure them again, or accept others with --filter",
        accepting.refused);
    refuse_if_any(
        "accepted changes add up: accept these with --reset-anchor if that is meant, or others "
        "with --filter",
        accepting.creeping);
    return results;
}

}  // namespace perfgate::baseline
