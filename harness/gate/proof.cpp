// SPDX-License-Identifier: Apache-2.0
#include "gate/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/case_verdict.hpp"
#include "gate/gate.hpp"
#include "gate/machine_code.hpp"
#include "gate/rule.hpp"
#include "gate/self_test.hpp"
#include "gate/series.hpp"
#include "gate/significance.hpp"
#include "model/case.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::BaselineCase;
using model::CaseResult;
using model::Direction;
using model::MetricVerdict;
using model::Verdict;
using model::VerdictDocument;

/// A case of the run that has a baseline, alone in its documents.
struct Alone {
    model::Run run;
    BaselineSet baselines;

    CaseResult& result() { return run.suites.front().cases.front(); }
    const CaseResult& result() const { return run.suites.front().cases.front(); }
    BaselineCase& expected() { return baselines.begin()->second.baseline.cases.begin()->second; }
};

/// Processes by round, as a run that measures a flagged time again to the end.
std::vector<std::size_t> rounds_of(const Comparison& comparison, const model::Policy& policy) {
    std::size_t first = 0;
    for (const model::Batch& batch : comparison.measured->batches) {
        if (batch.round == 0 && in_use(batch)) ++first;
    }
    std::vector<std::size_t> rounds{std::max<std::size_t>(first, 1)};
    for (std::int64_t round = 1; is_time(comparison) && round <= policy.rounds; ++round) {
        rounds.push_back(round_size(round));
    }
    if (!is_time(comparison)) {
        rounds.push_back(
            std::accumulate(fresh_collections.begin(), fresh_collections.end(), std::size_t(0)));
    }
    return rounds;
}

const MetricVerdict* find(const VerdictDocument& document, const std::string& metric) {
    for (const MetricVerdict& verdict : document.suites.front().cases.front().metrics) {
        if (verdict.metric == metric) return &verdict;
    }
    return nullptr;
}

class Proving {
  public:
    Proving(const model::Run& run, const BaselineSet& baselines, const model::Policy& policy,
            const KnownDirection& known_direction)
        : run_(run),
          baselines_(baselines),
          policy_(policy),
          known_direction_(known_direction),
          judged_(run, policy_) {
        // What is not shown or has no baseline is not what is proved here.
        policy_.no_baseline_fails = policy_.inconclusive_fails = policy_.not_shown_fails =
            policy_.improved_fails = false;
        frame_ = run;
        frame_.suites.clear();
        frame_.selections.clear();
        frame_.shard.reset();
        frame_.interrupted = frame_.verify_only = false;
    }

    Proof all() {
        learn();
        for (std::size_t i = 0; i < comparisons_.size();) {
            const ComparedCase& compared = *judged_.pending()[i].compared;
            std::size_t end = i;
            while (end < comparisons_.size() && judged_.pending()[end].compared == &compared) ++end;
            try_case(compared, i, end - i);
            i = end;
        }
        return std::move(proof_);
    }

  private:
    /// What the gate compares in this run, the budget that it shares out and the drift that it
    /// allows.
    void learn() {
        for (std::size_t s = 0; s < run_.suites.size(); ++s) {
            const auto stored = baselines_.find(run_.suites[s].name);
            if (stored == baselines_.end()) continue;
            for (std::size_t c = 0; c < run_.suites[s].cases.size(); ++c) {
                const model::CaseVerdict verdict = judged_.open(s, c, &stored->second);
                const auto expected = stored->second.baseline.cases.find(verdict.id);
                if (expected == stored->second.baseline.cases.end()) continue;
                count_gates(run_.suites[s].cases[c], expected->second, verdict);
            }
        }
        for (const Pending& pending : judged_.pending()) comparisons_.push_back(pending.comparison);
        proof_.without_baseline -= comparisons_.size();
        tests_ = tests_by_spread(comparisons_);
        drifts_ = drifts_of(comparisons_);
    }

    /// Counts the gates of a case that have no baseline or no valid value. Those that can be
    /// compared count as without a baseline until learn() subtracts them. A case that was skipped
    /// or is missing has no gates here.
    void count_gates(const CaseResult& result, const BaselineCase& expected,
                     const model::CaseVerdict& verdict) {
        if (verdict.verdict == Verdict::skipped || verdict.verdict == Verdict::missing) return;
        for (const model::GateRule& gate : result.gates) {
            const auto metric = std::find_if(
                verdict.metrics.begin(), verdict.metrics.end(),
                [&](const MetricVerdict& known) { return known.metric == gate.metric; });
            if (metric != verdict.metrics.end() && metric->verdict == Verdict::no_baseline) {
                ++proof_.without_baseline;
            } else if (expected.metrics.contains(gate.metric)) {
                ++proof_.invalid;
            }
        }
    }

