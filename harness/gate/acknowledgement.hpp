// SPDX-License-Identifier: Apache-2.0
// Regressions that were acknowledged until a date. They do not fail a run that began on or before
// that day (UTC), unless they got worse.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gate/rule.hpp"
#include "model/baseline.hpp"

namespace perfgate::gate {

/// A comparison that may be a regression, and its acknowledgement.
struct AcknowledgedComparison {
    const Comparison* comparison = nullptr;
    const model::Acknowledgement* acknowledgement = nullptr;
};

struct Acknowledged {
    bool holds = false;
    std::string words;           ///< the explanation, in one clause
    std::string ends_soon = {};  ///< a warning if it ends within days
};

/// One answer for each comparison, in order. `started_at` is the run's. A comparison is covered if
/// it is no worse than the acknowledged values by its tolerance and `rule`, and if the last day of
/// the acknowledgement is at most `most_days` ahead.
std::vector<Acknowledged> acknowledged(std::span<const AcknowledgedComparison> comparisons,
                                       const Rule& rule, const std::string& started_at,
                                       std::int64_t most_days);

}  // namespace perfgate::gate
