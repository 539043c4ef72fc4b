// SPDX-License-Identifier: Apache-2.0
// What accepting measured values takes, whole runs (refresh.hpp) or single changes (accept.hpp):
// who and why, which cases are fit for it, and the guard against creep.
//
// Creep is many small regressions, each accepted for a reason, that nobody would have accepted as
// one. So accepted changes of a gated metric add up against its anchor: the value from before the
// first of them. A better value, beyond the tolerance, is the anchor from then on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::baseline {

/// How far accepted changes may add up, as a fraction of the anchor.
inline constexpr double usual_creep_bound = 0.1;

/// Who accepts, why, and how. Empty: not told.
struct Acceptance {
    std::string accepted_by;
    std::string reason;
    std::string at = {};  ///< UTC, now
    double creep_bound = usual_creep_bound;
    bool reset_anchors = false;  ///< what changes now is its own anchor
    /// The last day of an acknowledgement is at most so many days ahead.
    std::int64_t acknowledgement_days = model::Policy{}.acknowledgement_days;
};

/// Why a case's values are no truth to compare with, in one clause; empty: they are.
std::string objection(const model::Run& run, const model::CaseResult& result);

/// Throws InputError for a run that only verified, or did not come to its end.
void require_finished(const model::Run& run);

model::Provenance provenance_of(const model::Run& run, const model::CaseResult& result,
                                const Acceptance& acceptance);

/// What has to be the same again of a case's kernels; what one launch took and counted is in the
/// metrics. Kernels of programs keep their times: metrics have none for each kernel.
std::vector<model::Kernel> as_expected(std::vector<model::Kernel> kernels);

/// The anchors of a case's gated metrics where `after` comes in place of `before`. Values of
/// another unit or method have nothing to add up with and are anchors themselves.
std::map<std::string, double> moved_anchors(const model::Run& run, const model::CaseResult& result,
                                            const model::BaselineCase& before,
                                            const std::map<std::string, model::MetricSeries>& after,
                                            bool reset);

/// A sentence for each metric that is worse than its anchor by more than `bound`. What the metric's
/// tolerance lets pass is no creep.
std::vector<std::string> creeping(const model::Run& run, const model::CaseResult& result,
                                  const model::BaselineCase& accepted, double bound);

/// Throws InputError with `head`, and a line for each of `problems` where there are any; of very
/// many the first.
void refuse_if_any(const std::string& head, const std::vector<std::string>& problems);

}  // namespace perfgate::baseline
