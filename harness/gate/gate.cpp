// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "gate/acknowledgement.hpp"
#include "gate/base_run.hpp"
#include "gate/batch_rule.hpp"
#include "gate/case_verdict.hpp"
#include "gate/flagged.hpp"
#include "gate/limits.hpp"
#include "gate/other_suites.hpp"
#include "gate/provenance_change.hpp"
#include "gate/relations.hpp"
#include "gate/sentence.hpp"
#include "gate/settle.hpp"
#include "gate/significance.hpp"
#include "gate/suite_verdict.hpp"
#include "gate/too_fast.hpp"
#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::CaseResult;
using model::CaseStatus;
using model::CaseVerdict;
using model::CodeChange;
using model::MetricVerdict;
using model::Run;
using model::SuiteResult;
using model::SuiteVerdict;
using model::Verdict;
using model::VerdictDocument;

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
        : run_(run), baselines_(baselines), policy_(policy), cases_(run, policy) {}

    std::vector<SuiteVerdict> suites(const Rule& rule) {
        verdicts_.reserve(run_.suites.size());
        for (std::size_t i = 0; i < run_.suites.size(); ++i) add_suite(i);
        apply(rule);
        for (std::size_t i = 0; i < verdicts_.size(); ++i) {
            const StoredBaseline* baseline = stored(run_.suites[i].name);
            finish_suite(run_, run_.suites[i], baseline == nullptr ? nullptr : &baseline->baseline,
                         policy_.changed, verdicts_[i]);
            if (baseline == nullptr) continue;
            note_other_measurements(*baseline, run_.suites[i], verdicts_[i]);
            add_what_base_says(*baseline, verdicts_[i]);
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

    void add_suite(std::size_t index) {
        const SuiteResult& suite = run_.suites[index];
        SuiteVerdict& verdict = verdicts_.emplace_back();
        verdict.name = suite.name;
        verdict.file = suite.file;
        const StoredBaseline* baseline = stored(suite.name);
        if (baseline != nullptr) {
            require_same_device(run_.environment.device, baseline->baseline.device, baseline->file);
            if (baseline->baseline.suite != suite.name) {
                throw util::InputError(fmt::format("baseline {}: suite is '{}', the run's is '{}'",
                                                   util::printable(baseline->file),
                                                   util::printable(baseline->baseline.suite),
                                                   util::printable(suite.name)));
            }
            verdict.baseline_file = baseline->file;
            verdict.notes = baseline->notes;
        } else {
            verdict.notes.push_back(
                fmt::format("no baseline for device '{}': accept a run's values with {}",
                            util::printable(run_.environment.device.key), refresh_remedy));
        }
        verdict.cases.reserve(suite.cases.size());
        for (std::size_t i = 0; i < suite.cases.size(); ++i) {
            verdict.cases.push_back(cases_.begin(index, i, baseline));
        }
    }

    void apply(const Rule& rule) {
        std::vector<Comparison> comparisons;
        comparisons.reserve(cases_.pending().size());
        for (const Pending& pending : cases_.pending()) comparisons.push_back(pending.comparison);
        const std::vector<Judgement> judgements = rule.judge(comparisons);
        const std::vector<Acknowledged> known = acknowledgements(judgements, rule);
        for (std::size_t i = 0; i < known.size(); ++i) {
            const Pending& pending = cases_.pending()[i];
            const ComparedCase& compared = *pending.compared;
            CaseVerdict& verdict = verdicts_[compared.suite].cases[compared.index];
            Settled settled = settle(pending.comparison, compared.code, *compared.result,
                                     *compared.expected, policy_.too_good, judgements.at(i));
            Judgement& judgement = settled.judgement;
            MetricVerdict& metric = verdict.metrics[pending.metric];
            // An acknowledgement covers it as it covers what is proved, and what only warns may
            // stay undecided.
            if (settled.undecided &&
                (metric.warns || known[i].standing == Standing::acknowledged)) {
                judgement.verdict = Verdict::inconclusive;
            }
            const bool invalid = judgement.verdict == Verdict::invalid;
            apply_acknowledgement(known[i], judgement);
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
            if (!invalid) settled.reasons.push_back(known[i].words);
            for (const std::string& reason : settled.reasons) {
                if (!reason.empty()) metric.sentence += "; " + reason;
            }
            // For everybody: an acknowledgement that ends soon, or one that no longer answers for
            // it.
            const bool holds = known[i].standing == Standing::acknowledged;
            const std::string& news = holds ? known[i].ends_soon : known[i].words;
            if (!news.empty() && !invalid) {
                verdicts_[compared.suite].notes.push_back(
                    fmt::format("{} of {}: {}", metric.metric, verdict.id, news));
            }
            if (judgement.measure_again) flag(compared, metric.sentence);
            limits_.add(compared.suite, verdict.id, *pending.comparison.definition, judgement);
        }
        limits_.note(verdicts_);
    }

    /// For each pending metric that may have regressed: the result of its acknowledgement, if it
    /// has one with the same unit and method.
    std::vector<Acknowledged> acknowledgements(const std::vector<Judgement>& judgements,
                                               const Rule& rule) const {
        const std::vector<Pending>& pending = cases_.pending();
        std::vector<std::size_t> places;
        std::vector<AcknowledgedComparison> comparisons;
        for (std::size_t i = 0; i < pending.size(); ++i) {
            const Verdict verdict = judgements.at(i).verdict;
            if (verdict != Verdict::regressed && verdict != Verdict::inconclusive) continue;
            const Comparison& comparison = pending[i].comparison;
            const auto& by_metric = pending[i].compared->expected->acknowledged;
            const auto found = by_metric.find(comparison.definition->name);
            if (found == by_metric.end() ||
                !comparable(found->second.known, *comparison.measured)) {
                continue;
            }
            places.push_back(i);
            comparisons.push_back({&comparison, pending[i].compared->result, &found->second});
        }
        std::vector<Acknowledged> answers =
            acknowledged(comparisons, rule, run_.started_at, policy_);
        std::vector<Acknowledged> result(pending.size());
        for (std::size_t i = 0; i < places.size(); ++i) result[places[i]] = std::move(answers[i]);
        return result;
    }

    /// A case is measured again once, however many of its metrics are flagged.
    void flag(const ComparedCase& compared, const std::string& why) {
        if (!flagged_.empty() && flagged_.back().suite == compared.suite &&
            flagged_.back().index == compared.index) {
            return;
        }
        flagged_.push_back({compared.suite, compared.index, why});
    }

    const Run& run_;
    const BaselineSet& baselines_;
    const model::Policy& policy_;
    CaseVerdicts cases_;
    std::vector<SuiteVerdict> verdicts_;
    std::vector<FlaggedCase> flagged_;
    Limits limits_;
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
        throw util::InputError(
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
    const bool nothing = nothing_measured(run, document);
    if (policy.complete) {
        for (SuiteVerdict& missing : missing_suites(run, baselines)) {
            document.suites.push_back(std::move(missing));
        }
    }
    if (run.verify_only) {
        for (SuiteVerdict& suite : document.suites) {
            suite.notes.emplace_back(
                "results were verified and nothing was measured (--verify-only): no performance "
                "was judged");
        }
    }

    if (run.interrupted) {
        document.exit_code = 130;
    } else if (nothing) {
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
