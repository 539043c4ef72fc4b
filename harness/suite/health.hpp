// SPDX-License-Identifier: Apache-2.0
// The health set: what an NVTX range that is repeated, such as a training step, should keep to
// whatever it computes. Each gate is an expectation with a reason; the rows are data (health.cpp).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "suite/relations.hpp"

namespace perfgate::suite {

struct HealthGate {
    std::string_view name;        ///< as in `health: {step: {NAME: LIMIT}}`
    std::string_view left;        ///< an expression, "{0}" for the range
    std::string_view comparator;  ///< with the limit, what is expected
    std::string_view limit;       ///< if the suite states none
    std::string_view unit;        ///< of limits: a metric's
    std::string_view reason;
};

std::span<const HealthGate> health_gates();

/// The expectations of `range` ("train/step"). `limits` maps names of gates to other limits or to
/// `none`; null: there are none.
std::vector<StatedRelation> health_of(std::string_view range, const YamlNode* limits, Position at,
                                      Problems& problems);

}  // namespace perfgate::suite
