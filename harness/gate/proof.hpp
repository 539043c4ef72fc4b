// SPDX-License-Identifier: Apache-2.0
// Proves from documents that every gate of a run can fail, and only fails when it should: each
// gated metric is made worse, left as it is, and made better, and the gate judges each of these
// runs. A metric with the wrong direction, a tolerance of everything, or a baseline of too few
// processes passes for months without this. A relation that compares a metric with itself, or a
// share with 100 %, holds whatever is measured, and guards nothing. Pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/baseline_set.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// What is known of a metric besides the run: which way is better. Nothing for a metric that is not
/// known.
using KnownDirection = std::function<std::optional<model::Direction>(std::string_view metric)>;

struct Proof {
    std::size_t cases = 0, gates = 0;   ///< gates that were tried, and the cases they belong to
    std::size_t warning = 0;            ///< of these gates, those that only warn
    std::size_t without_baseline = 0;   ///< gates not tried: there is nothing to compare with
    std::size_t invalid = 0;            ///< gates not tried: run or baseline has no valid value
    std::size_t relations = 0;          ///< that were tried (relation_proof.cpp)
    std::vector<std::string> problems;  ///< a sentence each

    /// The result in one sentence, without the problems.
    std::string sentence() const;
};

/// For each metric that a measured case gates and its baseline has, by the run's level, a time
/// against those processes of the baseline that the gate compares the run's board with, and with
/// the drift that the gate learns from the whole suite:
/// - worse by twice what the gate claims to detect (without a claim: twice the tolerance), with
///   other machine code: `regressed`, exit code 1; a gate that only warns: `warned`, exit code 0.
///   Without a direction, either way.
/// - as the baseline: exit code 0.
/// - better by as much: never exit code 1.
/// What is acknowledged is made worse than that. And each relation that holds must be one that can
/// be broken.
Proof prove(const model::Run& run, const BaselineSet& baselines, const model::Policy& policy,
            const KnownDirection& known_direction);

struct RelationProof {
    std::size_t relations = 0;          ///< that hold and were tried; each of its instances counts
    std::vector<std::string> problems;  ///< a sentence each
};

/// Each metric of a relation that holds is moved alone, from zero to many orders of magnitude more;
/// shares stay between 0 and 100 %. Some value must break the relation; of the hottest kernel, some
/// other kernel in its place. The values of cases that --changed-only left out are the baseline's.
RelationProof prove_relations(const model::Run& run, const BaselineSet& baselines = {});

}  // namespace perfgate::gate
