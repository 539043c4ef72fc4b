// SPDX-License-Identifier: Apache-2.0
#include "metrics/raw_counter.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace perfgate::metrics {

namespace {

bool is_raw_name(std::string_view name) {
    constexpr std::size_t longest = 200;
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.';
    };
    const std::size_t joint = name.find("__");
    if (name.size() > longest || joint == 0 || joint == std::string_view::npos) return false;
    const std::size_t rollup = name.find('.', joint);
    return rollup != std::string_view::npos && rollup > joint + 2 && name.back() != '.' &&
           std::all_of(name.begin(), name.end(), plain);
}

std::string raw_unit(std::string_view name) {
    const auto contains = [](std::string_view text, std::string_view part) {
        return text.find(part) != std::string_view::npos;
    };
    const std::string_view quantity = name.substr(0, name.find('.', name.find("__")));
    if (name.ends_with(".pct") || contains(name, ".pct_of_peak")) return "%";
    if (name.ends_with(".ratio") || name.ends_with(".max_rate")) return "ratio";
    const bool per_second = name.ends_with(".per_second");
    const bool per_cycle = contains(name, ".per_cycle");
    if (contains(quantity, "__bytes")) {
        return per_second ? "bytes/s" : per_cycle ? "bytes/cycle" : "bytes";
    }
    if (contains(quantity, "__time_duration")) return "ns";
    return per_second ? "Hz" : per_cycle ? "ratio" : "count";
}

}  // namespace

std::optional<model::MetricDefinition> raw_counter(std::string_view name) {
    if (!is_raw_name(name)) return std::nullopt;
    const model::Fold fold = name.ends_with(".sum")   ? model::Fold::sum
                             : name.ends_with(".max") ? model::Fold::max
                                                      : model::Fold::weighted_mean;
    return model::MetricDefinition{
        std::string(name),      "CUPTI's counter of that name", raw_unit(name),
        model::Direction::none, model::MetricClass::counter,    fold};
}

}  // namespace perfgate::metrics
