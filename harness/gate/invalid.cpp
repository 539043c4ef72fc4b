// SPDX-License-Identifier: Apache-2.0
#include "gate/invalid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

#include "gate/batch_rule.hpp"
#include "gate/series.hpp"
#include "model/benchmark_settings.hpp"
#include "model/host_time.hpp"
#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "stats/distributions.hpp"
#include "stats/spread.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

constexpr double confidence = 0.95;

std::string signed_percent(double fraction) {
    return fmt::format("{:+.1f}", 100 * fraction);
}

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

/// Likewise that a further process has this mean of its samples, of which no more is known: that of
/// one step of the mean, where its own spread leads it.
double log_chance_of_mean(const std::vector<double>& samples) {
    const double largest = *std::max_element(samples.begin(), samples.end());
    const double spread = stats::pooled_spread(std::array{samples}).deviation;
    const auto size = static_cast<double>(samples.size());
    const double steps = spread * std::sqrt(size) / step_of(samples, largest);
    return -std::log(std::max(1.0, std::sqrt(2 * std::numbers::pi) * steps));
}

/// Likewise that a further process equals this one as far as `then` shows it.
double log_chance_of_again(const std::vector<double>& now, const std::vector<double>& then) {
    if (now.size() == 1) return log_chance_of_one_value(now.front(), 1);
    if (std::adjacent_find(now.begin(), now.end(), std::not_equal_to<>()) == now.end()) return 0;
    return now == then ? log_chance(now, 1) : log_chance_of_mean(now);
}

/// The logarithm of the probability that two of so many processes have the same different samples,
/// if these are any of the steps between them, in an order that tells nothing.
double log_chance_of_a_pair(const std::vector<double>& samples, double processes) {
    const std::set<double> different(samples.begin(), samples.end());
    const double least = *different.begin();
    const double most = *different.rbegin();
    if (different.size() < 2 || !(least > 0) || !std::isfinite(most)) return 0;
    const double step = step_of(samples, most);
    const auto count = static_cast<double>(different.size());
    const double steps = step > 0 ? std::max((most - least) / step + 1, count) : count;
    const double choices =
        std::lgamma(steps + 1) - std::lgamma(count + 1) - std::lgamma(steps - count + 1);
    return std::log(processes * (processes - 1) / 2) - choices;
}

struct Alike {
    std::size_t processes = 0;
    std::size_t samples = 0;
};

/// The most processes that have the same samples, if these are too many for a coincidence.
Alike most_alike(const model::MetricSeries& series) {
    constexpr double coincidence_of_a_pair = 1e-12;
    std::map<std::vector<double>, std::size_t> counts;
    for (const model::Batch& batch : series.batches) ++counts[batch.samples];
    Alike most;
    for (const auto& [samples, count] : counts) {
        const auto processes = static_cast<double>(series.batches.size());
        const bool all = count == series.batches.size() && count >= least_processes;
        if (count < 2 || samples.empty() || count <= most.processes) continue;
        if ((all && log_chance(samples, processes - 1) <= std::log(coincidence)) ||
            log_chance_of_a_pair(samples, processes) <= std::log(coincidence_of_a_pair)) {
            most = {count, samples.size()};
        }
    }
    return most;
}

}  // namespace

std::optional<Overhead> overhead_of(const Metrics& metrics) {
    const auto series = metrics.find("tracing_overhead");
    if (series == metrics.end()) return std::nullopt;
    std::vector<double> ratios;  // logarithms
    for (const double percent_longer : batch_values(series->second)) {
        const double ratio = std::log1p(percent_longer / 100);
        if (std::isfinite(ratio)) ratios.push_back(ratio);
    }
    if (ratios.empty()) return std::nullopt;
    const double mean = stats::trimmed_mean(ratios, 0);
    Overhead overhead{std::expm1(mean)};
    if (ratios.size() < 2) return overhead;
    const stats::PooledSpread spread = stats::pooled_spread(std::array{ratios});
    const double half = stats::student_upper_quantile((1 - confidence) / 2, spread.df) *
                        spread.deviation / std::sqrt(static_cast<double>(ratios.size()));
    overhead.low = std::expm1(mean - half);
    overhead.high = std::expm1(mean + half);
    return overhead;
}

std::string to_text(const Overhead& overhead) {
    if (!overhead.low) {
        return fmt::format("{} % (one batch: no interval)", signed_percent(overhead.mean));
    }
    return fmt::format("{} % ({} to {} %)", signed_percent(overhead.mean),
                       signed_percent(*overhead.low), signed_percent(*overhead.high));
}

std::vector<std::string> overhead_notes(const model::SuiteResult& suite) {
    struct Found {
        Overhead overhead;
        std::string id;
    };
    std::map<std::string, std::vector<Found>> programs;
    for (const model::CaseResult& result : suite.cases) {
        if (const auto overhead = overhead_of(result.metrics)) {
            programs[result.spec.workload].push_back({*overhead, case_id(result.spec)});
        }
    }
    std::vector<std::string> notes;
    for (const auto& [name, found] : programs) {
        const auto [least, most] = std::minmax_element(
            found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.overhead.mean < b.overhead.mean; });
        const std::string low = to_text(least->overhead), high = to_text(most->overhead);
        notes.push_back(low == high
                            ? fmt::format("recording overhead of {}: {}", name, low)
                            : fmt::format("recording overhead of {}: from {} for {} to {} for {}",
                                          name, low, least->id, high, most->id));
    }
    return notes;
}

