// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "gate/acknowledgement.hpp"
#include "gate/batch_rule.hpp"
#include "gate/case_verdict.hpp"
#include "gate/invalid.hpp"
#include "gate/provenance_change.hpp"
#include "gate/relations.hpp"
#include "gate/sentence.hpp"
#include "gate/settle.hpp"
#include "gate/significance.hpp"
#include "gate/suite_verdict.hpp"
#include "gate/tail.hpp"
#include "gate/unaccepted.hpp"
#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::CaseResult;
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

/// The metric's verdict with what was decided about it.
MetricVerdict worded(MetricVerdict metric, const Comparison& comparison, const Decision& decision,
                     const TailJudgement* tail) {
    const Judgement& judgement = decision.judgement;
    metric.verdict = judgement.verdict;
    if (metric.verdict == Verdict::inconclusive) metric.doubt = judgement.doubt;
    metric.interval = judgement.interval;
    metric.baseline = judgement.baseline;
    metric.measured = judgement.measured;
    metric.change = model::change_fraction(judgement.baseline, judgement.measured);
    metric.minimum_detectable_change = judgement.minimum_detectable_change;
    set_batches(comparison, metric);
    if (comparison.definition->metric_class == model::MetricClass::timing) {
        metric.baseline_clock_mhz = mean_clock_mhz(*comparison.baseline);
        metric.measured_clock_mhz = mean_clock_mhz(*comparison.measured);
    }
    metric.sentence = judged_sentence(metric.metric, comparison, judgement, decision.aside);
    for (const std::string& reason : decision.reasons) {
        if (!reason.empty()) metric.sentence += "; " + reason;
    }
    if (tail != nullptr) {
        metric.tail = tail->verdict;
        if (tail->is_worth_saying()) {
            metric.sentence += "; " + tail_words(*tail, comparison.definition->unit);
        }
    }
    return metric;
}

/// Judges one run. Holds the documents while the verdicts are made.
class Judging {
  public:
    Judging(const Run& run, const BaselineSet& baselines, const model::Policy& policy)
        : run_(run),
          baselines_(baselines),
          policy_(policy),
          cases_(run, policy),
          unaccepted_(policy, run.started_at) {}

    /// The stages of README.md, "How a metric gets its verdict".
    std::vector<SuiteVerdict> suites(const Rule& rule) {
        for (std::size_t i = 0; i < run_.suites.size(); ++i) add_suite(i);  // compare
        const std::vector<Pending>& pending = cases_.pending();
        std::vector<Comparison> comparisons;
        for (const Pending& each : pending) comparisons.push_back(each.comparison);
        const std::vector<Judgement> judgements = rule.judge(comparisons);
        const std::vector<std::optional<TailJudgement>> tails = judge_tails(comparisons, rule);
        const std::vector<std::optional<Undisturbed>> undisturbed =
            judge_undisturbed(comparisons, rule);
        const std::vector<Acknowledged> known =
            acknowledgements(pending, judgements, rule, run_, policy_);
        for (std::size_t i = 0; i < pending.size(); ++i) {
            MetricVerdict& metric = verdict_of(*pending[i].compared).metrics[pending[i].metric];
            const TailJudgement* tail = tails[i] ? &*tails[i] : nullptr;
            Decision decision = settled(pending[i], judgements.at(i), tail,
                                        undisturbed[i] ? &*undisturbed[i] : nullptr);
            decision = acknowledge(std::move(decision), known[i]);
            unaccepted_.age(pending[i].compared->at.suite, first_seen(*pending[i].compared, metric),
                            verdict_of(*pending[i].compared).id, pending[i].comparison,
                            metric.warns, decision);
            if (metric.warns) decision = warn(std::move(decision));
            metric = worded(std::move(metric), pending[i].comparison, decision, tail);
            report(pending[i], decision, metric);
        }
        limits_.note(verdicts_);
        note_programs();
        note_settled();
        unaccepted_.note(verdicts_);
        std::set<std::string> said;
        for (std::size_t i = 0; i < verdicts_.size(); ++i) {
            finish_suite(run_, run_.suites[i], stored(run_.suites[i].name), policy_.changed, said,
                         verdicts_[i]);
        }
        return std::move(verdicts_);
    }

