// SPDX-License-Identifier: Apache-2.0
#include "gate/overhead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "gate/batch_rule.hpp"
#include "stats/distributions.hpp"
#include "stats/spread.hpp"

namespace perfgate::gate {

namespace {

constexpr double confidence = 0.95;
/// Of a program these contain the host's time between launches, which recording lengthens, are
/// shares of a span that does, or depend on when the host launches.
constexpr std::string_view host_metrics[] = {"span",
                                             "idle_share",
                                             "longest_idle",
                                             "exposed_copy_share",
                                             "communication_share",
                                             "exposed_communication_share",
                                             "communication_skew"};

std::string signed_percent(double fraction) {
    return fmt::format("{:+.1f}", 100 * fraction);
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
    if (!max_overhead || std::find(std::begin(host_metrics), std::end(host_metrics), metric) ==
                             std::end(host_metrics)) {
        return {};
    }
    const std::optional<Overhead> overhead = overhead_of(metrics);
    if (!overhead || !overhead->low || *overhead->low <= *max_overhead) return {};
    const bool own = metrics.at("tracing_overhead").method.source == model::ranges_source;
    return fmt::format(
        "the recording overhead of the {} is {}, above 'max_overhead' ({:g} %), and {} includes "
        "it; {}gate gpu_time, or raise 'max_overhead'",
        own ? "range" : "program", to_text(*overhead), 100 * *max_overhead, metric,
        own ? "" : "use a longer run, ");
}

}  // namespace perfgate::gate
