// SPDX-License-Identifier: Apache-2.0
#include "review/planted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "gate/proof.hpp"
#include "gate/provenance_change.hpp"
#include "gate/rule.hpp"
#include "gate/series.hpp"
#include "model/case.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::review {

namespace {

using model::BaselineCase;
using model::Direction;
using model::GateRule;
using model::MetricDefinition;
using model::MetricSeries;
using model::MetricVerdict;

constexpr double plain = 0.5;    ///< a regression that nobody overlooks
constexpr double margin = 1.25;  ///< beyond the tolerance
constexpr double least = 1e-6;   ///< of what may not change at all
constexpr const char* cycles = "cycles";
constexpr const char* unknown_board = "a new board";

/// What a planted run has instead of the earlier baseline's values.
enum class Move {
    counts,          ///< worse counters and exact values
    times,           ///< worse times; clock and cycles as they were
    at_lower_clock,  ///< the same, and more cycles at a clock that is lower
    hidden,          ///< the same times, and more cycles at a clock that is higher
};

struct Plant {
    Move move = Move::times;
    bool twice_the_claim = false;  ///< else by `plain`, or by this if it is more
    std::vector<std::size_t> processes_by_round;
    bool better = false;  ///< metrics without a direction fail both ways
};

std::vector<std::size_t> all_rounds() {
    return {5, gate::round_size(1), gate::round_size(2)};
}

std::vector<std::size_t> all_collections() {
    std::vector<std::size_t> all{1};
    all.insert(all.end(), gate::fresh_collections.begin(), gate::fresh_collections.end());
    return all;
}

/// From the plainest.
const std::vector<Plant>& plants() {
    static const std::vector<Plant> all = [] {
        std::vector<Plant> made;
        for (const bool better : {false, true}) {
            for (const std::vector<std::size_t>& processes :
                 {all_rounds(), std::vector<std::size_t>{5}, std::vector<std::size_t>{3}}) {
                made.push_back({Move::times, false, processes, better});
            }
            made.push_back({Move::counts, false, all_collections(), better});
            made.push_back({Move::counts, true, all_collections(), better});
            made.push_back({Move::times, true, all_rounds(), better});
        }
        for (const Move move : {Move::at_lower_clock, Move::hidden}) {
            made.push_back({move, false, all_rounds(), false});
            made.push_back({move, true, all_rounds(), false});
        }
        return made;
    }();
    return all;
}

/// A case that both baselines have.
struct Tried {
    const std::string* id = nullptr;
    const BaselineCase* before = nullptr;
    const CaseGates* gates = nullptr;
    const BaselineCase* after = nullptr;
    std::vector<GateRule> times, counts;  ///< whose values the later baseline has, comparable
    std::set<std::string> boards_before, boards_after;
    bool is_new = false;  ///< only the later baseline has it
};

bool is_time(const MetricDefinition& definition) {
    return definition.metric_class == model::MetricClass::timing;
}

bool is_tried_on(const Tried& tried, const std::string& board) {
    return board == unknown_board || tried.boards_before.contains(board) ||
           tried.boards_after.contains(board);
}

/// What its own board measured; if nothing did, what all did.
MetricSeries of_board(const MetricSeries& series, const std::string& board) {
    MetricSeries part = gate::series_of_board(series, board);
    return part.batches.empty() ? series : part;
}

std::optional<double> known_clock_mhz(const MetricSeries& series) {
    double sum = 0;
    double count = 0;
    for (const model::Batch& batch : series.batches) {
        if (!batch.sm_clock_mhz || !(*batch.sm_clock_mhz > 0)) continue;
        sum += *batch.sm_clock_mhz;
        ++count;
    }
    if (count == 0) return std::nullopt;
    return sum / count;
}

/// If not, nothing is hidden behind a higher one, nor is it found.
bool knows_clock(const BaselineCase& expected, const std::string& metric,
                 const std::string& board) {
    return gate::mean_clock_mhz(of_board(expected.metrics.at(metric), board)).has_value();
}

void set_clock(double clock_mhz, MetricSeries& series) {
    for (model::Batch& batch : series.batches) batch.sm_clock_mhz = clock_mhz;
}

/// Worse by a factor, as counts and times get worse.
void multiply(double factor, MetricSeries& series) {
    series.value *= factor;
    for (model::Batch& batch : series.batches) {
        for (double& sample : batch.samples) sample *= factor;
    }
}

/// Whether some policy fails `before` and lets `after` pass. What few processes leave open is
/// measured again, so that a policy that passes it passes nothing that was planted.
bool is_weaker(const Plant& plant, const MetricVerdict& before, const MetricVerdict& after) {
    const bool open = plant.processes_by_round.size() > 1 || plant.move == Move::counts;
    const auto fails = [](const MetricVerdict& verdict, const model::Policy& policy) {
        const model::Outcome outcome = model::outcome_of(verdict, policy);
        return outcome == model::Outcome::failure || outcome == model::Outcome::error;
    };
    for (const bool no_baseline : {false, true}) {
        for (const bool inconclusive : {false, true}) {
            for (const bool not_shown : {false, true}) {
                if (!not_shown && !open) continue;
                model::Policy policy;
                policy.no_baseline_fails = no_baseline;
                policy.inconclusive_fails = inconclusive;
                policy.not_shown_fails = not_shown;
                if (fails(before, policy) && !fails(after, policy)) return true;
            }
        }
    }
    return false;
}

std::string words(const MetricVerdict& verdict) {
    std::string text(model::to_text(verdict.verdict));
    if (verdict.verdict == model::Verdict::inconclusive) {
        text += fmt::format(" ({})", model::to_text(verdict.doubt));
    }
    return text;
}

std::string words(const Plant& plant, bool new_board) {
    std::string text = plant.twice_the_claim ? "twice what is detected" : "50 % worse";
    if (plant.move == Move::at_lower_clock) text += " at a lower clock";
    if (plant.move == Move::hidden) text += " behind a higher clock";
    if (new_board && plant.move != Move::counts) text += " on a new board";
    return text;
}

/// In the documents that are judged each case has a number, because ids are not read back.
model::CaseSpec spec_of(std::size_t tried) {
    return {"case", std::to_string(tried), {}};
}

class Planting {
  public:
    Planting(const model::Baseline& before, const model::Baseline& after,
             const std::map<std::string, CaseGates>& gates,
             const std::map<std::string, CaseGates>& later_gates) {
        boards_ = boards_of(before, after);
        boards_.resize(std::min(boards_.size(), most_boards));
        policy_.changed = {model::OnChange::accept, model::OnChange::accept,
                           model::OnChange::accept, model::OnChange::accept,
                           model::OnChange::accept};
        frame_.environment.device = before.device;
        frame_.suites.resize(1);
        frame_.suites.front().name = suite;
        frame_.suites.front().partial = true;
        for (gate::BaselineSet* set : {&before_, &after_}) {
            (*set)[suite].baseline.suite = suite;
            (*set)[suite].baseline.device = before.device;
        }
        for (const auto& [id, expected] : before.cases) {
            const auto later = after.cases.find(id);
            if (later != after.cases.end()) add(id, expected, later->second, gates.at(id));
        }
        const std::size_t of_both = tried_.size();
        for (const auto& [id, expected] : after.cases) {
            if (!before.cases.contains(id)) add(id, expected, expected, later_gates.at(id));
        }
        // The earlier baseline has them in one session, which says nothing of what sessions differ
        // by.
        for (std::size_t i = of_both; i < tried_.size(); ++i) {
            tried_[i].is_new = true;
            BaselineCase& alike = before_.at(suite).baseline.cases.at(model::case_id(spec_of(i)));
            for (auto& [name, series] : alike.metrics) {
                for (model::Batch& batch : series.batches) batch.run = 0;
            }
        }
    }