std::string distortion(const Metrics& metrics, std::optional<double> max_overhead,
                       std::string_view metric) {
    if (!max_overhead || !model::contains_host_time(metric)) return {};
    const std::optional<Overhead> overhead = overhead_of(metrics);
    if (!overhead || !overhead->low || *overhead->low <= *max_overhead) return {};
    const bool own = metrics.at("tracing_overhead").method.source == model::ranges_source;
    return fmt::format(
        "the recording overhead of the {} is {}, above 'max_overhead' ({:g} %), and {} includes "
        "it; {}gate gpu_time, or raise 'max_overhead'",
        own ? "range" : "program", to_text(*overhead), 100 * *max_overhead, metric,
        own ? "" : "use a longer run, ");
}

double device_seconds(const model::CaseResult& result) {
    const model::MetricSeries* time = model::device_time(result);
    return time == nullptr ? 0 : estimate_of(*time) * 1e-9;
}

std::string negative(const model::MetricSeries& series) {
    if (series.unit == "%" || series.unit == "ratio") return {};
    const std::vector<double> values = values_of_all_rounds(series);
    const auto least = std::min_element(values.begin(), values.end());
    if (least == values.end() || !(*least < 0)) return {};
    return fmt::format("{} is no amount: repair what reports it, then measure again",
                       model::quantity_text(*least, series.unit));
}

std::string too_fast(const model::CaseResult& result, const model::Environment& environment) {
    const double seconds = device_seconds(result);
    if (!result.work || !(seconds > 0)) return {};
    const model::Work& work = *result.work;
    const model::Ceilings& ceilings = environment.ceilings;
    const auto impossible = [&](double least_s, std::string_view amount, std::string_view rate) {
        return fmt::format(
            "too fast to be true: {} for {}, which takes at least {} at {}; does it do all of its "
            "work? If so, the plugin or the suite states too much",
            model::quantity_text(seconds * 1e9, "ns"), amount,
            model::quantity_text(least_s * 1e9, "ns"), rate);
    };
    if (ceilings.copy_bytes_per_s > 0) {
        const double uncached =
            std::max(0.0, work.bytes - static_cast<double>(environment.device.l2_bytes));
        const double least_s = uncached / ceilings.copy_bytes_per_s;
        if (least_s > ceiling_margin * seconds) {
            return impossible(
                least_s, model::quantity_text(work.bytes, "bytes"),
                fmt::format("this run's copy bandwidth of {}, with a full L2 cache",
                            model::quantity_text(ceilings.copy_bytes_per_s, "bytes/s")));
        }
    }
    const auto rate = ceilings.matrix_flops_per_s.find(work.arithmetic);
    if (rate != ceilings.matrix_flops_per_s.end() && rate->second > 0) {
        const double least_s = work.flops / rate->second;
        if (least_s > ceiling_margin * seconds) {
            return impossible(
                least_s, model::quantity_text(work.flops, "flop"),
                fmt::format("this run's {} matrix rate of {}", util::printable(work.arithmetic, 40),
                            model::quantity_text(rate->second, "flop/s")));
        }
    }
    return {};
}

bool reported_by_benchmark(const model::CaseResult& result, const model::MetricSeries& series) {
    // A range of a program may have the name "iteration", too.
    return result.instance == model::benchmark_instance &&
           series.method.source != model::activity_source &&
           series.method.source != model::wall_source;
}

std::string repeated_results(const model::MetricSeries& series) {
    const std::size_t processes = series.batches.size();
    const auto [alike, samples] = most_alike(series);
    if (alike == 0) return {};
    return fmt::format(
        "{} processes reported the same {}sample{} to the last digit, as if they were of an "
        "earlier run: let it measure anew; if its times are exact, set their tolerance to 0",
        alike == processes ? fmt::format("each of {}", processes)
                           : fmt::format("{} of {}", alike, processes),
        samples == 1 ? "" : fmt::format("{} ", samples), samples == 1 ? "" : "s");
}

std::string no_measurement(const model::CaseResult& result, const model::GateRule& gate,
                           const model::MetricSeries& series, bool is_measured) {
    std::string why = negative(series);
    const bool exact = gate.tolerance.worse == 0 && gate.tolerance.abs == 0;
    if (!why.empty() || exact || !is_measured) return why;
    const bool reported = reported_by_benchmark(result, result.metrics.at(gate.metric));
    return reported ? repeated_results(series) : why;
}

bool measures(const model::MetricDefinition& definition, const model::MetricSeries* baseline) {
    return definition.metric_class == model::MetricClass::timing ||
           (baseline != nullptr && batch_values(*baseline).size() > 1 && !repeats(*baseline));
}

std::string repeated_baseline(const model::MetricSeries& baseline,
                              const model::MetricSeries& measured) {
    std::multimap<double, const model::Batch*> then;
    for (const model::Batch* batch : batches_in_use(baseline)) {
        then.emplace(batch_value(*batch), batch);
    }
    const std::vector<const model::Batch*> now = batches_in_use(measured);
    const double any_of_them = std::log(static_cast<double>(std::max<std::size_t>(1, then.size())));
    double chance = 0;
    for (const model::Batch* batch : now) {
        const std::vector<double>& samples = batch->samples;
        const auto found = then.find(batch_value(*batch));
        if (found == then.end() ||
            !std::all_of(samples.begin(), samples.end(), [](double each) { return each > 0; })) {
            return {};
        }
        chance += std::min(0.0, any_of_them + log_chance_of_again(samples, found->second->samples));
        then.erase(found);
    }
    if (now.empty() || chance > std::log(coincidence)) return {};
    return fmt::format(
        "{} reported times of the baseline to the last digit: name results of another run; if its "
        "times are exact, set their tolerance to 0",
        now.size() == 1 ? "its process" : fmt::format("each of {} processes", now.size()));
}

}  // namespace perfgate::gate
