// SPDX-License-Identifier: Apache-2.0
// The gate's suspects as what the coordinator measures again.
#pragma once

#include <vector>

#include "gate/suspects.hpp"
#include "measure/coordinator.hpp"

namespace perfgate::cli {

/// As gate::suspects.
inline std::vector<measure::Suspicion> suspicions(const model::Run& run,
                                                  const gate::BaselineSet& baselines,
                                                  const model::Policy& policy,
                                                  const gate::Rule& rule) {
    std::vector<measure::Suspicion> found;
    for (const gate::Suspect& suspect : gate::suspects(run, baselines, policy, rule))
        found.push_back({suspect.suite, suspect.index});
    return found;
}

}  // namespace perfgate::cli