    /// Its comparisons are `count` from the first.
    void try_case(const ComparedCase& compared, std::size_t first_of_case, std::size_t count) {
        const model::SuiteResult& suite = run_.suites[compared.at.suite];
        const CaseResult& result = *compared.result;
        const std::span comparisons(&comparisons_[first_of_case], count);
        id_ = model::case_id(result.spec);
        board_ = model::board_of(run_, result);

        Alone alone{frame_, {}};
        model::SuiteResult& only = alone.run.suites.emplace_back();
        only.name = suite.name;
        only.file = suite.file;
        only.partial = true;
        only.cases = {result};
        StoredBaseline& stored = alone.baselines[suite.name];
        stored.file = baselines_.at(suite.name).file;
        stored.baseline.suite = suite.name;
        stored.baseline.device = baselines_.at(suite.name).baseline.device;
        stored.baseline.cases[id_] = *compared.expected;
        alone.result().not_collected.clear();
        // A planted value is no report of the benchmark: moved, a coarse one looks repeated.
        alone.result().instance.clear();

        // By the level that the whole run has, and the drift of the whole suite.
        std::map<std::string, stats::Drift> drifts;
        for (std::size_t i = 0; i < count; ++i) {
            drifts[comparisons[i].definition->name] = drifts_[first_of_case + i];
        }
        rule_.emplace(policy_, tests_ - tests_by_spread(comparisons), std::move(drifts));
        for (const Comparison& comparison : comparisons) {
            alone.result().metrics[comparison.definition->name] =
                replayed(*comparison.baseline, rounds_of(comparison, policy_), board_);
        }
        const VerdictDocument unchanged = judged(alone);
        const std::size_t gates_before = proof_.gates;
        for (const Comparison& comparison : comparisons) {
            const MetricVerdict* verdict = find(unchanged, comparison.definition->name);
            if (allows_nothing_left(comparison, estimate_of(*comparison.baseline))) {
                ++proof_.gates;
                problem(comparison, "cannot fail: its tolerance allows 0");
                continue;
            }
            // The baseline's own values are invalid; if there is no verdict, too fast to be true.
            if (verdict == nullptr || verdict->verdict == Verdict::invalid) {
                ++proof_.invalid;
                continue;
            }
            ++proof_.gates;
            if (verdict->warns) ++proof_.warning;
            if (unchanged.exit_code == 1 || is_worse(verdict->verdict)) {
                problem(comparison, fmt::format("{} although nothing changed",
                                                verdict->warns ? "warns" : "fails"));
            }
            try_gate(alone, comparison, *verdict);
        }
        if (proof_.gates > gates_before) ++proof_.cases;
    }

    VerdictDocument judged(const Alone& alone) const {
        return judge(alone.run, alone.baselines, policy_, *rule_);
    }

    void problem(const Comparison& comparison, const std::string& what) {
        proof_.problems.push_back(fmt::format("{} of {} {}",
                                              util::printable(comparison.definition->name),
                                              util::printable(id_), what));
    }

    void try_gate(const Alone& alone, const Comparison& comparison,
                  const MetricVerdict& unchanged) {
        const std::string& metric = comparison.definition->name;
        const Direction direction = comparison.definition->direction;
        if (const auto known = known_direction_(metric); known && *known != direction) {
            problem(comparison, fmt::format("is gated as '{}', but for this metric '{}' is better",
                                            model::to_text(direction), model::to_text(*known)));
            return;
        }
        const double estimate = unchanged.baseline.value_or(0);
        const std::optional<double> claim = unchanged.minimum_detectable_change;
        const bool too_few =
            is_time(comparison) && !claim && comparison.baseline->batches.size() > 1;
        if (too_few) {
            problem(comparison,
                    "cannot fail: with so few processes no test can reach its level; record a "
                    "baseline of 20 with "
                    "'perfgate baseline refresh SUITE'");
            return;
        }
        const Change allowed = change_between(comparison, estimate, estimate);
        double amount = times_the_claim * (claim ? *claim * std::fabs(estimate) : allowed.allowed);
        if (amount == 0) amount = estimate == 0 ? 1 : 1e-6 * std::fabs(estimate);
        for (const double sign : {1.0, -1.0}) {
            const bool worse =
                direction == Direction::none || (direction == Direction::lower) == (sign > 0);
            try_move(alone, comparison, sign * amount, worse);
        }
    }

