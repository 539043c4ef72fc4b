// SPDX-License-Identifier: Apache-2.0
// The verdict of a case as far as no rule decides it: its status, its notes, what cannot be
// compared, and the comparisons that the rule is to judge.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "gate/baseline_set.hpp"
#include "gate/machine_code.hpp"
#include "gate/rule.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// A measured case, and what its baseline has of it.
struct ComparedCase {
    model::CaseIndex at;
    const model::CaseResult* result = nullptr;
    const model::BaselineCase* expected = nullptr;  ///< null: the baseline lacks it
    const StoredBaseline* stored = nullptr;         ///< that has it; null: there is none
    CodeComparison code;
};

/// A metric that the rule is to judge: both sides have it.
struct Pending {
    const ComparedCase* compared = nullptr;
    std::size_t metric = 0;  ///< index into the metrics of the case's verdict
    Comparison comparison;
    /// Why the pairs that were measured on the run's board do not decide; empty: they do, or there
    /// are none.
    std::string unsettled = {};
};

/// A time is compared with its own board's. For a board that the baseline does not have, what
/// boards differ by is allowed: as learned from the baseline's boards, up to the suite's limit
/// (`cross_board`), or, with too few boards, exactly that. The part of a baseline that the
/// comparison then points to is added to `parts`.
void consider_boards(const model::Run& run, const model::CaseResult& result,
                     const model::BaselineCase& expected, double cross_board,
                     std::deque<model::MetricSeries>& parts, Comparison& comparison);

/// The verdicts of the cases of one run. The pending metrics point into it, the run and the
/// baselines.
class CaseVerdicts {
  public:
    CaseVerdicts(const model::Run& run, const model::Policy& policy) : run_(run), policy_(policy) {}

    /// The verdict of a case of the run, by its indices; `stored` may be null. Throws InputError
    /// for a gated metric that the run does not define.
    model::CaseVerdict open(std::size_t suite, std::size_t index, const StoredBaseline* stored);

    /// In the order of the cases and their metrics.
    const std::vector<Pending>& pending() const { return pending_; }

  private:
    void begin(std::size_t suite, std::size_t index, const StoredBaseline* stored,
               model::CaseVerdict& verdict);
    void compare(const ComparedCase& compared, model::CaseVerdict& verdict);
    void add_metrics(const ComparedCase& compared, model::CaseVerdict& verdict);
    void add_gated(const ComparedCase& compared, const model::GateRule& gate,
                   model::CaseVerdict& verdict);

    const model::Run& run_;
    const model::Policy& policy_;
    std::deque<ComparedCase> cases_;
    std::deque<model::MetricSeries> of_boards_;  ///< parts of baselines that comparisons point to
    std::deque<model::MetricDefinition> both_ways_;  ///< likewise, of metrics that fail both ways
    std::vector<Pending> pending_;
};

}  // namespace perfgate::gate
