// SPDX-License-Identifier: Apache-2.0
// Removes from a baseline the cases that its suite no longer has. Reads and writes no files.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "baseline/acceptance.hpp"
#include "model/baseline.hpp"
#include "model/ledger.hpp"

namespace perfgate::baseline {

struct Pruned {
    model::Baseline baseline;
    std::vector<model::LedgerEntry> entries;  ///< one for each removed case
};

/// `ids` are those of all the suite's cases, for every target.
Pruned prune(model::Baseline baseline, const std::set<std::string>& ids,
             const Acceptance& acceptance);

}  // namespace perfgate::baseline
