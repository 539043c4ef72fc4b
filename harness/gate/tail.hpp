// SPDX-License-Identifier: Apache-2.0
// The slow end of a time's samples, which the time's value leaves out: the mean of each process's
// slowest tenth, judged by the run's rule at a tolerance of its own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gate/rule.hpp"
#include "model/metric.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// The tolerance of a time's tail: what the suite says, or twice the time's.
double tail_tolerance(const model::Tolerance& tolerance);

struct TailJudgement {
    Judgement judgement;
    /// Absent where the means of all samples were judged: the run's processes have a slowest tenth,
    /// which is no part of their values, and the baseline's have none.
    std::optional<model::TailVerdict> verdict;

    /// Slower by more than its tolerance, and not by chance.
    bool is_beyond() const {
        return judgement.verdict == model::Verdict::regressed || judgement.beyond_spread;
    }
    /// Whether a report says it of a time that passed.
    bool is_worth_saying() const { return is_beyond() || (verdict && verdict->max); }
};

/// One of each comparison: absent for what is no time, or has too few samples. All tails of a run
/// share one budget, beside that of the times.
std::vector<std::optional<TailJudgement>> judge_tails(std::span<const Comparison> comparisons,
                                                      const Rule& rule);

/// "slowest tenth 1.02 ms → 9.8 ms (+861 %, tolerance 10 %), 9.7 % of the samples beyond 1.5 times
/// the baseline's p99", with p95, p99 and max where there are enough samples. Without a verdict, of
/// the means of all samples.
std::string tail_words(const TailJudgement& tail, const std::string& unit);

}  // namespace perfgate::gate
