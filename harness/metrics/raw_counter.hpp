// SPDX-License-Identifier: Apache-2.0
// Metrics under CUPTI's own names of counters: what a name says of the unit and the fold.
#pragma once

#include <optional>
#include <string_view>

#include "model/metric.hpp"

namespace perfgate::metrics {

/// Nothing for a name that is no counter's: "dram__bytes.sum" is a unit and a quantity joined by
/// "__", then a rollup after a '.'.
std::optional<model::MetricDefinition> raw_counter(std::string_view name);

}  // namespace perfgate::metrics
