// SPDX-License-Identifier: Apache-2.0
// Taking out of a baseline the cases that its suite no longer has. Reads and writes no file.
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
    std::vector<model::LedgerEntry> entries;  ///< one for each case that was taken out
};

/// `ids` are of all the suite's cases, of every target.
Pruned prune(model::Baseline baseline, const std::set<std::string>& ids,
             const Acceptance& acceptance);

}  // namespace perfgate::baseline
