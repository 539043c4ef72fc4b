// SPDX-License-Identifier: Apache-2.0
// Accepting single changes of a judged Run: the least edit of its baselines. Reads and writes no
// file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "baseline/acceptance.hpp"
#include "gate/baseline_set.hpp"
#include "gate/rule.hpp"
#include "model/ledger.hpp"

namespace perfgate::baseline {

struct AcceptChoice {
    std::vector<std::string> cases;  ///< globs on ids; none: all cases
    /// Not to accept but to acknowledge: the last day on which the regressions are let pass.
    std::string until = {};
};

/// What becomes of a suite's baseline.
struct Accepted {
    model::Baseline baseline;
    std::vector<model::LedgerEntry>
        entries;                ///< one for each case that changes; none: nothing does
    std::size_t unchanged = 0;  ///< chosen cases of which there is nothing to accept
    std::size_t skipped = 0;    ///< chosen cases that the run skipped
};

/// One for each suite of the run. `document` is what judge() makes of the run and `baselines`.
///
/// Of a chosen case that regressed, improved or is new to the baseline, those gated metrics are
/// replaced whose change counts, and those that are not gated where `rule` tells them from the old
/// ones without any tolerance. Where board, driver or tools are others than the case's, all of its
/// metrics are replaced: they share one provenance. Everything else stays to the byte.
///
/// With `until`, what is expected stays: the chosen cases' regressed metrics are acknowledged with
/// what they measured.
///
/// Throws InputError naming every chosen case that is incorrect, failed, incomplete, invalid or
/// inconclusive, or that crept beyond the bound; for a glob that matches nothing, a day that is
/// over, and a run that require_finished() refuses.
std::vector<Accepted> accept(const model::Run& run, const model::VerdictDocument& document,
                             const gate::BaselineSet& baselines, const AcceptChoice& choice,
                             const Acceptance& acceptance, const gate::Rule& rule);

}  // namespace perfgate::baseline
