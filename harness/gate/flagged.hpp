// SPDX-License-Identifier: Apache-2.0
// Which cases of a run the gate flags, so that they are measured again in fresh processes before
// anything is reported. The verdict then uses only the new batches: the flagged ones were selected
// for being slow.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gate/baseline_set.hpp"
#include "gate/rule.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

struct FlaggedCase {
    std::size_t suite = 0;  ///< index into Run::suites
    std::size_t index = 0;  ///< of the case in that suite
    std::string why;        ///< the sentence of the metric that is flagged

    bool operator==(const FlaggedCase&) const = default;
};

/// The cases to measure again, in the run's order; none where `policy.rounds` are done, and none in
/// a run that was interrupted. What is measured for them joins the run as batches of the next round
/// (model::Batch::round); then ask again. Throws as judge() does.
std::vector<FlaggedCase> flagged(const model::Run& run, const BaselineSet& baselines,
                                 const model::Policy& policy, const Rule& rule);

}  // namespace perfgate::gate