    std::map<Place, Weakened> all() {
        const Claims on_new_board = claims_on(unknown_board);
        for (const std::string& board : boards_) {
            claims_ = claims_on(board);
            // A board that the later baseline lacks is judged as a new one, which is no weaker than
            // what the earlier baseline says of new boards.
            for (auto& [key, claim] : claims_) {
                if (!tried_[key.first].boards_after.contains(board)) claim = on_new_board.at(key);
            }
            for (const Plant& plant : plants()) try_plant(plant, board);
        }
        claims_ = on_new_board;
        for (const Plant& plant : plants()) try_plant(plant, unknown_board);
        return std::move(found_);
    }

  private:
    static constexpr const char* suite = "planted";
    using Key = std::pair<std::size_t, std::string>;  ///< index of a tried case, and a metric
    using Claims = std::map<Key, std::optional<double>>;

    /// Without what was measured and what was acknowledged, which others compare, and without the
    /// code: a planted run has another.
    void add(const std::string& id, const BaselineCase& before, const BaselineCase& after,
             const CaseGates& gates) {
        const std::string number = model::case_id(spec_of(tried_.size()));
        for (const auto& [set, expected] :
             {std::pair(&before_, &before), std::pair(&after_, &after)}) {
            BaselineCase& added = (*set)[suite].baseline.cases[number];
            added.provenance.board = expected->provenance.board;
            added.metrics = expected->metrics;
        }
        Tried& tried = tried_.emplace_back();
        tried.id = &id;
        tried.before = &before;
        tried.after = &after;
        tried.gates = &gates;
        tried.boards_before = boards_of(before);
        tried.boards_after = boards_of(after);
        for (GateRule rule : gates.rules) {
            const MetricSeries& was = before.metrics.at(rule.metric);
            const auto is = after.metrics.find(rule.metric);
            if (is == after.metrics.end() || !comparable(is->second, was)) {
                continue;
            }
            // Whether it only warns is not what a baseline decides.
            rule.tolerance.severity = model::Severity::fail;
            const MetricDefinition& definition = gates.definitions.at(rule.metric);
            frame_.metric_definitions.emplace(rule.metric, definition);
            (is_time(definition) ? tried.times : tried.counts).push_back(std::move(rule));
        }
    }

