// SPDX-License-Identifier: Apache-2.0
// The parameters of a workload that is the suite's own, a program or a source: those that the
// entry's `matrix` names.
#pragma once

#include <functional>
#include <vector>

#include "model/catalogue.hpp"
#include "suite/fields.hpp"

namespace perfgate::suite {

/// With the types that their first values have. `leaves_out(key, rule)` is asked about each name,
/// with `rule` of an `include` or `exclude`; true: it is no parameter, or a problem that has been
/// reported.
std::vector<model::ParamInfo> parameters_of(
    const YamlNode& matrix, const std::function<bool(const YamlNode& key, bool rule)>& leaves_out,
    Problems& problems);

}  // namespace perfgate::suite
