// SPDX-License-Identifier: Apache-2.0
#include "model/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "util/text.hpp"

namespace perfgate::model {

namespace {

struct Step {
    double size;
    std::string_view suffix;
};

constexpr std::array time_steps{Step{1, "ns"}, Step{1e3, "µs"}, Step{1e6, "ms"}, Step{1e9, "s"}};
constexpr std::array byte_steps{Step{1, "B"}, Step{1024, "KiB"}, Step{1024.0 * 1024, "MiB"},
                                Step{1024.0 * 1024 * 1024, "GiB"},
                                Step{1024.0 * 1024 * 1024 * 1024, "TiB"}};
constexpr std::array bandwidth_steps{Step{1, "B/s"}, Step{1e3, "kB/s"}, Step{1e6, "MB/s"},
                                     Step{1e9, "GB/s"}, Step{1e12, "TB/s"}};
constexpr std::array frequency_steps{Step{1, "Hz"}, Step{1e3, "kHz"}, Step{1e6, "MHz"},
                                     Step{1e9, "GHz"}};
constexpr std::array flop_steps{Step{1, "flop"}, Step{1e3, "kflop"}, Step{1e6, "Mflop"},
                                Step{1e9, "Gflop"}, Step{1e12, "Tflop"}};
constexpr std::array flop_rate_steps{Step{1, "flop/s"}, Step{1e3, "kflop/s"}, Step{1e6, "Mflop/s"},
                                     Step{1e9, "Gflop/s"}, Step{1e12, "Tflop/s"}};
constexpr std::array energy_steps{Step{1e-9, "nJ"}, Step{1e-6, "µJ"}, Step{1e-3, "mJ"},
                                  Step{1, "J"}, Step{1e3, "kJ"}};
constexpr std::array flop_per_joule_steps{Step{1, "flop/J"}, Step{1e3, "kflop/J"},
                                          Step{1e6, "Mflop/J"}, Step{1e9, "Gflop/J"},
                                          Step{1e12, "Tflop/J"}};
constexpr std::array bytes_per_joule_steps{Step{1, "B/J"}, Step{1e3, "kB/J"}, Step{1e6, "MB/J"},
                                           Step{1e9, "GB/J"}, Step{1e12, "TB/J"}};

struct Scale {
    std::string_view unit;
    std::span<const Step> steps;
};

constexpr std::array scales{
    Scale{"ns", time_steps},
    Scale{"bytes", byte_steps},
    Scale{"bytes/s", bandwidth_steps},
    Scale{"Hz", frequency_steps},
    Scale{"flop", flop_steps},
    Scale{"flop/s", flop_rate_steps},
    Scale{"J", energy_steps},
    Scale{"flop/J", flop_per_joule_steps},
    Scale{"bytes/J", bytes_per_joule_steps},
};

std::span<const Step> steps_of(std::string_view unit) {
    for (const Scale& scale : scales) {
        if (scale.unit == unit) return scale.steps;
    }
    return {};
}

/// The suffix of a number that no scale applies to.
std::string plain_suffix(std::string_view unit) {
    if (unit.empty() || unit == "ratio" || unit == "count" || unit == "registers") return "";
    return " " + util::printable(unit == "bytes" ? "B" : unit, 40);
}

/// "97,460,236"; four digits are read without.
std::string with_separators(std::string digits) {
    const std::size_t sign = digits.starts_with('-') ? 1 : 0;
    std::size_t end = digits.find_first_not_of("0123456789", sign);
    if (end == std::string::npos) end = digits.size();
    if (end - sign <= 4) return digits;
    while (end > sign + 3) digits.insert(end -= 3, 1, ',');
    return digits;
}

std::string four_digits(double value) {
    const double size = std::fabs(value);
    // A threshold is where rounding would add a digit before the decimal point.
    if (size < 0.99995 || size >= 1e15) return fmt::format("{:.4g}", value);
    if (size < 9.9995) return fmt::format("{:.3f}", value);
    if (size < 99.995) return fmt::format("{:.2f}", value);
    if (size < 999.95) return fmt::format("{:.1f}", value);
    return fmt::format("{:.0f}", value);
}

/// The largest step that leaves a number of at least 1 after rounding.
const Step& step_for(double value, std::span<const Step> steps) {
    const Step* chosen = &steps.front();
    for (const Step& step : steps) {
        if (std::fabs(value) >= step.size * 0.99995) chosen = &step;
    }
    return *chosen;
}

std::string all_digits(double value, std::string_view unit) {
    return with_separators(util::number_text(value)) + plain_suffix(unit);
}

/// Both with enough digits to distinguish them, or nothing if those of integers are all needed.
std::optional<QuantityTexts> told_apart(double before, double after, std::string_view unit) {
    const bool whole = std::trunc(before) == before && std::trunc(after) == after;
    const int most_digits = whole ? 6 : std::numeric_limits<double>::max_digits10;
    const std::span<const Step> steps = steps_of(unit);
    const Step scale = steps.empty() ? Step{1, ""} : step_for(after, steps);
    const std::string suffix =
        steps.empty() ? plain_suffix(unit) : fmt::format(" {}", scale.suffix);
    const auto text = [&](double value, int digits) {
        return fmt::format("{:#.{}g}{}", value / scale.size, digits, suffix);
    };
    for (int digits = 5; digits <= most_digits; ++digits) {
        QuantityTexts texts{text(before, digits), text(after, digits)};
        if (texts.before != texts.after) return texts;
    }
    return std::nullopt;
}

}  // namespace

std::string quantity_text(double value, std::string_view unit) {
    value += 0.0;  // people do not want to read -0
    const bool whole = std::trunc(value) == value;
    const std::span<const Step> steps = steps_of(unit);
    if (!std::isfinite(value) || steps.empty()) {
        const bool every_digit = whole && unit != "%";
        return every_digit ? all_digits(value, unit) : four_digits(value) + plain_suffix(unit);
    }
    const Step& step = step_for(value, steps);
    const bool every_digit = value == 0 || (whole && step.size == 1 && unit == "bytes");
    return fmt::format("{} {}",
                       every_digit ? util::number_text(value) : four_digits(value / step.size),
                       step.suffix);
}

QuantityTexts quantity_texts(double before, double after, std::string_view unit) {
    QuantityTexts texts{quantity_text(before, unit), quantity_text(after, unit)};
    if (before != after && texts.before == texts.after) {
        texts = told_apart(before, after, unit)
                    .value_or(QuantityTexts{all_digits(before, unit), all_digits(after, unit)});
    }
    return texts;
}

std::string change_text(double fraction) {
    const double percent = fraction * 100;
    const double size = std::fabs(percent);
    if (size == 0) return "0.0 %";
    if (size < 0.05 || size >= 1e6) return fmt::format("{:+.1g} %", percent);
    return fmt::format("{:+.1f} %", percent);
}

std::string moved_text(double before, double after, std::string_view unit) {
    if (unit == "%") {
        const double points = after - before;
        if (!std::isfinite(points)) return {};
        if (points == 0) return "0.0 points";
        if (std::fabs(points) < 0.05) return fmt::format("{:+.1g} points", points);
        return fmt::format("{:+.1f} points", points);
    }
    const std::optional<double> fraction = change_fraction(before, after);
    return fraction ? change_text(*fraction) : std::string();
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return "-";
    return fmt::format("{:.1f} %", static_cast<double>(part) * 100 / static_cast<double>(whole));
}

std::string interval_text(double low, double high) {
    return change_text(low) + " to " + change_text(high);
}

std::string detected_text(double minimum_detectable_change) {
    if (minimum_detectable_change > most_detected) return "no change below 1000 %";
    const double percent = minimum_detectable_change * 100;
    if (!(percent > 0)) return "≥ 0 %";
    const double unit = std::pow(10.0, std::floor(std::log10(percent)) - 1);
    return fmt::format("≥ {:.6g} %", std::ceil(percent / unit - 1e-9) * unit);
}

std::optional<double> change_fraction(double before, double after) {
    if (before == 0) return std::nullopt;
    const double fraction = (after - before) / std::fabs(before);
    if (!std::isfinite(fraction)) return std::nullopt;
    return fraction;
}

}  // namespace perfgate::model
