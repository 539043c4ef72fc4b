// SPDX-License-Identifier: Apache-2.0
#include "baseline/prune.hpp"

#include <utility>

namespace perfgate::baseline {

Pruned prune(model::Baseline baseline, const std::set<std::string>& ids,
             const Acceptance& acceptance) {
    Pruned pruned;
    for (const auto& [id, expected] : baseline.cases) {
        if (ids.contains(id)) continue;
        model::LedgerEntry entry;
        entry.id = id;
        entry.at = acceptance.at;
        entry.action = model::LedgerAction::prune;
        entry.by = acceptance.accepted_by;
        entry.reason = acceptance.reason;
        pruned.entries.push_back(std::move(entry));
    }
    for (const model::LedgerEntry& entry : pruned.entries) baseline.cases.erase(entry.id);
    pruned.baseline = std::move(baseline);
    return pruned;
}

}  // namespace perfgate::baseline
