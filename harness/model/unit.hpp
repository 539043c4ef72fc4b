// SPDX-License-Identifier: Apache-2.0
// Units as people and programs write them, and the metric's unit that each is a multiple of.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace perfgate::model {

/// A row of the table of units: how many of a metric's unit.
struct Unit {
    std::string_view suffix;
    std::string_view base;  ///< a metric's unit
    double factor;
};

std::span<const Unit> units();

/// Null: the table has no such unit.
const Unit* find_unit(std::string_view suffix);

/// The unit of a number that a program reports.
struct ReportedUnit {
    std::string base;  ///< a metric's unit
    double factor = 1;

    bool operator==(const ReportedUnit&) const = default;
};

/// A unit of the table, or any other rate (NAME/s), which is its own base. Programs also write
/// "µs", "usecond" and "Mbyte/second". Nothing: it is neither.
std::optional<ReportedUnit> reported_unit(std::string_view text);

/// The units that `base` converts from, for messages: "ns, us, ms, s".
std::string units_for(std::string_view base);

}  // namespace perfgate::model
