// SPDX-License-Identifier: Apache-2.0
#include "gate/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/case_verdict.hpp"
#include "gate/gate.hpp"
#include "gate/provenance_change.hpp"
#include "gate/relation_proof.hpp"
#include "gate/rounds.hpp"
#include "gate/series_moves.hpp"
#include "gate/significance.hpp"
#include "model/board.hpp"
#include "model/case.hpp"
#include "model/text.hpp"

namespace perfgate::gate {

namespace {

using model::BaselineCase;
using model::CaseResult;
using model::Direction;
using model::MetricSeries;
using model::MetricVerdict;
using model::Verdict;
using model::VerdictDocument;

constexpr double times_the_claim = 2;

/// A case of the run that has a baseline, alone in its documents.
struct Alone {
    model::Run run;
    BaselineSet baselines;

    CaseResult& result() { return run.suites.front().cases.front(); }
    const CaseResult& result() const { return run.suites.front().cases.front(); }
    BaselineCase& expected() { return baselines.begin()->second.baseline.cases.begin()->second; }
    VerdictDocument judged(const model::Policy& policy) const {
        return judge(run, baselines, policy, BatchRule(policy));
    }
};

/// Whether the two series can be compared at all.
bool comparable(const MetricSeries& measured, const MetricSeries& expected) {
    return measured.unit == expected.unit && measured.method == expected.method;
}

/// What the gate compares of a case.
struct Compared {
    std::vector<Comparison> comparisons;
    std::deque<MetricSeries> parts;  ///< of the baseline, that comparisons point to
};

Compared compared(const model::Run& run, const CaseResult& result, const BaselineCase& expected) {
    Compared found;
    for (const model::GateRule& gate : result.gates) {
        const auto measured = result.metrics.find(gate.metric);
        const auto baseline = expected.metrics.find(gate.metric);
        const auto definition = run.metric_definitions.find(gate.metric);
        if (measured == result.metrics.end() || baseline == expected.metrics.end() ||
            definition == run.metric_definitions.end() ||
            !comparable(measured->second, baseline->second)) {
            continue;
        }
        Comparison& comparison = found.comparisons.emplace_back();
        comparison = {&definition->second, &baseline->second, &measured->second, gate.tolerance};
        consider_boards(run, result, expected, gate.cross_board, found.parts, comparison);
    }
    return found;
}

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
    return rounds;
}

void change_code(CaseResult& result) {
    for (model::Kernel& kernel : result.kernels) {
        if (!kernel.code.empty()) kernel.code += "-other";
    }
    if (!result.host_code.empty()) result.host_code += "-other";
}

const MetricVerdict* find(const VerdictDocument& document, const std::string& metric) {
    for (const MetricVerdict& verdict : document.suites.front().cases.front().metrics) {
        if (verdict.metric == metric) return &verdict;
    }
    return nullptr;
}

/// Found to be worse, by a gate that fails or by one that warns.
bool is_worse(const MetricVerdict& verdict) {
    return verdict.verdict == (verdict.warns ? Verdict::warned : Verdict::regressed);
}

class Proving {
  public:
    Proving(const model::Run& run, const BaselineSet& baselines, const model::Policy& policy,
            const KnownDirection& known_direction)
        : run_(run), baselines_(baselines), policy_(policy), known_direction_(known_direction) {
        // What is not shown or has no baseline is not what is proved here.
        policy_.no_baseline_fails = policy_.inconclusive_fails = policy_.not_shown_fails = false;
        frame_ = run;
        frame_.suites.clear();
        frame_.selections.clear();
        frame_.shard.reset();
        frame_.interrupted = frame_.verify_only = false;
    }

    Proof all() {
        for_each_case(
            [&](const model::SuiteResult&, const CaseResult& result, const BaselineCase& expected,
                bool) { tests_ += tests_by_spread(compared(run_, result, expected).comparisons); });
        for_each_case([&](const model::SuiteResult& suite, const CaseResult& result,
                          const BaselineCase& expected,
                          bool first) { try_case(suite, result, expected, first); });
        return std::move(proof_);
    }

  private:
    template <class Visit>
    void for_each_case(const Visit& visit) const {
        for (const model::SuiteResult& suite : run_.suites) {
            const auto stored = baselines_.find(suite.name);
            if (stored == baselines_.end()) continue;
            bool first = true;
            for (const CaseResult& result : suite.cases) {
                const auto& cases = stored->second.baseline.cases;
                const auto expected = cases.find(model::case_id(result.spec));
                const bool wrong = result.verification && !result.verification->passed;
                if (expected == cases.end() || wrong ||
                    result.status != model::CaseStatus::measured) {
                    continue;
                }
                visit(suite, result, expected->second, std::exchange(first, false));
            }
        }
    }

