// SPDX-License-Identifier: Apache-2.0
// Accepting a Run as what is expected from now on. Makes baselines from runs; reads and writes no
// file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "baseline/acceptance.hpp"
#include "model/baseline.hpp"
#include "model/ledger.hpp"
#include "model/run.hpp"

namespace perfgate::baseline {

/// The new baseline, and what became of each case (by id).
struct Refreshed {
    model::Baseline baseline;
    std::vector<std::string> accepted;   ///< new, or with new values
    std::vector<std::string> unchanged;  ///< measured again with the same result
    std::vector<std::string> kept;       ///< not measured now: stay as they were
    std::vector<std::string> removed;    ///< no longer in the suite
    std::size_t acknowledged = 0;  ///< metrics that keep what was expected until their day is over
    std::optional<model::LedgerEntry> entry = std::nullopt;  ///< absent: nothing changed
};

/// The baseline of one suite of a run. Measured cases replace those of `existing`; skipped ones,
/// and in a partial suite all that were not selected, stay as they were; cases that a whole suite
/// no longer has are removed. Where a case's metrics, board and tools are what they were, and
/// neither a name nor a reason is new, it is left alone to the byte.
///
/// Throws InputError, naming the cases, where one is incorrect, failed or incomplete, and for an
/// interrupted run or one that measured nothing: half a truth is not to be compared with; and
/// where accepted changes add up beyond the bound.
Refreshed refresh(const model::Run& run, const model::SuiteResult& suite,
                  const std::optional<model::Baseline>& existing, const Acceptance& acceptance);

}  // namespace perfgate::baseline