    void try_plant(const Plant& plant, const std::string& board) {
        // Boards differ in times alone.
        if (plant.move == Move::counts && board != unknown_board) return;
        const std::map<Key, MetricVerdict> before = judged(plant, board, true, before_);
        if (before.empty()) return;
        const std::map<Key, MetricVerdict> after = judged(plant, board, true, after_);
        for (const auto& [key, was] : before) {
            const MetricVerdict& is = after.at(key);
            if (!is_weaker(plant, was, is)) continue;
            found_.try_emplace(
                {*tried_[key.first].id, key.second},
                Weakened{words(plant, !tried_[key.first].boards_before.contains(board)) + ": " +
                             words(was),
                         words(is)});
        }
    }

    /// What a run on this board detects by the earlier baseline.
    Claims claims_on(const std::string& board) const {
        Claims claims;
        for (const Move move : {Move::counts, Move::times}) {
            for (const auto& [key, verdict] : judged({move, false, {}}, board, false, before_)) {
                claims[key] = verdict.minimum_detectable_change;
            }
        }
        return claims;
    }

    /// The verdicts of the metrics that the plant moves.
    std::map<Key, MetricVerdict> judged(const Plant& plant, const std::string& board, bool moves,
                                        const gate::BaselineSet& baselines) const {
        model::Run run = frame_;
        std::vector<std::size_t> indices;
        for (std::size_t i = 0; i < tried_.size(); ++i) {
            if (!is_tried_on(tried_[i], board)) continue;
            model::CaseResult result = planted(plant, i, board, moves, &baselines == &after_);
            if (result.gates.empty()) continue;
            run.suites.front().cases.push_back(std::move(result));
            indices.push_back(i);
        }
        std::map<Key, MetricVerdict> verdicts;
        if (indices.empty()) return verdicts;
        const model::VerdictDocument document =
            gate::judge(run, baselines, policy_, gate::BatchRule(policy_));
        for (std::size_t i = 0; i < indices.size(); ++i) {
            if (tried_[indices[i]].is_new) continue;
            for (const MetricVerdict& verdict : document.suites.front().cases.at(i).metrics) {
                verdicts.emplace(Key{indices[i], verdict.metric}, verdict);
            }
        }
        return verdicts;
    }

    /// Moved by a fraction, or as it is if that is 0; nothing if the gate need not fail it.
    static std::optional<MetricSeries> series_of(const Plant& plant, const Tried& tried,
                                                 const GateRule& rule, const std::string& board,
                                                 double fraction) {
        const Direction direction = tried.gates->definitions.at(rule.metric).direction;
        const bool counts = plant.move == Move::counts;
        const MetricSeries& all = tried.before->metrics.at(rule.metric);
        const MetricSeries part = counts ? all : of_board(all, board);
        const auto clock = known_clock_mhz(part);
        const bool moves = fraction > 0;
        MetricSeries series =
            gate::replayed(part, moves ? plant.processes_by_round : usual_rounds(counts), board);
        if (clock) set_clock(*clock, series);
        if (!moves) return series;
        if (plant.better && direction != Direction::none) return std::nullopt;
        if (!is_beyond(plant, part, fraction, rule, tried)) return std::nullopt;
        if (plant.move == Move::hidden) {
            return knows_clock(*tried.after, rule.metric, board) ? std::optional(series)
                                                                 : std::nullopt;
        }
        const double estimate = gate::estimate_of(part);
        const bool rises = (direction != Direction::higher) != plant.better;
        const double amount = estimate == 0 ? 1 : fraction * std::fabs(estimate);
        return gate::moved(std::move(series), estimate, rises ? amount : -amount, rule.metric);
    }

