// SPDX-License-Identifier: Apache-2.0
// What accepting whole runs (refresh.hpp) and single changes (accept.hpp) share: who and why, which
// cases are fit to be a reference, and the guard against creep.
//
// Creep is many small regressions, each accepted for a reason, that would not have been accepted as
// one. Therefore accepted changes of a gated metric add up against its anchor: the value before the
// first of them. A value that is better by more than the tolerance becomes the new anchor. The
// first change is a decision about what a report shows, so `accept` takes it whatever its size; the
// next ones count together with it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::baseline {

/// Who accepts, why, and how. Empty: not given.
struct Acceptance {
    std::string accepted_by;
    std::string reason;
    std::string at = {};                            ///< UTC, now
    double creep_bound = model::usual_creep_bound;  ///< a fraction of the anchor
    bool reset_anchors = false;                     ///< changed values become their own anchors
    bool add_board = false;   ///< the run's times join those of the baseline's other boards
    bool stored_run = false;  ///< it was not measured as a baseline, and may have few processes
    /// The last day of an acknowledgement is at most this many days ahead.
    std::int64_t acknowledgement_days = model::Policy{}.acknowledgement_days;
};

/// Why a case's values are not fit to be a reference, in one clause; empty: they are.
std::string objection(const model::Run& run, const model::CaseResult& result);

/// Throws InputError for a run that only verified, or that was interrupted.
void require_finished(const model::Run& run);

/// The case with the run's provenance, code and tags: of its kernels what must be the same again.
/// Times and counts of one launch are in the metrics. Kernels of programs keep their times, because
/// metrics have none for each kernel.
model::BaselineCase with_code_of(const model::Run& run, const model::CaseResult& result,
                                 const Acceptance& acceptance, model::BaselineCase expected);

/// An entry of the ledger, of a case or of a whole suite.
model::LedgerEntry ledger_entry(model::LedgerAction action, const std::string& id,
                                const Acceptance& acceptance);
/// The same, of values of this run.
model::LedgerEntry ledger_entry(model::LedgerAction action, const std::string& id,
                                const Acceptance& acceptance, const model::Run& run);

/// The anchors of a case's gated metrics when `after` replaces `before`. Values with another unit
/// or method cannot be added up and become anchors themselves.
std::map<std::string, double> moved_anchors(const model::Run& run, const model::CaseResult& result,
                                            const model::BaselineCase& before,
                                            const std::map<std::string, model::MetricSeries>& after,
                                            bool reset);

/// What the first change since the anchor is: one that is worse by more than the tolerance.
enum class FirstChange {
    decided,  ///< somebody accepted just this change: it may be larger than the bound
    counts,   ///< one of many values that a whole run replaces
};

/// A sentence for each gated metric that gets worse, and worse than its anchor by more than `bound`
/// (at least the metric's tolerance). `after` has the anchors of moved_anchors().
std::vector<std::string> creeping(const model::Run& run, const model::CaseResult& result,
                                  const model::BaselineCase& before,
                                  const model::BaselineCase& after, FirstChange first,
                                  double bound);

/// Throws InputError with `head` and a line for each of `problems` (at most the first few), if
/// there are any.
void refuse_if_any(const std::string& head, const std::vector<std::string>& problems);

}  // namespace perfgate::baseline
