// SPDX-License-Identifier: Apache-2.0
#include "measure/clock_stability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "metrics/catalogue.hpp"
#include "stats/quantiles.hpp"

namespace perfgate::measure {
namespace {

/// Throttle reasons that are not caused by the kernel, as worded by the NVML reader.
constexpr std::array<std::string_view, 4> disturbing{
    "hardware slowdown", "software thermal slowdown", "hardware thermal slowdown",
    "hardware power brake"};

constexpr std::string_view power_cap = "power cap";

/// The prefix of every reason about clocks, which a later call may revoke.
constexpr std::string_view other_clock = "SM clock ";

bool is_time(const std::string& name) {
    const auto metric = metrics::find_metric(name);
    return metric && metric->definition.metric_class == model::MetricClass::timing &&
           metric->source != metrics::Source::counter && !metric->from_bare_runs;
}

bool for_its_clock(const model::Batch& batch) {
    return std::string_view(batch.excluded).substr(0, other_clock.size()) == other_clock;
}

/// Launches without rests have a clock of their own: they heat the board more than timed ones.
bool is_of_reading(const std::string& name) {
    const auto metric = metrics::find_metric(name);
    return metric && metric->source == metrics::Source::reading;
}

/// The clock of each process that is not excluded for another reason. One per process, because the
/// kinds of time that a process takes are not independent.
std::map<std::int64_t, double> clocks_of(const model::CaseResult& result, bool of_reading) {
    std::map<std::int64_t, double> clocks;
    for (const auto& [name, series] : result.metrics) {
        if (is_of_reading(name) != of_reading) continue;
        for (const model::Batch& batch : series.batches) {
            if (batch.sm_clock_mhz && (batch.excluded.empty() || for_its_clock(batch))) {
                clocks.emplace(batch.process, *batch.sm_clock_mhz);
            }
        }
    }
    return clocks;
}

/// The clock of most processes: the middle of those that agree with the most others.
std::optional<double> usual_clock(const std::map<std::int64_t, double>& clocks) {
    std::optional<double> usual;
    std::size_t most = 0;
    for (const auto& [process, clock] : clocks) {
        std::size_t agreeing = 0;
        for (const auto& [other, other_mhz] : clocks) {
            agreeing += std::abs(other_mhz - clock) <= clock_tolerance * clock ? 1 : 0;
        }
        // In a tie, the higher clock: a board drops below its usual clock more often than it
        // exceeds it.
        if (agreeing > most || (agreeing == most && usual && clock > *usual)) {
            most = agreeing;
            usual = clock;
        }
    }
    return usual;
}

}  // namespace

std::string disturbance(std::span<const model::BoardState> around) {
    for (const model::BoardState& state : around) {
        for (const std::string& reason : state.throttle_reasons) {
            if (std::find(disturbing.begin(), disturbing.end(), reason) != disturbing.end()) {
                return fmt::format("throttled: {}", reason);
            }
        }
    }
    return {};
}

std::optional<double> clock_of(std::span<const model::BoardState> around) {
    double sum = 0;
    for (const model::BoardState& state : around) {
        const auto& reasons = state.throttle_reasons;
        if (!state.sm_clock_mhz ||
            std::find(reasons.begin(), reasons.end(), power_cap) != reasons.end()) {
            return std::nullopt;
        }
        sum += *state.sm_clock_mhz;
    }
    if (around.empty()) return std::nullopt;
    return sum / static_cast<double>(around.size());
}

void exclude_other_clocks(model::CaseResult& result) {
    const std::optional<double> of_times = usual_clock(clocks_of(result, false));
    const std::optional<double> of_readings = usual_clock(clocks_of(result, true));
    for (auto& [name, series] : result.metrics) {
        const std::optional<double>& usual = is_of_reading(name) ? of_readings : of_times;
        for (model::Batch& batch : series.batches) {
            if (for_its_clock(batch)) batch.excluded.clear();
            if (!batch.sm_clock_mhz || !usual || !batch.excluded.empty()) continue;
            if (std::abs(*batch.sm_clock_mhz - *usual) > clock_tolerance * *usual) {
                batch.excluded = fmt::format("{}{:.0f} MHz where the case's others had {:.0f} MHz",
                                             other_clock, *batch.sm_clock_mhz, *usual);
            }
        }
        // If no batch counts, the value stays unchanged; the case is then invalid.
        const std::vector<double> samples = model::all_samples(series);
        if (!samples.empty()) series.value = stats::median(samples);
    }
}

std::size_t usable_batches(const model::CaseResult& result, std::size_t none) {
    std::optional<std::size_t> least;
    for (const auto& [name, series] : result.metrics) {
        if (!is_time(name)) continue;
        const auto used = static_cast<std::size_t>(
            std::count_if(series.batches.begin(), series.batches.end(),
                          [](const model::Batch& batch) { return batch.excluded.empty(); }));
        least = std::min(least.value_or(used), used);
    }
    return least.value_or(none);
}

std::string too_thin(const model::CaseResult& result, std::size_t wanted) {
    const std::size_t used = usable_batches(result, wanted);
    if (used >= (wanted + 1) / 2) return {};
    std::map<std::string, int> reasons;
    for (const auto& [name, series] : result.metrics) {
        for (const model::Batch& batch : series.batches) {
            if (!batch.excluded.empty()) ++reasons[batch.excluded];
        }
    }
    const auto most = std::max_element(
        reasons.begin(), reasons.end(),
        [](const auto& left, const auto& right) { return left.second < right.second; });
    return fmt::format(
        "disturbed by the environment: {} of {} batches count ({}); measure again when "
        "the device is quiet",
        used, wanted, most == reasons.end() ? "none was taken" : most->first);
}

}  // namespace perfgate::measure