    void try_move(Alone alone, const Comparison& comparison, double amount, bool worse) {
        const std::string& metric = comparison.definition->name;
        const auto known = alone.expected().acknowledged.find(metric);
        const bool from_known = worse && known != alone.expected().acknowledged.end();
        const model::MetricSeries& from = from_known ? known->second.known : *comparison.baseline;
        forget_code(alone.result());
        alone.result().metrics[metric] =
            moved(replayed(from, rounds_of(comparison, policy_), board_), estimate_of(from), amount,
                  metric);
        const VerdictDocument document = judged(alone);
        const MetricVerdict* verdict = find(document, metric);
        const bool warns = verdict != nullptr && verdict->warns;
        const bool found = verdict != nullptr && is_worse(verdict->verdict);
        const bool fails = document.exit_code == 1;
        // A gate that warns must do just that: say so, and leave the exit code alone.
        const bool as_it_should = worse ? found && fails == !warns : !found;
        if (as_it_should) return;
        const double size = std::fabs(estimate_of(from));
        if (size > 0) amount = std::max(amount, -size);  // as moved() ends there
        const std::string by = size == 0 ? fmt::format("{:+g}", amount)
                                         : fmt::format("{:+.3g} %", 100 * amount / size);
        problem(
            comparison,
            worse
                ? fmt::format("cannot {}: worse by {}, it is '{}' and the exit code {}",
                              warns ? "only warn" : "fail", by,
                              verdict == nullptr ? "not judged" : model::to_text(verdict->verdict),
                              document.exit_code)
                : fmt::format("{} when it gets better (by {})", warns ? "warns" : "fails", by));
    }

    const model::Run& run_;
    const BaselineSet& baselines_;
    model::Policy policy_;
    const KnownDirection& known_direction_;
    model::Run frame_;  ///< the run without suites
    CaseVerdicts judged_;
    std::vector<Comparison> comparisons_;  ///< of all cases, as the gate makes them
    std::vector<stats::Drift> drifts_;     ///< of each
    std::size_t tests_ = 0;
    std::string id_, board_;         ///< of the case that is tried
    std::optional<BatchRule> rule_;  ///< that judges it as in its run
    Proof proof_;
};

}  // namespace

Proof prove(const model::Run& run, const BaselineSet& baselines, const model::Policy& policy,
            const KnownDirection& known_direction) {
    // Against the baseline's processes: what was settled on this board needs no baseline.
    model::Run from_baseline = run;
    for (model::SuiteResult& suite : from_baseline.suites) {
        for (CaseResult& result : suite.cases) result.settled.reset();
    }
    Proof proof = Proving(from_baseline, baselines, policy, known_direction).all();
    RelationProof relations = prove_relations(run, baselines);
    proof.relations = relations.relations;
    std::move(relations.problems.begin(), relations.problems.end(),
              std::back_inserter(proof.problems));
    return proof;
}

std::string Proof::sentence() const {
    std::string text =
        fmt::format("{} of {} tried", util::counted(gates, "gate"), util::counted(cases, "case"));
    if (gates == 0) text = invalid > 0 ? "no gate was tried" : "no gate has a baseline";
    if (relations > 0) {
        text +=
            fmt::format(", {}{}", util::counted(relations, "relation"), gates == 0 ? " tried" : "");
    }
    if (gates + relations == 0) {
        text += invalid > 0 ? ": nothing was proved" : ": nothing to prove";
    } else if (!problems.empty()) {
        text += ": " + util::counted(problems.size(), "problem");
    } else {
        if (gates > 0) {
            text +=
                ": each gate fails if its metric is worse by twice what the gate claims to detect, "
                "and none fails if it is unchanged or better";
        }
        if (relations > 0) {
            text += fmt::format("{} each relation can be broken", gates == 0 ? ":" : ";");
        }
    }
    if (warning > 0) {
        text += fmt::format("; {} of them only warn{}", warning, warning == 1 ? "s" : "");
    }
    if (invalid > 0) {
        text += fmt::format("; {} without a valid value could not be tried",
                            util::counted(invalid, "gate"));
    }
    if (without_baseline > 0) {
        text += fmt::format("; {} {} no baseline", without_baseline,
                            without_baseline == 1 ? "has" : "have");
    }
    return text;
}

}  // namespace perfgate::gate
