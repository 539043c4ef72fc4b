// SPDX-License-Identifier: Apache-2.0
#include "model/metric.hpp"

#include <fmt/format.h>

#include <charconv>

#include "util/text.hpp"

namespace perfgate::model {

namespace {

constexpr std::string_view ceiling_part = "/ceiling", debug_part = "/debug-build",
                           processes_part = " processes", communicating_part = " communicating";

/// Takes the part from the end of the text.
bool take_end(std::string_view& text, std::string_view part) {
    if (!text.ends_with(part)) return false;
    text.remove_suffix(part.size());
    return true;
}

/// Takes "/3 processes" from the end; leaves `number` and the text where there is none.
void take_count(std::string_view& text, std::string_view part, int& number) {
    if (!text.ends_with(part)) return;
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos) return;
    std::from_chars(text.data() + slash + 1, text.data() + text.size(), number);
    text = text.substr(0, slash);
}

/// A counter's cache comes last in its text, that of others first.
bool cache_is_last(std::string_view source) {
    return source == counter_source;
}

}  // namespace

std::string to_text(const Method& method) {
    std::string text = method.source;
    const auto add = [&text](std::string_view part) {
        if (!part.empty()) text.append("/").append(part);
    };
    const std::string_view cache = method.cache ? to_text(*method.cache) : "";
    if (!cache_is_last(method.source)) add(cache);
    add(method.way);
    if (cache_is_last(method.source)) add(cache);
    if (method.processes > 1) text += fmt::format("/{}{}", method.processes, processes_part);
    if (method.communicating > 0) {
        text += fmt::format("/{}{}", method.communicating, communicating_part);
    }
    if (method.of_ceiling) text += ceiling_part;
    if (method.debug_build) text += debug_part;
    return text;
}

Method from_text(std::string_view text) {
    Method method;
    std::string_view rest = text;
    method.debug_build = take_end(rest, debug_part);
    method.of_ceiling = take_end(rest, ceiling_part);
    take_count(rest, communicating_part, method.communicating);
    take_count(rest, processes_part, method.processes);
    const std::size_t slash = rest.find('/');
    method.source = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
    const bool last = cache_is_last(method.source);
    const std::size_t between = last ? rest.rfind('/') : rest.find('/');
    const bool alone = between == std::string_view::npos;
    const std::string_view first_part = rest.substr(0, between);
    const std::string_view end_part = alone ? first_part : rest.substr(between + 1);
    for (const Cache cache : {Cache::cold, Cache::hot}) {
        if ((last ? end_part : first_part) != to_text(cache)) continue;
        method.cache = cache;
        rest = alone ? "" : last ? first_part : end_part;
        break;
    }
    method.way = rest;
    if (to_text(method) == text) return method;
    Method other;
    other.source = text;
    return other;
}

Method::Method(std::string_view text) : Method(from_text(text)) {}

bool comparable(const MetricSeries& left, const MetricSeries& right) {
    return left.unit == right.unit && left.method == right.method;
}

std::string_view to_text(Direction direction) {
    return util::word_of<Direction::none>(direction, {"lower", "higher", "none"});
}

std::string_view to_text(MetricClass metric_class) {
    return util::word_of<MetricClass::timing>(metric_class, {"exact", "counter", "timing"});
}

std::string_view to_text(Fold fold) {
    return util::word_of<Fold::weighted_mean>(fold, {"sum", "max", "ratio", "weighted_mean"});
}

std::vector<double> all_samples(const MetricSeries& series) {
    std::size_t count = 0;
    for (const Batch& batch : series.batches) count += batch.samples.size();
    std::vector<double> samples;
    samples.reserve(count);
    for (const Batch& batch : series.batches) {
        if (!batch.excluded.empty()) continue;
        samples.insert(samples.end(), batch.samples.begin(), batch.samples.end());
    }
    return samples;
}

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
    return util::word_of<Severity::warn>(severity, {"fail", "warn"});
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
