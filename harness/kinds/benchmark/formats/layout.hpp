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
    /// Where it is: a counter's name, a column of CSV, a path below a row of JSON, or a group of a
    /// pattern.
    std::string from;
    double factor = 1;  ///< from the unit of the file to that of the definition
    model::MetricDefinition definition;
    std::string unit_from = {};  ///< where each row has its unit; empty: `factor` says it
    /// Only rows that have these texts at these places have the value.
    std::vector<std::pair<std::string, std::string>> where = {};

    bool operator==(const Value&) const = default;
};

/// How the results are read that a benchmark writes. Columns, paths and groups are of the formats
/// that have no names of their own (csv, json, jsonl, text).
struct Layout {
    std::string format;                                     ///< of formats.hpp
    std::string rows;                                       ///< path or pattern of the rows
    std::string name;                                       ///< of the result
    std::vector<std::pair<std::string, std::string>> axes;  ///< parameter, and where it is
    std::vector<Value> values;
    /// What differs between the rows of one result and is no part of its name.
    std::vector<std::string> samples = {};

    bool operator==(const Layout&) const = default;
};

}  // namespace perfgate::benchmark
