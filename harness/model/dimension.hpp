// SPDX-License-Identifier: Apache-2.0
// What units measure, so that arithmetic over metrics can be checked: times are not compared with
// bytes, and bytes over a time are a bandwidth.
#pragma once

#include <string>
#include <string_view>

namespace perfgate::model {

/// Powers of seconds, bytes and arithmetic operations. All 0: a plain number.
struct Dimension {
    int seconds = 0, bytes = 0, flops = 0;

    bool operator==(const Dimension&) const = default;
};

Dimension operator*(const Dimension& left, const Dimension& right);
Dimension operator/(const Dimension& left, const Dimension& right);

/// A metric's unit: `value * scale` is in seconds, bytes and operations.
struct UnitMeaning {
    Dimension dimension;
    double scale = 1;
};

/// Counts, ratios, registers and units that are not known are plain numbers; "%" is a hundredth.
UnitMeaning meaning_of(std::string_view unit);

/// The unit that values of this dimension are told in: "ns", "bytes/s", "" for plain numbers; what
/// no metric has is spelled out, "s^2*bytes".
std::string unit_of(const Dimension& dimension);

/// "a time", "bytes per time", "a plain number": for messages.
std::string in_words(const Dimension& dimension);

}  // namespace perfgate::model
