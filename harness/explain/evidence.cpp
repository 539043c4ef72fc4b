// SPDX-License-Identifier: Apache-2.0
#include "explain/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "explain/details.hpp"

namespace perfgate::explain {

namespace {

using model::Figure;
using model::MetricVerdict;
using model::Verdict;

void add(Evidence& evidence, std::string_view metric, std::string_view unit, double before,
         double after) {
    if (!std::isfinite(before) || !std::isfinite(after)) return;
    // Without requests the ratio does not exist; the catalogue reports it as 0.
    if (metric.starts_with("sectors_per_request") && (before == 0 || after == 0)) return;
    evidence.insert_or_assign(std::string(metric),
                              Figure{std::string(metric), std::string(unit), before, after});
}

const Figure* find(const Evidence& evidence, std::string_view metric) {
    const auto found = evidence.find(metric);
    return found == evidence.end() ? nullptr : &found->second;
}

constexpr double hz_per_mhz = 1e6;

void add_clock(const MetricVerdict& time, Evidence& evidence) {
    if (!time.baseline_clock_mhz || !time.measured_clock_mhz) return;
    add(evidence, timed_sm_clock, "Hz", *time.baseline_clock_mhz * hz_per_mhz,
        *time.measured_clock_mhz * hz_per_mhz);
}

/// The board's clock where most of the readings are under the power cap; nothing else.
std::optional<double> capped_clock_mhz(const std::vector<model::Reading>& readings) {
    constexpr std::string_view power_cap = "power cap";
    double sum = 0;
    std::size_t capped = 0;
    for (const model::Reading& reading : readings) {
        const auto& reasons = reading.state.throttle_reasons;
        if (!reading.state.sm_clock_mhz ||
            std::find(reasons.begin(), reasons.end(), power_cap) == reasons.end()) {
            continue;
        }
        sum += *reading.state.sm_clock_mhz;
        ++capped;
    }
    if (capped == 0 || 2 * capped <= readings.size()) return std::nullopt;
    return sum / static_cast<double>(capped);
}

void add_capped_clock(const MetricVerdict& time, const model::CaseResult& result,
                      Evidence& evidence) {
    if (!time.baseline_clock_mhz || time.measured_clock_mhz) return;
    const std::optional<double> capped = capped_clock_mhz(result.readings);
    if (!capped) return;
    add(evidence, capped_sm_clock, "Hz", *time.baseline_clock_mhz * hz_per_mhz,
        *capped * hz_per_mhz);
}

void add_submission_share(Evidence& evidence) {
    const Figure* submission = find(evidence, "submit_time");
    const Figure* time = find(evidence, "gpu_time");
    if (submission == nullptr || time == nullptr || submission->unit != time->unit) return;
    add(evidence, submission_share, "%", 100 * submission->before / time->before,
        100 * submission->after / time->after);
}

void add_launch_gap(Evidence& evidence) {
    const Figure* span = find(evidence, "gpu_span");
    const Figure* time = find(evidence, "gpu_time");
    if (span == nullptr || time == nullptr || span->unit != time->unit) return;
    const double before = span->before - time->before;
    const double after = span->after - time->after;
    // Tracing lengthens kernels with very many short blocks, which affects only gpu_time.
    if (before < 0 || after < 0) return;
    add(evidence, launch_gap, span->unit, before, after);
}

void add_conflicts(Evidence& evidence) {
    const Figure* load = find(evidence, "bank_conflicts_load");
    const Figure* store = find(evidence, "bank_conflicts_store");
    const Figure* instructions = find(evidence, "instructions");
    if (load == nullptr || store == nullptr || instructions == nullptr) return;
    add(evidence, conflicts_per_instruction, "ratio",
        (load->before + store->before) / instructions->before,
        (load->after + store->after) / instructions->after);
}

void add_rounds(Evidence& evidence) {
    const Figure* waves = find(evidence, "waves");
    if (waves == nullptr) return;
    add(evidence, rounds_of_blocks, "count", std::ceil(waves->before), std::ceil(waves->after));
}

bool may_have_moved(const MetricVerdict& metric) {
    return metric.doubt != model::Doubt::not_shown && metric.baseline && metric.measured &&
           *metric.baseline > 0 && *metric.measured > 0 && *metric.baseline != *metric.measured &&
           (metric.verdict == Verdict::regressed || metric.verdict == Verdict::improved ||
            metric.verdict == Verdict::warned || metric.verdict == Verdict::inconclusive);
}

}  // namespace

const MetricVerdict* moved_time(const model::CaseVerdict& verdict) {
    for (const std::string_view name : model::time_metrics) {
        for (const MetricVerdict& metric : verdict.metrics) {
            if (metric.metric == name && may_have_moved(metric)) return &metric;
        }
    }
    return nullptr;
}

Evidence gather(const model::CaseVerdict& verdict, const model::CaseResult& result) {
    Evidence evidence;
    for (const auto& [name, before] : verdict.baseline_values) {
        const auto series = result.metrics.find(name);
        if (series == result.metrics.end()) continue;
        add(evidence, name, series->second.unit, before, series->second.value);
    }
    for (const MetricVerdict& metric : verdict.metrics) {
        if (!metric.baseline || !metric.measured) continue;
        add(evidence, metric.metric, metric.unit, *metric.baseline, *metric.measured);
    }
    for (const auto& [name, before] : verdict.baseline_details) {
        const auto figure = evidence.find(name);
        const auto series = result.metrics.find(name);
        if (figure == evidence.end() || series == result.metrics.end()) continue;
        const std::string& after = series->second.detail;
        // Nothing consists of nothing; of any other value the parts are not known.
        if (before.empty() && figure->second.before != 0) continue;
        if (after.empty() && figure->second.after != 0) continue;
        figure->second.detail = difference_of_details(before, after);
    }
    if (const MetricVerdict* time = moved_time(verdict)) {
        add_clock(*time, evidence);
        add_capped_clock(*time, result, evidence);
    }
    add_submission_share(evidence);
    add_launch_gap(evidence);
    add_conflicts(evidence);
    add_rounds(evidence);
    return evidence;
}

}  // namespace perfgate::explain
