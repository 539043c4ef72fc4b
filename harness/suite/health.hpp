// SPDX-License-Identifier: Apache-2.0
// The health set: what an NVTX range that is repeated, such as a training step, should keep to
// whatever it computes. Each gate is an expectation with a reason; the rows are data (health.cpp).
#pragma once

#include <string_view>
#include <vector>

#include "suite/relations.hpp"

namespace perfgate::suite {

/// The expectations of `range` ("train/step"). `limits` maps names of gates to other limits or to
/// `none`; null: there are none.
std::vector<StatedRelation> health_of(std::string_view range, const YamlNode* limits, Position at,
                                      Problems& problems);

}  // namespace perfgate::suite
