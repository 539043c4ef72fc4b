// SPDX-License-Identifier: Apache-2.0
// Regressions that somebody has acknowledged until a day: let pass through that day (of UTC, when
// the run began), and no worse than what was known then.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gate/rule.hpp"
#include "model/baseline.hpp"

namespace perfgate::gate {

/// A comparison that went badly, or may have, and its acknowledgement.
struct AcknowledgedComparison {
    const Comparison* comparison = nullptr;
    const model::Acknowledgement* acknowledgement = nullptr;
};

struct Acknowledged {
    bool holds = false;
    std::string words;           ///< what to say of it, in one clause
    std::string ends_soon = {};  ///< a warning where it ends within days
};

/// One answer for each comparison, in order. `started_at` is the run's. What is no worse than the
/// known values by the comparison's tolerance and `rule` is covered; not so by an acknowledgement
/// whose last day is more than `most_days` ahead.
std::vector<Acknowledged> acknowledged(std::span<const AcknowledgedComparison> comparisons,
                                       const Rule& rule, const std::string& started_at,
                                       std::int64_t most_days);

}  // namespace perfgate::gate
