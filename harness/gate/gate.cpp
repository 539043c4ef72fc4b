// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/acknowledgement.hpp"
#include "gate/batch_rule.hpp"
#include "gate/boards.hpp"
#include "gate/flagged.hpp"
#include "gate/limits.hpp"
#include "gate/machine_code.hpp"
#include "gate/overhead.hpp"
#include "gate/provenance_change.hpp"
#include "gate/relations.hpp"
#include "gate/sentence.hpp"
#include "gate/settle.hpp"
#include "gate/significance.hpp"
#include "gate/suite_verdict.hpp"
#include "gate/too_fast.hpp"
#include "model/board.hpp"
#include "model/case.hpp"
#include "model/error.hpp"
#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "model/sorted_walk.hpp"
#include "model/text.hpp"

namespace perfgate::gate {

namespace {

using model::BaselineCase;
using model::CaseResult;
using model::CaseStatus;
using model::CaseVerdict;
using model::CodeChange;
using model::GateRule;
using model::MetricDefinition;
using model::MetricSeries;
using model::MetricVerdict;
using model::Run;
using model::SuiteResult;
using model::SuiteVerdict;
using model::Verdict;
using model::VerdictDocument;

/// A metric to be judged by the rule, and where its verdict belongs.
struct Pending {
    std::size_t suite = 0;
    std::size_t index = 0;  ///< of the case
    std::size_t metric = 0;
    Comparison comparison;
    const CaseResult* result = nullptr;
    const BaselineCase* expected = nullptr;
    CodeComparison code;
};

const MetricDefinition& definition_of(const Run& run, const std::string& metric,
                                      const std::string& id) {
    const auto found = run.metric_definitions.find(metric);
    if (found == run.metric_definitions.end()) {
        throw model::InputError(
            fmt::format("{}: the run gates '{}' and does not define it in metric_definitions; "
                        "measure again",
                        model::printable(id), model::printable(metric)));
    }
    return found->second;
}

MetricVerdict not_collected(const Run& run, const std::string& metric, std::string_view reason) {
    const auto definition = run.metric_definitions.find(metric);
    MetricVerdict verdict;
    verdict.metric = metric;
    if (definition != run.metric_definitions.end()) verdict.unit = definition->second.unit;
    verdict.verdict = Verdict::not_collected;
    verdict.sentence = not_collected_sentence(metric, reason);
    return verdict;
}

bool all_equal(const std::vector<double>& values) {
    return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

void set_batches(const Comparison& comparison, MetricVerdict& verdict) {
    std::vector<double> baseline = batch_values(*comparison.baseline);
    std::vector<double> measured = batch_values(*comparison.measured);
    if (all_equal(baseline) && all_equal(measured)) return;
    if (!all_finite(baseline) || !all_finite(measured)) return;
    verdict.baseline_batches = std::move(baseline);
    verdict.measured_batches = std::move(measured);
}

/// Judges one run. Holds the documents while the verdicts are made.
class Judging {
  public:
    Judging(const Run& run, const BaselineSet& baselines, const model::Policy& policy)
        : run_(run), baselines_(baselines), policy_(policy) {}

    std::vector<SuiteVerdict> suites(const Rule& rule) {
        verdicts_.reserve(run_.suites.size());
        for (const SuiteResult& suite : run_.suites) add_suite(suite);
        apply(rule);
        for (std::size_t i = 0; i < verdicts_.size(); ++i) {
            const StoredBaseline* baseline = stored(run_.suites[i].name);
            finish_suite(run_, run_.suites[i], baseline == nullptr ? nullptr : &baseline->baseline,
                         policy_.changed, verdicts_[i]);
        }
        return std::move(verdicts_);
    }

    /// What suites() found worth measuring again.
    const std::vector<FlaggedCase>& flagged() const { return flagged_; }

  private:
    const StoredBaseline* stored(const std::string& suite) const {
        const auto found = baselines_.find(suite);
        return found == baselines_.end() ? nullptr : &found->second;
    }

    void add_suite(const SuiteResult& suite) {
        SuiteVerdict& verdict = verdicts_.emplace_back();
        verdict.name = suite.name;
        verdict.file = suite.file;
        const StoredBaseline* baseline = stored(suite.name);
        if (baseline != nullptr) {
            require_same_device(run_.environment.device, baseline->baseline.device, baseline->file);
            if (baseline->baseline.suite != suite.name) {
                throw model::InputError(fmt::format("baseline {}: suite is '{}', the run's is '{}'",
                                                    model::printable(baseline->file),
                                                    model::printable(baseline->baseline.suite),
                                                    model::printable(suite.name)));
            }
            verdict.baseline_file = baseline->file;
        } else {
            verdict.notes.push_back(
                fmt::format("no baseline for device '{}': accept a run's values with {}",
                            model::printable(run_.environment.device.key), refresh_remedy));
        }
        verdict.cases.reserve(suite.cases.size());
        for (const CaseResult& result : suite.cases) add_case(result, baseline);
    }

    void add_case(const CaseResult& result, const StoredBaseline* baseline) {
        CaseVerdict& verdict = verdicts_.back().cases.emplace_back();
        verdict.workload = result.spec.workload;
        verdict.id = model::case_id(result.spec);
        verdict.place = result.place;
        verdict.reason = result.reason;
        verdict.log = result.log;
        verdict.wall_s = result.wall_s;

        const BaselineCase* expected = nullptr;
        if (baseline != nullptr) {
            const auto found = baseline->baseline.cases.find(verdict.id);
            if (found != baseline->baseline.cases.end()) expected = &found->second;
        }
        switch (result.status) {
            case CaseStatus::incorrect:
                verdict.verdict = Verdict::incorrect;
                return;
            case CaseStatus::error:
                verdict.verdict = Verdict::error;
                return;
            case CaseStatus::invalid:
                verdict.verdict = Verdict::invalid;
                return;
            case CaseStatus::skipped:
                add_skipped(result, expected, verdict);
                return;
            case CaseStatus::measured:
                break;
        }
        if (result.verification && !result.verification->passed) {
            verdict.verdict = Verdict::incorrect;
            verdict.reason = "verification failed: " + result.verification->detail;
            return;
        }
        if (run_.verify_only) {
            verdict.verdict = Verdict::skipped;
            verdict.reason = result.verification
                                 ? "verified and not measured (--verify-only)"
                                 : "not verified: the suite states no 'check' (--verify-only)";
            return;
        }
        if (std::string why = too_fast(result, run_.environment); !why.empty()) {
            verdict.verdict = Verdict::invalid;
            verdict.reason = std::move(why);
            return;
        }
        CodeComparison code;
        if (expected != nullptr) {
            verdict.notes = provenance_notes(run_, result, *expected, policy_.changed);
            code = compare_code(code_of(result, run_.environment), code_of(*expected));
            verdict.code = code.change;
            if (code.change == CodeChange::changed) verdict.notes.push_back(code.difference);
            verdict.changed_kernels = code.changed_kernels;
            add_baseline_values(result, *expected, verdict);
            if (!result.command.empty()) verdict.baseline_kernels = expected->kernels;
        }
        if (may_lack_verification(result) && !result.verification) {
            verdict.notes.emplace_back("not verified: the suite states no 'check'");
        }
        verdict.notes.insert(verdict.notes.end(), result.notes.begin(), result.notes.end());
        if (const auto overhead = overhead_of(result.metrics)) {
            verdict.notes.push_back("recording overhead: " + to_text(*overhead));
        }
        add_metrics(result, expected, code, verdict);
    }

    /// Only --changed-only and the suite itself may leave out what the baseline expects: a variant
    /// that is no longer built, or needs a newer device, is no longer gated.
    void add_skipped(const CaseResult& result, const BaselineCase* expected,
                     CaseVerdict& verdict) const {
        verdict.verdict = Verdict::skipped;
        if (result.unchanged) verdict.code = CodeChange::unchanged;
        if (expected == nullptr || result.unchanged || run_.interrupted) return;
        if (result.skipped_by_suite) {
            verdict.notes.emplace_back("the baseline has this case, and the suite skips it");
            return;
        }
        verdict.verdict = Verdict::missing;
        verdict.reason = fmt::format(
            "in the baseline and not measured: {}; make it run here again, or state in the suite "
            "that it need not ('skip' in an override)",
            result.reason);
    }

    /// Metrics that are not judged: reports that explain a change need both values.
    void add_baseline_values(const CaseResult& result, const BaselineCase& expected,
                             CaseVerdict& verdict) const {
        std::set<std::string_view> gated;
        for (const GateRule& gate : result.gates) gated.insert(gate.metric);
        const bool times_refused = refused(result, expected, model::MetricClass::timing);
        const bool others_refused = refused(result, expected, model::MetricClass::counter);
        // All three are sorted by name and walked together.
        auto measured = result.metrics.begin();
        auto definition = run_.metric_definitions.begin();
        for (const auto& [name, baseline] : expected.metrics) {
            if (!model::advance_to(name, measured, result.metrics.end()) ||
                !model::advance_to(name, definition, run_.metric_definitions.end()) ||
                gated.contains(name) || measured->second.unit != baseline.unit ||
                measured->second.method != baseline.method || !std::isfinite(baseline.value)) {
                continue;
            }
            const bool time = definition->second.metric_class == model::MetricClass::timing;
            if (time ? times_refused : others_refused) continue;
            verdict.baseline_values.emplace_hint(verdict.baseline_values.end(), name,
                                                 baseline.value);
        }
    }

    /// Whether a change of provenance forbids comparing values of this class.
    bool refused(const CaseResult& result, const BaselineCase& expected,
                 model::MetricClass metric_class) const {
        return !refused_provenance_change(run_, result, expected, metric_class, policy_.changed)
                    .empty();
    }

    void add_metrics(const CaseResult& result, const BaselineCase* expected,
                     const CodeComparison& code, CaseVerdict& verdict) {
        std::set<std::string_view> uncollected;
        for (const model::NotCollected& missing : result.not_collected) {
            uncollected.insert(missing.metric);
        }
        const std::set<std::string_view> inapplicable(result.not_applicable.begin(),
                                                      result.not_applicable.end());
        bool gated = false;
        for (const GateRule& gate : result.gates) {
            if (inapplicable.contains(gate.metric)) continue;
            gated = true;
            if (!uncollected.contains(gate.metric)) {
                add_gated(result, gate, expected, code, verdict);
            }
        }
        for (const model::NotCollected& missing : result.not_collected) {
            verdict.metrics.push_back(not_collected(run_, missing.metric, missing.reason));
        }
        // A program's case may be gated by a relation of its suite alone.
        const bool expected_only = !result.command.empty() && result.gates.empty();
        if (!gated && !expected_only) {
            verdict.verdict = Verdict::error;
            verdict.reason =
                "no gated metric applies to this case: give the suite a tolerance for a metric "
                "that "
                "is measured here, or exclude the case";
        }
    }

    void add_gated(const CaseResult& result, const GateRule& gate, const BaselineCase* expected,
                   const CodeComparison& code, CaseVerdict& verdict) {
        const auto series = result.metrics.find(gate.metric);
        if (series == result.metrics.end()) {
            verdict.metrics.push_back(
                not_collected(run_, gate.metric, "the run has no value of it; measure again"));
            return;
        }
        const MetricSeries& measured = series->second;
        const MetricDefinition& definition = definition_of(run_, gate.metric, verdict.id);
        MetricVerdict& metric = verdict.metrics.emplace_back();
        metric.metric = gate.metric;
        metric.unit = definition.unit;
        metric.measured = estimate_of(measured);
        metric.verdict = Verdict::no_baseline;
        metric.warns = gate.tolerance.severity.value_or(
                           policy_.severity.of(definition.metric_class)) == model::Severity::warn;
        if (const std::string why = distortion(result.metrics, result.max_overhead, gate.metric);
            !why.empty()) {
            metric.verdict = Verdict::invalid;
            metric.sentence = invalid_sentence(gate.metric, measured, why);
            return;
        }

        const MetricSeries* baseline = nullptr;
        if (expected != nullptr) {
            const auto found = expected->metrics.find(gate.metric);
            if (found != expected->metrics.end()) baseline = &found->second;
            if (const std::string why =
                    distortion(expected->metrics, result.max_overhead, gate.metric);
                !why.empty()) {
                metric.verdict = Verdict::invalid;
                metric.sentence =
                    invalid_sentence(gate.metric, measured, "in the baseline, " + why);
                return;
            }
        }
        Comparison comparison{&definition,    baseline, &measured,
                              gate.tolerance, 0,        verdicts_.size() - 1};
        if (baseline != nullptr && definition.metric_class == model::MetricClass::timing) {
            consider_boards(result, *expected, gate.cross_board, comparison);
            baseline = comparison.baseline;
        }
        metric.tolerance = tolerance_words(comparison);
        if (metric.warns) metric.tolerance += ", only warns";
        if (baseline == nullptr) {
            metric.sentence = no_baseline_sentence(gate.metric, measured);
        } else if (baseline->method != measured.method || baseline->unit != measured.unit) {
            metric.sentence = not_comparable_sentence(gate.metric, *baseline, measured);
            // Counters of another number of a program's processes: one may have vanished.
            constexpr std::string_view of_programs = "counter/auto-range/application-replay";
            if (measured.method.starts_with(of_programs) &&
                baseline->method.starts_with(of_programs)) {
                metric.verdict = Verdict::invalid;
            }
            verdict.notes.push_back(metric.sentence);
        } else if (std::string refused = refused_provenance_change(
                       run_, result, *expected, definition.metric_class, policy_.changed);
                   !refused.empty()) {
            metric.sentence = refused_sentence(gate.metric, refused);
        } else {
            pending_.push_back({verdicts_.size() - 1, verdicts_.back().cases.size() - 1,
                                verdict.metrics.size() - 1, comparison, &result, expected, code});
        }
    }

    /// A time is compared with its own board's. For a board that the baseline does not have, what
    /// boards differ by is allowed: as learned from those of the baseline, or as the suite says.
    void consider_boards(const CaseResult& result, const BaselineCase& expected, double leeway,
                         Comparison& comparison) {
        constexpr std::size_t least_processes = 2;  // one says nothing about their spread
        const std::string board = model::board_of(run_, result);
        const std::map<std::string, std::size_t> boards = boards_of(*comparison.baseline);
        const auto own = boards.find(board);
        if (boards.size() > 1 && own != boards.end() && own->second >= least_processes) {
            comparison.baseline =
                &of_boards_.emplace_back(series_of_board(*comparison.baseline, board));
        } else if (other_board(run_, result, expected) || (boards.size() > 1 && !board.empty())) {
            comparison.new_board = boards.size() >= least_boards;
            if (!comparison.new_board) comparison.leeway = leeway;
        }
    }

    void apply(const Rule& rule) {
        std::vector<Comparison> comparisons;
        comparisons.reserve(pending_.size());
        for (const Pending& pending : pending_) comparisons.push_back(pending.comparison);
        const std::vector<Judgement> judgements = rule.judge(comparisons);
        const std::vector<Acknowledged> known = acknowledgements(judgements, rule);
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            const Pending& pending = pending_[i];
            Settled settled = settle(pending.comparison, pending.code, *pending.result,
                                     *pending.expected, judgements.at(i));
            Judgement& judgement = settled.judgement;
            if (known[i].holds) {
                judgement.verdict = Verdict::acknowledged;
                judgement.measure_again = false;
            }
            MetricVerdict& metric =
                verdicts_[pending.suite].cases[pending.index].metrics[pending.metric];
            if (metric.warns && judgement.verdict == Verdict::regressed) {
                judgement.verdict = Verdict::warned;
            }
            metric.verdict = judgement.verdict;
            if (metric.verdict == Verdict::inconclusive) metric.doubt = judgement.doubt;
            metric.interval = judgement.interval;
            metric.baseline = judgement.baseline;
            metric.measured = judgement.measured;
            metric.change = model::change_fraction(judgement.baseline, judgement.measured);
            metric.minimum_detectable_change = judgement.minimum_detectable_change;
            set_batches(pending.comparison, metric);
            if (pending.comparison.definition->metric_class == model::MetricClass::timing) {
                metric.baseline_clock_mhz = mean_clock_mhz(*pending.comparison.baseline);
                metric.measured_clock_mhz = mean_clock_mhz(*pending.comparison.measured);
            }
            metric.sentence =
                judged_sentence(metric.metric, pending.comparison, judgement, settled.aside);
            settled.reasons.push_back(known[i].words);
            for (const std::string& reason : settled.reasons) {
                if (!reason.empty()) metric.sentence += "; " + reason;
            }
            // For everybody: an acknowledgement that ends soon, or one that no longer answers for
            // it.
            const std::string& news = known[i].holds ? known[i].ends_soon : known[i].words;
            if (!news.empty()) {
                verdicts_[pending.suite].notes.push_back(
                    fmt::format("{} of {}: {}", metric.metric,
                                verdicts_[pending.suite].cases[pending.index].id, news));
            }
            if (judgement.measure_again) flag(pending, metric.sentence);
            limits_.add(pending.suite, verdicts_[pending.suite].cases[pending.index].id,
                        *pending.comparison.definition, judgement);
        }
        limits_.note(verdicts_);
    }

    /// For each pending metric that may have regressed: the result of its acknowledgement, if it
    /// has one with the same unit and method.
    std::vector<Acknowledged> acknowledgements(const std::vector<Judgement>& judgements,
                                               const Rule& rule) const {
        std::vector<std::size_t> places;
        std::vector<AcknowledgedComparison> comparisons;
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            const Verdict verdict = judgements.at(i).verdict;
            if (verdict != Verdict::regressed && verdict != Verdict::inconclusive) continue;
            const Comparison& comparison = pending_[i].comparison;
            const auto& by_metric = pending_[i].expected->acknowledged;
            const auto found = by_metric.find(comparison.definition->name);
            if (found == by_metric.end() || found->second.known.unit != comparison.measured->unit ||
                found->second.known.method != comparison.measured->method) {
                continue;
            }
            places.push_back(i);
            comparisons.push_back({&comparison, &found->second});
        }
        std::vector<Acknowledged> answers =
            acknowledged(comparisons, rule, run_.started_at, policy_.acknowledgement_days);
        std::vector<Acknowledged> result(pending_.size());
        for (std::size_t i = 0; i < places.size(); ++i) result[places[i]] = std::move(answers[i]);
        return result;
    }

