// SPDX-License-Identifier: Apache-2.0
#include "gate/repeated_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "model/benchmark_instance.hpp"

namespace perfgate::gate {

namespace {

constexpr std::size_t least_processes = 3;
/// Less probable than this is no coincidence.
constexpr double coincidence = 1e-6;

/// The step that the values are multiples of, as far as six digits show it: more would be noise of
/// float32, in which many clocks are read.
double step_of(const std::vector<double>& values, double largest) {
    const double digit = std::pow(10, std::floor(std::log10(largest)) - 5);
    std::int64_t steps = 0;
    for (const double value : values) steps = std::gcd(steps, std::llround(value / digit));
    return static_cast<double>(steps) * digit;
}

/// How many ticks of its clock a time has, at most: of a decimal one, as far as six digits show it,
/// or of a GPU's.
double ticks_of(double time) {
    constexpr double gpu_tick_ns = 32;
    auto ticks = std::llround(time / std::pow(10, std::floor(std::log10(time)) - 5));
    const std::int64_t digits = ticks;
    while (ticks % 10 == 0) ticks /= 10;
    const double of_gpu = std::round(time / gpu_tick_ns);
    const bool by_gpu =
        std::fabs(of_gpu * gpu_tick_ns / time - 1) * static_cast<double>(digits) < 1;
    return by_gpu ? std::min(of_gpu, static_cast<double>(ticks)) : static_cast<double>(ticks);
}

/// The logarithm of the probability that so many further samples equal this one, if measurements
/// vary by a thousandth. A clock too coarse to show that much may repeat it for ever.
double log_chance_of_one_value(double time, double further_samples) {
    constexpr double least_variation = 1e-3;
    return -further_samples * std::log(std::max(1.0, least_variation * ticks_of(time)));
}

/// The logarithm of the probability that so many further processes have the same samples, from
/// their own distribution. Where all differ, each could have been any of the steps between them.
double log_chance(const std::vector<double>& samples, double further_processes) {
    std::map<double, double> counts;
    for (const double sample : samples) ++counts[sample];
    const double least = counts.begin()->first;
    const double most = counts.rbegin()->first;
    if (!(least > 0) || !std::isfinite(most)) return 0;
    const auto size = static_cast<double>(samples.size());
    if (counts.size() == 1) {
        return log_chance_of_one_value(least, (further_processes + 1) * size - 1);
    }
    double chance = 0;
    for (const auto& [value, count] : counts) chance += count * std::log(count / size);
    const double step = step_of(samples, most);
    if (counts.size() == samples.size() && step > 0) {
        chance = std::min(chance, -size * std::log((most - least) / step + 1));
    }
    return further_processes * chance;
}

}  // namespace

bool reported_by_benchmark(const model::CaseResult& result, const model::MetricSeries& series) {
    // A range of a program may have the name "iteration", too.
    return result.instance == model::benchmark_instance &&
           series.method.source != model::activity_source &&
           series.method.source != model::wall_source;
}

std::string repeated_results(const model::MetricSeries& series) {
    const std::size_t processes = series.batches.size();
    if (processes < least_processes) return {};
    const std::vector<double>& first = series.batches.front().samples;
    if (first.empty() ||
        !std::all_of(series.batches.begin(), series.batches.end(),
                     [&](const model::Batch& batch) { return batch.samples == first; })) {
        return {};
    }
    if (log_chance(first, static_cast<double>(processes - 1)) > std::log(coincidence)) return {};
    return fmt::format(
        "each of {} processes reported the same {}sample{} to the last digit, as if they were of "
        "an earlier run: let it measure anew; if its times are exact, set their tolerance to 0",
        processes, first.size() == 1 ? "" : fmt::format("{} ", first.size()),
        first.size() == 1 ? "" : "s");
}

}  // namespace perfgate::gate
