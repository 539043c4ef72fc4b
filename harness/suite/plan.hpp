// SPDX-License-Identifier: Apache-2.0
// Suite to Plan: which of a suite's cases are to be measured on one device, and with what settings.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/plan.hpp"
#include "suite/suite.hpp"

namespace perfgate::suite {

struct PlanOptions {
    /// Cases of this target and programs alone; nothing: all (to list them).
    std::optional<model::Target> target;
    /// Chooses the overrides that name a device; empty: those do not hold.
    std::string device_key;
    /// "9.0"; cases that need more are skipped. Empty (a host): none is.
    std::string compute_capability;
    std::vector<std::string>
        filters;                    ///< globs on the case id; a case that any matches is selected
    std::vector<std::string> tags;  ///< a case that has any of them is selected
};

/// Where the cases of a suite went. Filters and tags are asked of the target's cases only.
struct PlanCounts {
    std::size_t total = 0;
    std::size_t other_target = 0;
    std::size_t not_matched = 0;  ///< by any filter, or lacking every tag
    std::size_t planned = 0;      ///< cases that are skipped included
    std::size_t skipped = 0;      ///< planned, with a reason why they will not run
};

struct SuitePlan {
    model::PlannedSuite suite;
    PlanCounts counts;
};

/// The suite is `partial` where filters or tags left cases out. That a case is of the other target
/// does not make it partial: baselines belong to a device, and a device has cases of one target.
/// Throws model::InputError where an override of this device leaves a case without a gate, or gates
/// what is not collected.
SuitePlan plan_suite(const Suite& suite, const PlanOptions& options);

/// Throws model::InputError where no case is left, saying how many there were and where they went,
/// and where a filter or a tag selects nothing in any suite.
model::Plan plan_suites(const std::vector<Suite>& suites, const PlanOptions& options);

}  // namespace perfgate::suite