    /// The cases that suites() found worth measuring again, each once.
    const std::vector<model::CaseIndex>& flagged() const { return flagged_; }
    const std::map<model::CaseIndex, std::size_t>& first_looks() const { return first_looks_; }
    /// Likewise those that undecided_on_board() returns.
    const std::vector<model::CaseIndex>& undecided_on_board() const { return undecided_; }

  private:
    const StoredBaseline* stored(const std::string& suite) const {
        const auto found = baselines_.find(suite);
        return found == baselines_.end() ? nullptr : &found->second;
    }

    /// When the metric's improvement was first seen; empty: no run noted one.
    std::string first_seen(const ComparedCase& compared, const MetricVerdict& metric) {
        const StoredBaseline* baseline = stored(run_.suites[compared.at.suite].name);
        if (baseline == nullptr) return {};
        const auto of_case = baseline->improved.find(verdict_of(compared).id);
        if (of_case == baseline->improved.end()) return {};
        const auto found = of_case->second.find(metric.metric);
        return found == of_case->second.end() ? std::string() : found->second;
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
            verdict.notes.push_back(fmt::format("no baseline for device '{}'",
                                                util::printable(run_.environment.device.key)));
        }
        for (std::size_t i = 0; i < suite.cases.size(); ++i) {
            verdict.cases.push_back(cases_.open(index, i, baseline));
        }
    }

    /// Said once, because it is assumed for all of them.
    void note_programs() {
        for (const auto& [suite, cases] : shown_programs_) {
            verdicts_[suite].notes.push_back(fmt::format(
                "{} shown by {} code: each instance launches the baseline's kernels (machine code, "
                "grid, block, shared memory, number) and has its copies; what the program passes "
                "to them is not compared ('code: false' measures without this)",
                util::counted(cases.size(), "GPU time") + (cases.size() == 1 ? " is" : " are"),
                cases.size() == 1 ? "its" : "their"));
        }
    }

    CaseVerdict& verdict_of(const ComparedCase& compared) {
        return verdicts_[compared.at.suite].cases[compared.at.index];
    }

    Decision settled(const Pending& pending, const Judgement& judgement, const TailJudgement* tail,
                     const Undisturbed* undisturbed) const {
        const ComparedCase& compared = *pending.compared;
        Decision decision =
            settle(pending.comparison, compared.code, *compared.result, *compared.expected,
                   policy_.too_good, judgement, tail, undisturbed);
        Judgement& judged = decision.judgement;
        // More processes do not change what its code shows.
        if (judged.verdict == Verdict::pass) judged.measure_again = false;
        if (tail == nullptr || judged.confirmed || judged.doubt == model::Doubt::other_work) {
            return decision;
        }
        if (tail->judgement.measure_again) judged.measure_again = true;
        if (judged.doubt == model::Doubt::slow_tail && tail->judgement.confirmed) {
            judged.measure_again = false;
        }
        return decision;
    }

    static bool is_undecided_on_board(const Pending& pending, const Decision& decision) {
        const Comparison& comparison = pending.comparison;
        if (!comparison.other_board || comparison.paired) return false;
        if (is_device_time(comparison.definition->name) &&
            pending.compared->code.change == CodeChange::unchanged) {
            return false;
        }
        const Judgement& judged = decision.judgement;
        return judged.measure_again || decision.undecided || judged.verdict == Verdict::regressed ||
               judged.verdict == Verdict::warned ||
               (judged.verdict == Verdict::inconclusive && model::is_not_shown(judged.doubt));
    }

    /// Once for each reason.
    void note_settled() {
        for (std::size_t i = 0; i < verdicts_.size(); ++i) {
            std::vector<std::string>& notes = verdicts_[i].notes;
            if (const auto settled = settled_.find(i); settled != settled_.end()) {
                const std::size_t count = settled->second.size();
                notes.push_back(fmt::format(
                    "{} settled here: the base of each was measured on this board, back to back",
                    util::counted(count, "case") + (count == 1 ? " is" : " are")));
            }
            std::map<std::string, std::size_t> problems = std::move(unsettled_[i]);
            for (const CaseResult& result : run_.suites[i].cases) {
                if (!result.settled || result.settled->problem.empty()) continue;
                ++problems[result.settled->problem];
            }
            for (const auto& [problem, count] : problems) {
                notes.push_back(
                    fmt::format("{} not settled on this board: {}",
                                util::counted(count, "case") + (count == 1 ? " is" : " are"),
                                util::printable(problem, 500)));
            }
        }
    }

    /// What a decision adds beside its metric's verdict.
    void report(const Pending& pending, const Decision& decision, const MetricVerdict& metric) {
        const model::CaseIndex& at = pending.compared->at;
        const std::string& id = verdict_of(*pending.compared).id;
        if (!decision.news.empty()) {
            verdicts_[at.suite].notes.push_back(
                fmt::format("{} of {}: {}", metric.metric, id, decision.news));
        }
        const bool known = !flagged_.empty() && flagged_.back() == at;
        if (decision.judgement.measure_again && !known) flagged_.push_back(at);
        const bool decides_here =
            decision.judgement.measure_again && !pending.comparison.other_board;
        if (decides_here && decision.judgement.first_look_processes > 0) {
            std::size_t& processes = first_looks_[at];
            processes = std::max(processes, decision.judgement.first_look_processes);
        }
        if (pending.comparison.paired) settled_[at.suite].insert(at.index);
        if (!pending.unsettled.empty()) ++unsettled_[at.suite][pending.unsettled];
        const bool listed = !undecided_.empty() && undecided_.back() == at;
        if (!listed && is_undecided_on_board(pending, decision)) undecided_.push_back(at);
        limits_.add(at.suite, id, *pending.comparison.definition, decision.judgement);
        if (pending.compared->code.of_program && pending.compared->code.runs_the_same &&
            metric.metric == "gpu_time" && metric.verdict == Verdict::pass) {
            shown_programs_[at.suite].insert(at.index);
        }
    }

    const Run& run_;
    const BaselineSet& baselines_;
    const model::Policy& policy_;
    CaseVerdicts cases_;
    std::vector<SuiteVerdict> verdicts_;
    std::vector<model::CaseIndex> flagged_;
    std::map<model::CaseIndex, std::size_t> first_looks_;
    Limits limits_;
    Unaccepted unaccepted_;
    std::map<std::size_t, std::set<std::size_t>> shown_programs_;          ///< cases, by suite
    std::map<std::size_t, std::set<std::size_t>> settled_;                 ///< likewise
    std::map<std::size_t, std::map<std::string, std::size_t>> unsettled_;  ///< by suite and reason
    std::vector<model::CaseIndex> undecided_;                              ///< on their board
};

