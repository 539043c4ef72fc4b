// SPDX-License-Identifier: Apache-2.0
// Matrix expansion as in GitHub Actions, on plain values, for one variant and cache state of a
// workload entry at a time.
//
// The product of all axes, the first varying slowest; then `exclude`; then `include`, in order. An
// axis item sets one parameter or several (sizes that are tied to each other). An exclude removes
// every combination that has all of its values. An include is added to every original combination
// whose axis values it does not change (values added by earlier includes may change). If there is
// none, it becomes a combination of its own, to which later includes are not added.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "suite/fields.hpp"
#include "suite/problems.hpp"

namespace perfgate::suite {

struct Axis {
    std::string name;
    std::vector<model::Params> items;
};

/// An item of `include` or `exclude`. It may apply to only one variant or cache state.
struct MatrixRule {
    model::Params params;
    Position at;
    std::optional<std::string> variant;
    std::optional<model::Cache> cache;
};

struct Matrix {
    std::vector<Axis> axes;  ///< two axes never set the same parameter
    std::vector<MatrixRule> include, exclude;
};

struct Combination {
    model::Params params;
    const MatrixRule* made_by = nullptr;  ///< the include that made it; null for an original one
};

/// The number of combinations of the axes, before exclude and include; at most `limit` + 1.
std::size_t product_size(const Matrix& matrix, std::size_t limit);

/// Without axes and includes: one combination without parameters. `used_excludes` has one entry per
/// exclude and set to true if that removed something.
std::vector<Combination> expand(const Matrix& matrix, std::string_view variant, model::Cache cache,
                                std::vector<bool>& used_excludes);

// The parameters of a workload that is the suite's own, a program or a source: those that the
// entry's `matrix` names.

/// With the types that their first values have. `leaves_out(key, rule)` is asked about each name,
/// with `rule` of an `include` or `exclude`; true: it is no parameter, or a problem that has been
/// reported.
std::vector<model::ParamInfo> parameters_of(
    const YamlNode& matrix, const std::function<bool(const YamlNode& key, bool rule)>& leaves_out,
    Problems& problems);

}  // namespace perfgate::suite