    /// A case is measured again once, however many of its metrics are flagged.
    void flag(const Pending& pending, const std::string& why) {
        if (!flagged_.empty() && flagged_.back().suite == pending.suite &&
            flagged_.back().index == pending.index) {
            return;
        }
        flagged_.push_back({pending.suite, pending.index, why});
    }

    const Run& run_;
    const BaselineSet& baselines_;
    const model::Policy& policy_;
    std::vector<SuiteVerdict> verdicts_;
    std::vector<FlaggedCase> flagged_;
    Limits limits_;
    std::vector<Pending> pending_;
    std::deque<MetricSeries> of_boards_;  ///< parts of baselines that comparisons point to
};

bool is_verified(const CaseResult& result) {
    return result.status == CaseStatus::measured && result.verification;
}

/// Cases that --changed-only left out count as measured: their values are the baseline's. A run
/// with --verify-only that verified something did what it should.
bool nothing_measured(const Run& run, const VerdictDocument& document) {
    const bool verified =
        run.verify_only &&
        std::any_of(run.suites.begin(), run.suites.end(), [](const SuiteResult& suite) {
            return std::any_of(suite.cases.begin(), suite.cases.end(), is_verified);
        });
    if (verified) return false;
    for (const SuiteVerdict& suite : document.suites) {
        for (const CaseVerdict& verdict : suite.cases) {
            if (verdict.verdict != Verdict::skipped) return false;
            if (verdict.code == CodeChange::unchanged) return false;
        }
    }
    return true;
}

int exit_code_of(const VerdictDocument& document) {
    int code = 0;
    for (const SuiteVerdict& suite : document.suites) {
        for (const CaseVerdict& verdict : suite.cases) {
            code = model::combine_exit_codes(code, model::exit_code(verdict, document.policy));
        }
        for (const model::RelationVerdict& relation : suite.relations) {
            code = model::combine_exit_codes(code,
                                             model::exit_code(relation.verdict, document.policy));
        }
    }
    return code;
}

/// Relations and ceilings, which depend on the run alone. Cases that only a baseline has are added
/// after the run's.
void add_what_needs_no_baseline(const Run& run, VerdictDocument& document) {
    for (std::size_t i = 0; i < run.suites.size(); ++i) {
        const SuiteResult& suite = run.suites[i];
        SuiteVerdict& verdict = document.suites.at(i);
        verdict.relations = judge_relations(run, suite);
        for (std::size_t j = 0; j < suite.cases.size(); ++j) {
            const CaseResult& result = suite.cases[j];
            if (!result.work) continue;
            verdict.cases.at(j).ceiling = model::ceiling_share(*result.work, device_seconds(result),
                                                               run.environment.ceilings);
        }
    }
}

}  // namespace

