// SPDX-License-Identifier: Apache-2.0
// Accepts single changes of a judged Run: the smallest edit of its baselines. Reads and writes no
// files.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "baseline/acceptance.hpp"
#include "gate/baseline_set.hpp"
#include "gate/rule.hpp"
#include "model/baseline.hpp"

namespace perfgate::baseline {

struct AcceptChoice {
    std::vector<std::string> cases;  ///< ids, or globs on them; none: all cases
    /// To acknowledge instead of accept: the last day on which the regressions do not fail a run.
    std::string until = {};
};

/// The new state of a suite's baseline.
struct Accepted {
    model::Baseline baseline;
    std::vector<model::LedgerEntry>
        entries;                ///< one for each case that changes; none: nothing does
    std::size_t unchanged = 0;  ///< chosen cases with nothing to accept
    std::size_t skipped = 0;    ///< chosen cases that the run skipped
};

/// One for each suite of the run. `document` is judge()'s result for the run and `baselines`.
///
/// For a chosen case that regressed, improved or is new to the baseline, this replaces the gated
/// metrics whose change counts, and the other metrics whose change is significant by `rule` with a
/// tolerance of zero. If board, driver or tools differ from those of the stored case, all of its
/// metrics are replaced, because they share one provenance. If the code differs, so are device
/// times that are not gated, because they would count as this code's. Everything else stays
/// identical to the byte.
///
/// A case that is missing in the run is removed if the choice has its id. An id selects its own
/// case alone.
///
/// With `until`, expected values stay: the chosen cases' regressed metrics are acknowledged with
/// their measured values.
///
/// Throws InputError naming every chosen case that is incorrect, failed, incomplete, invalid or
/// inconclusive, that has other code and keeps a device time which is not shown to be within its
/// tolerance, or whose accepted changes add up beyond the bound; for a glob that matches
/// nothing, a day in the past, and a run that require_finished() refuses.
std::vector<Accepted> accept(const model::Run& run, const model::VerdictDocument& document,
                             const gate::BaselineSet& baselines, const AcceptChoice& choice,
                             const Acceptance& acceptance, const gate::Rule& rule);

/// The ids of the run's cases that accept() would refuse, whether or not they changed; creep does
/// not count.
std::set<std::string> not_acceptable(const model::Run& run, const model::VerdictDocument& document,
                                     const gate::BaselineSet& baselines, const gate::Rule& rule);

}  // namespace perfgate::baseline