    /// The cycles are those of the baseline that judges it: they are counted in one process, and a
    /// baseline with other cycles is listed as such.
    model::CaseResult planted(const Plant& plant, std::size_t index, const std::string& board,
                              bool moves, bool by_later) const {
        const Tried& tried = tried_[index];
        moves = moves && !tried.is_new;
        const bool counts = plant.move == Move::counts;
        model::CaseResult result;
        result.spec = spec_of(index);
        result.status = model::CaseStatus::measured;
        double most = 0;
        for (const GateRule& rule : counts ? tried.counts : tried.times) {
            const double fraction = fraction_of(plant, {index, rule.metric}, rule);
            auto series = series_of(plant, tried, rule, board, moves ? fraction : 0);
            if (!series) continue;
            most = std::max(most, fraction);
            result.metrics.emplace(rule.metric, *std::move(series));
            result.gates.push_back(rule);
        }
        if (counts) return result;
        const auto& metrics = (by_later ? tried.after : tried.before)->metrics;
        const auto found = metrics.find(cycles);
        if (found != metrics.end()) {
            result.metrics.emplace(cycles, gate::replayed(found->second, {1}, board));
        }
        if (moves && (plant.move == Move::at_lower_clock || plant.move == Move::hidden)) {
            change_clock(plant, 1 + most, result);
        }
        return result;
    }

    /// Whether the gate should fail it, on any board. One value of a count does not say by how much
    /// others differ.
    static bool is_beyond(const Plant& plant, const MetricSeries& part, double fraction,
                          const GateRule& rule, const Tried& tried) {
        const bool one_count = plant.move == Move::counts && part.batches.size() < 2;
        if (one_count && plant.twice_the_claim) return false;
        gate::Comparison comparison;
        comparison.definition = &tried.gates->definitions.at(rule.metric);
        comparison.tolerance = rule.tolerance;
        comparison.leeway = plant.move == Move::counts ? 0 : rule.cross_board;
        const double estimate = gate::estimate_of(part);
        const gate::Change allowed = gate::change_between(comparison, estimate, estimate);
        const double least_beyond = (one_count ? gate::times_the_claim : margin) * allowed.allowed;
        return estimate == 0 || fraction * std::fabs(estimate) > least_beyond;
    }

    /// The rounds of a run that measures flagged times to the end.
    static std::vector<std::size_t> usual_rounds(bool counts) {
        return counts ? std::vector<std::size_t>{1} : all_rounds();
    }

    static void change_clock(const Plant& plant, double factor, model::CaseResult& result) {
        for (auto& [metric, series] : result.metrics) {
            if (metric == cycles) {
                multiply(factor, series);
            } else if (const auto clock = known_clock_mhz(series)) {
                set_clock(plant.move == Move::hidden ? *clock * factor : *clock / factor, series);
            }
        }
    }

    double fraction_of(const Plant& plant, const Key& key, const GateRule& rule) const {
        if (!plant.twice_the_claim) return plain;
        const auto claim = claims_.find(key);
        if (claim != claims_.end() && claim->second) return gate::times_the_claim * *claim->second;
        return std::max(gate::times_the_claim * rule.tolerance.worse, least);
    }

    model::Policy policy_;
    model::Run frame_;
    gate::BaselineSet before_, after_;
    std::vector<Tried> tried_;
    std::vector<std::string> boards_;
    Claims claims_;  ///< on the board that is tried
    std::map<Place, Weakened> found_;
};

}  // namespace

std::set<std::string> boards_of(const BaselineCase& expected) {
    std::set<std::string> boards;
    for (const auto& [name, series] : expected.metrics) {
        for (const model::Batch& batch : series.batches) boards.insert(batch.device);
    }
    if (!expected.provenance.board.empty()) boards.insert(expected.provenance.board);
    return boards;
}

std::vector<std::string> boards_of(const model::Baseline& before, const model::Baseline& after) {
    std::set<std::string> of_before, of_after;
    for (const auto& [id, expected] : before.cases) of_before.merge(boards_of(expected));
    for (const auto& [id, expected] : after.cases) of_after.merge(boards_of(expected));
    std::vector<std::string> boards(of_before.begin(), of_before.end());
    std::set_difference(of_after.begin(), of_after.end(), of_before.begin(), of_before.end(),
                        std::back_inserter(boards));
    return boards;
}

std::map<Place, Weakened> weakened(const model::Baseline& before, const model::Baseline& after,
                                   const std::map<std::string, CaseGates>& gates,
                                   const std::map<std::string, CaseGates>& later_gates) {
    return Planting(before, after, gates, later_gates).all();
}

}  // namespace perfgate::review
