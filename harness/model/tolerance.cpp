// SPDX-License-Identifier: Apache-2.0
#include "model/tolerance.hpp"

#include <fmt/format.h>

#include "util/text.hpp"

namespace perfgate::model {

namespace {

std::string percent(double fraction) {
    // Six digits hide what multiplying by 100 adds: 0.07 is 7 %, not 7.000000000000001 %.
    return fmt::format("{:.6g} %", fraction * 100);
}

std::string amount(double value, const std::string& unit) {
    if (unit == "%") return util::number_text(value) + " percentage points";
    if (unit.empty() || unit == "count" || unit == "ratio") return util::number_text(value);
    return fmt::format("{} {}", util::number_text(value), unit);
}

}  // namespace

std::string_view to_text(Severity severity) {
    return severity == Severity::warn ? "warn" : "fail";
}

std::string to_text(const Tolerance& tolerance, const std::string& unit) {
    const std::string tail =
        tolerance.tail ? fmt::format(", its slowest tenth {}", percent(*tolerance.tail)) : "";
    if (tolerance.worse == 0 && !tolerance.better && tolerance.abs != 0) {
        return amount(tolerance.abs, unit) + tail;
    }
    std::string text = tolerance.better
                           ? fmt::format("worse {}, better {}", percent(tolerance.worse),
                                         percent(*tolerance.better))
                           : percent(tolerance.worse);
    if (tolerance.abs != 0) text += ", at least " + amount(tolerance.abs, unit);
    return text + tail;
}

}  // namespace perfgate::model