bool is_verified(const CaseResult& result) {
    return result.status == model::CaseStatus::measured && result.verification;
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
            const model::Ceilings& ceilings = run.environment.ceilings;
            verdict.cases.at(j).ceiling =
                result.work ? model::ceiling_share(*result.work, device_seconds(result), ceilings)
                            : model::ceiling_share(result, ceilings);
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

std::vector<model::CaseIndex> flagged(const Run& run, const BaselineSet& baselines,
                                      const model::Policy& policy, const Rule& rule) {
    if (run.interrupted || run.verify_only || policy.rounds == 0) return {};
    Judging judging(run, baselines, policy);
    judging.suites(rule);
    return judging.flagged();
}

std::map<model::CaseIndex, std::size_t> first_looks(const Run& run, const BaselineSet& baselines,
                                                    const model::Policy& policy, const Rule& rule) {
    if (run.interrupted || run.verify_only || policy.rounds == 0) return {};
    Judging judging(run, baselines, policy);
    judging.suites(rule);
    return judging.first_looks();
}

std::vector<model::CaseIndex> undecided_on_board(const Run& run, const BaselineSet& baselines,
                                                 const model::Policy& policy, const Rule& rule) {
    if (run.interrupted || run.verify_only) return {};
    Judging judging(run, baselines, policy);
    judging.suites(rule);
    return judging.undecided_on_board();
}

}  // namespace perfgate::gate
