// SPDX-License-Identifier: Apache-2.0
// How the results are read that a benchmark writes, as its suite states it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/metric.hpp"

namespace perfgate::benchmark {

/// A number that a benchmark writes, as a metric.
struct Value {
    /// Where it is: a counter's name, a column of CSV, or a path below a row of JSON.
    std::string from;
    double factor = 1;  ///< from the unit of the file to that of the definition
    model::MetricDefinition definition;

    bool operator==(const Value&) const = default;
};

/// How the results are read that a benchmark writes. Paths and columns are of the formats that have
/// no names of their own (csv, json).
struct Layout {
    std::string format;                                     ///< of formats.hpp
    std::string rows;                                       ///< path to the rows: one result each
    std::string name;                                       ///< of the result
    std::vector<std::pair<std::string, std::string>> axes;  ///< parameter, and where it is
    std::vector<Value> values;

    bool operator==(const Layout&) const = default;
};

}  // namespace perfgate::benchmark
