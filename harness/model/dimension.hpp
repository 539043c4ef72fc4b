// SPDX-License-Identifier: Apache-2.0
// What units measure, so that comparisons can be checked: times cannot be compared with
// bytes, and bytes divided by a time are a bandwidth.
#pragma once

#include <string>
#include <string_view>

namespace perfgate::model {

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
