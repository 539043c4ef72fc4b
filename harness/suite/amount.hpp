// SPDX-License-Identifier: Apache-2.0
// Numbers with units as suites write them: "3%", "0.5us", "2 MiB", 0.03.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/unit.hpp"
#include "suite/fields.hpp"

namespace perfgate::suite {

/// A number and its unit, as written. A unit of "%" or none makes it a fraction.
struct Amount {
    double value = 0;       ///< finite, zero or more
    std::string_view unit;  ///< of the table in model/unit.cpp; empty: none was written
};

using AmountUnit = model::Unit;
using model::units_for;

/// More than a hundred times is not plausible as a share.
inline constexpr double most_percent = 10'000;

/// A percentage up to `most_percent`, or a plain number below 1. Nothing else is a fraction:
/// `registers: 1` does not mean 100 %.
std::optional<double> fraction_in(const Amount& amount);

/// "3%" or "0.03" of the command line, as fraction_in().
std::optional<double> fraction_of(std::string_view text);

/// The number at the start of `text`, in YAML's syntax but without a sign; it is removed from
/// `text`.
std::optional<double> take_number(std::string_view& text);

/// The longest unit at the start of `text` that is not followed by a letter or digit; it is removed
/// from `text`.
std::optional<AmountUnit> take_unit(std::string_view& text);

/// The units that take_unit knows, for messages.
std::vector<std::string> unit_names();

/// Nothing (and a problem) if it is not a number, is negative, infinite or NaN, or has an unknown
/// unit.
std::optional<Amount> read_amount(const YamlNode& node, std::string_view what, Problems& problems);

/// `amount` in `unit` (a metric's: "ns", "bytes", …); a number without a unit is already in it.
/// Nothing if the units measure different quantities.
std::optional<double> in_unit(const Amount& amount, std::string_view unit);

/// "3%" or 0.03, as fraction_in().
std::optional<double> read_fraction(const YamlNode& node, std::string_view what,
                                    Problems& problems);

/// For messages: "a percentage (3%)", with the number that was written without a unit.
std::string example_percentage(const Amount& amount);

}  // namespace perfgate::suite