VerdictDocument judge(const Run& run, const BaselineSet& baselines, const model::Policy& policy,
                      const Rule& rule) {
    const bool empty = std::all_of(run.suites.begin(), run.suites.end(),
                                   [](const SuiteResult& suite) { return suite.cases.empty(); });
    if (empty && !run.interrupted) {
        throw model::InputError(
            "the run has no case: nothing was selected, so nothing was measured");
    }

    VerdictDocument document;
    document.tool_version = run.tool_version;
    document.started_at = run.started_at;
    document.wall_s = run.wall_s;
    document.interrupted = run.interrupted;
    document.verify_only = run.verify_only;
    document.backend = run.backend;
    document.environment = run.environment;
    document.policy = policy;
    document.suites = Judging(run, baselines, policy).suites(rule);
    add_what_needs_no_baseline(run, document);
    if (run.verify_only) {
        for (SuiteVerdict& suite : document.suites) {
            suite.notes.emplace_back(
                "results were verified and nothing was measured (--verify-only): no performance "
                "was judged");
        }
    }

    if (run.interrupted) {
        document.exit_code = 130;
    } else if (nothing_measured(run, document)) {
        // A run that measured nothing must not look like one that passed.
        document.exit_code = 2;
        for (SuiteVerdict& suite : document.suites) {
            suite.notes.emplace_back("nothing was measured: every selected case was skipped");
        }
    } else {
        document.exit_code = exit_code_of(document);
    }
    return document;
}

std::vector<FlaggedCase> flagged(const Run& run, const BaselineSet& baselines,
                                 const model::Policy& policy, const Rule& rule) {
    if (run.interrupted || run.verify_only || policy.rounds == 0) return {};
    Judging judging(run, baselines, policy);
    judging.suites(rule);
    return judging.flagged();
}

}  // namespace perfgate::gate