    void try_case(const model::SuiteResult& suite, const CaseResult& result,
                  const BaselineCase& expected, bool first) {
        const Compared found = compared(run_, result, expected);
        const std::vector<Comparison>& comparisons = found.comparisons;
        const std::size_t applicable = static_cast<std::size_t>(std::count_if(
            result.gates.begin(), result.gates.end(),
            [&](const model::GateRule& gate) { return result.metrics.contains(gate.metric); }));
        proof_.without_baseline += applicable - comparisons.size();
        if (comparisons.empty()) return;
        ++proof_.cases;
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
        stored.baseline.cases[id_] = expected;
        alone.result().not_collected.clear();

        // By the level that the whole run has.
        model::Policy policy = policy_;
        const auto tests = static_cast<double>(std::max<std::size_t>(tests_, 1));
        policy.false_alarms *=
            std::max(static_cast<double>(tests_by_spread(comparisons)), 1.0) / tests;
        for (const Comparison& comparison : comparisons) {
            alone.result().metrics[comparison.definition->name] =
                replayed(*comparison.baseline, rounds_of(comparison, policy), board_);
        }
        const VerdictDocument unchanged = alone.judged(policy);
        for (const Comparison& comparison : comparisons) {
            const MetricVerdict* verdict = find(unchanged, comparison.definition->name);
            if (verdict == nullptr || verdict->verdict == Verdict::no_baseline) {
                ++proof_.without_baseline;  // refused, or distorted
                continue;
            }
            if (verdict->verdict == Verdict::invalid) continue;
            ++proof_.gates;
            if (verdict->warns) ++proof_.warning;
            if (unchanged.exit_code == 1 || is_worse(*verdict)) {
                problem(comparison, fmt::format("{} although nothing changed",
                                                verdict->warns ? "warns" : "fails"));
            }
            try_gate(alone, comparison, *verdict, policy);
        }
        if (first) try_warnings(alone, policy);
    }

    void problem(const Comparison& comparison, const std::string& what) {
        proof_.problems.push_back(fmt::format("{} of {} {}",
                                              model::printable(comparison.definition->name),
                                              model::printable(id_), what));
    }

