// SPDX-License-Identifier: Apache-2.0
// Numbers with units as suites write them: "3%", "0.5us", "2 MiB", 0.03.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/fields.hpp"

namespace perfgate::suite {

/// What was written: a number and the unit behind it. A fraction is told from an amount by its
/// unit: "%" or none.
struct Amount {
    double value = 0;       ///< finite, zero or more
    std::string_view unit;  ///< of the table in amount.cpp; empty: none was written
};

/// A row of the table of units: so many of a metric's unit.
struct AmountUnit {
    std::string_view suffix;
    std::string_view base;  ///< a metric's unit
    double factor;
};

/// What exceeds a hundred times is no share of anything.
inline constexpr double most_percent = 10'000;

/// "3%" or "0.03" of the command line: from 0 to 1, or a percentage up to `most_percent`.
std::optional<double> fraction_of(std::string_view text);

/// The number at the start of `text`, as YAML writes one but without sign; it is cut off.
std::optional<double> take_number(std::string_view& text);

/// The longest unit at the start of `text` that no letter or digit follows; it is cut off.
std::optional<AmountUnit> take_unit(std::string_view& text);

/// What take_unit knows, for messages.
std::vector<std::string> unit_names();

/// Nothing (and a problem) for what is no number, negative, infinite, NaN or has an unknown unit.
std::optional<Amount> read_amount(const YamlNode& node, std::string_view what, Problems& problems);

/// `amount` in `unit` (a metric's: "ns", "bytes", …); a number without unit is in it already.
/// Nothing where the units measure different things.
std::optional<double> in_unit(const Amount& amount, std::string_view unit);

/// "3%" or 0.03, up to `most_percent`. A plain number above 1 is refused: `registers: 2` does not
/// mean 200 %.
std::optional<double> read_fraction(const YamlNode& node, std::string_view what,
                                    Problems& problems);

/// The units that `unit` converts from, for messages: "ns, us, ms, s".
std::string units_for(std::string_view unit);

}  // namespace perfgate::suite
