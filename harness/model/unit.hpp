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

// What units measure, so that comparisons can be checked: times cannot be compared with
// bytes, and bytes divided by a time are a bandwidth.

/// Powers of seconds, bytes, arithmetic operations and joules. All 0: a plain number.
struct Dimension {
    int seconds = 0, bytes = 0, flops = 0, joules = 0;

    bool operator==(const Dimension&) const = default;
};

Dimension operator/(const Dimension& left, const Dimension& right);

/// A metric's unit: `value * scale` is in seconds, bytes, operations and joules.
struct UnitMeaning {
    Dimension dimension;
    double scale = 1;
};

/// Counts, ratios, registers and unknown units are plain numbers; "%" is a hundredth.
UnitMeaning meaning_of(std::string_view unit);

/// The unit that values of this dimension are reported in: "ns", "bytes/s", "" for plain numbers; a
/// dimension that no metric has is spelled out, "s*bytes^-1".
std::string unit_of(const Dimension& dimension);

/// "a time", "bytes per time", "a plain number": for messages.
std::string in_words(const Dimension& dimension);

}  // namespace perfgate::model
