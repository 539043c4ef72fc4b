// SPDX-License-Identifier: Apache-2.0
// Proves from documents that every relation of a run can be broken. One that compares a metric with
// itself, or a share with 100 %, holds whatever is measured, and guards nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gate/baseline_set.hpp"
#include "model/run.hpp"

namespace perfgate::gate {

struct RelationProof {
    std::size_t relations = 0;          ///< that hold and were tried; each of its instances counts
    std::vector<std::string> problems;  ///< a sentence each
};

/// Each metric of a relation that holds is moved alone, from zero to many orders of magnitude more;
/// shares stay between 0 and 100 %. Some value must break the relation; of the hottest kernel, some
/// other kernel in its place. The values of cases that --changed-only left out are the baseline's.
RelationProof prove_relations(const model::Run& run, const BaselineSet& baselines = {});

}  // namespace perfgate::gate