    void try_gate(const Alone& alone, const Comparison& comparison, const MetricVerdict& unchanged,
                  const model::Policy& policy) {
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
                    "'perfgate baseline refresh'");
            return;
        }
        const Change allowed = change_between(comparison, estimate, estimate);
        double amount = times_the_claim * (claim ? *claim * std::fabs(estimate) : allowed.allowed);
        if (amount == 0) amount = estimate == 0 ? 1 : 1e-6 * std::fabs(estimate);
        for (const double sign : {1.0, -1.0}) {
            const bool worse =
                direction == Direction::none || (direction == Direction::lower) == (sign > 0);
            try_move(alone, comparison, policy, sign * amount, worse);
        }
    }

    void try_move(Alone alone, const Comparison& comparison, const model::Policy& policy,
                  double amount, bool worse) {
        const std::string& metric = comparison.definition->name;
        const auto known = alone.expected().acknowledged.find(metric);
        const bool from_known = worse && known != alone.expected().acknowledged.end();
        const MetricSeries& from = from_known ? known->second.known : *comparison.baseline;
        change_code(alone.result());
        alone.result().metrics[metric] =
            moved(replayed(from, rounds_of(comparison, policy), board_), estimate_of(from), amount,
                  metric);
        const VerdictDocument document = alone.judged(policy);
        const MetricVerdict* verdict = find(document, metric);
        const bool warns = verdict != nullptr && verdict->warns;
        const bool found = verdict != nullptr && is_worse(*verdict);
        const bool fails = document.exit_code == 1;
        // A gate that warns must do just that: say so, and leave the exit code alone.
        const bool as_it_should = worse ? found && fails == !warns : !found;
        if (as_it_should) return;
        const double size = std::fabs(estimate_of(from));
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

    static void rename_board(const std::string& board, BaselineCase& expected) {
        for (auto& [name, series] : expected.metrics) {
            for (model::Batch& batch : series.batches) {
                if (batch.device == board) batch.device += "-other";
            }
        }
    }

    /// Each circumstance that the policy names is changed in the baseline.
    void try_warnings(const Alone& unchanged, const model::Policy& policy) {
        struct Circumstance {
            std::string_view name;
            std::string model::Provenance::*then;
            const std::string& now;
            model::OnChange taken;
        };
        using model::Provenance;
        const model::Environment& environment = unchanged.run.environment;
        const std::string board = model::board_of(unchanged.run, unchanged.result());
        const std::array circumstances{
            Circumstance{"board", &Provenance::board, board, policy.changed.board},
            Circumstance{"driver", &Provenance::driver, environment.driver, policy.changed.driver},
            Circumstance{"CUDA toolkit", &Provenance::cuda_toolkit, environment.cuda_toolkit,
                         policy.changed.cuda_toolkit},
            Circumstance{"CUPTI", &Provenance::cupti, environment.cupti, policy.changed.cupti},
            Circumstance{"perfgate", &Provenance::tool_version, unchanged.run.tool_version,
                         policy.changed.tool_version}};
        for (const Circumstance& circumstance : circumstances) {
            // What one side does not know is no change.
            if (circumstance.taken == model::OnChange::accept || circumstance.now.empty()) continue;
            Alone alone = unchanged;
            alone.expected().provenance.*circumstance.then = circumstance.now + "-other";
            if (circumstance.then == &Provenance::board) rename_board(board, alone.expected());
            const VerdictDocument document = alone.judged(policy);
            const model::SuiteVerdict& suite = document.suites.front();
            const auto names = [&](const std::string& note) {
                return note.find(circumstance.name) != std::string::npos &&
                       note.find("-other") != std::string::npos;
            };
            const auto& notes = suite.cases.front().notes;
            if (std::none_of(suite.notes.begin(), suite.notes.end(), names) &&
                std::none_of(notes.begin(), notes.end(), names)) {
                proof_.problems.push_back(
                    fmt::format("{}: another {} is not in the notes, which the policy asks for",
                                model::printable(id_), circumstance.name));
            }
        }
    }

    const model::Run& run_;
    const BaselineSet& baselines_;
    model::Policy policy_;
    const KnownDirection& known_direction_;
    model::Run frame_;  ///< the run without suites
    std::size_t tests_ = 0;
    std::string id_, board_;  ///< of the case that is tried
    Proof proof_;
};

}  // namespace

MetricSeries replayed(const MetricSeries& series, const std::vector<std::size_t>& by_round,
                      const std::string& board) {
    std::vector<double> values = batch_values(series);
    if (values.empty()) values = {series.value};
    std::sort(values.begin(), values.end());
    MetricSeries result = series;
    result.batches.clear();
    model::Batch like = series.batches.empty() ? model::Batch{} : series.batches.front();
    like.device = board;
    like.excluded.clear();
    like.run = 0;
    like.sm_clock_mhz.reset();
    for (std::size_t round = 0; round < by_round.size(); ++round) {
        for (std::size_t i = 0; i < by_round[round]; ++i) {
            model::Batch batch = like;
            batch.round = static_cast<std::int64_t>(round);
            batch.process = static_cast<std::int64_t>(result.batches.size());
            batch.samples = {values[(2 * i + 1) * values.size() / (2 * by_round[round])]};
            result.batches.push_back(std::move(batch));
        }
    }
    return result;
}

Proof prove(const model::Run& run, const BaselineSet& baselines, const model::Policy& policy,
            const KnownDirection& known_direction) {
    Proof proof = Proving(run, baselines, policy, known_direction).all();
    RelationProof relations = prove_relations(run);
    proof.relations = relations.relations;
    std::move(relations.problems.begin(), relations.problems.end(),
              std::back_inserter(proof.problems));
    return proof;
}

std::string Proof::sentence() const {
    std::string text = gates == 0 ? std::string("no gate has a baseline")
                                  : fmt::format("{} of {} tried", model::counted(gates, "gate"),
                                                model::counted(cases, "case"));
    if (relations > 0) {
        text += fmt::format(", {}{}", model::counted(relations, "relation"),
                            gates == 0 ? " tried" : "");
    }
    if (gates + relations == 0) {
        text += ": nothing to prove";
    } else if (!problems.empty()) {
        text += ": " + model::counted(problems.size(), "problem");
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
    if (without_baseline > 0) text += fmt::format("; {} have no baseline", without_baseline);
    return text;
}

}  // namespace perfgate::gate
