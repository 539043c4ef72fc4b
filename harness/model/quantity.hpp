// SPDX-License-Identifier: Apache-2.0
// Values with their unit, for people: sentences, tables and annotations. Documents keep plain
// numbers (text.hpp's number_text).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perfgate::model {

/// Four significant digits, scaled to what the unit is usually read in: "12.34 µs", "1.500 GiB",
/// "3.270 TB/s", "1.755 GHz", "45.20 %". Whole counts keep every digit, because a change of one
/// matters. An unknown unit is appended unchanged, made printable.
std::string quantity_text(double value, std::string_view unit);

/// The same for two values that a reader compares: if rounding would make different values look the
/// same, both get enough digits to distinguish them, if necessary all.
struct QuantityTexts {
    std::string before, after;
};
QuantityTexts quantity_texts(double before, double after, std::string_view unit);

/// A fraction as a signed percentage: "+10.2 %", "-0.4 %"; a small one keeps a digit ("+0.003 %").
std::string change_text(double fraction);

/// How a value moved: "+10.2 %", and of a share in points, "-12.5 points". Empty if there is no
/// fraction, because `before` is 0.
std::string moved_text(double before, double after, std::string_view unit);

/// "12.5 %", or "-" if absent.
std::string share_text(std::uint64_t part, std::uint64_t whole);

/// "-0.3 % to +1.1 %", of two fractions.
std::string interval_text(double low, double high);

/// The largest minimum detectable change that is shown: above it a number says no more than that
/// the spread is too large.
inline constexpr double most_detected = 10;

/// "≥ 4.8 %", of a minimum detectable change (a fraction). To two digits, because it is an
/// estimate, and never below it: the text must not claim a better one.
std::string detected_text(double minimum_detectable_change);

/// (after - before) / |before|, or nothing where that is no number (`before` is 0).
std::optional<double> change_fraction(double before, double after);

}  // namespace perfgate::model
