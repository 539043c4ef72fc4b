// SPDX-License-Identifier: Apache-2.0
#include "explain/evidence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "model/host_time.hpp"
#include "util/text.hpp"

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
        if (!reading.state.sm_clock_mhz || std::ranges::find(reasons, power_cap) == reasons.end()) {
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
    const Figure* submission = entry(evidence, "submit_time");
    const Figure* time = entry(evidence, "gpu_time");
    if (submission == nullptr || time == nullptr || submission->unit != time->unit) return;
    add(evidence, submission_share, "%", 100 * submission->before / time->before,
        100 * submission->after / time->after);
}

void add_launch_gap(Evidence& evidence) {
    const Figure* span = entry(evidence, "gpu_span");
    const Figure* time = entry(evidence, "gpu_time");
    if (span == nullptr || time == nullptr || span->unit != time->unit) return;
    const double before = span->before - time->before;
    const double after = span->after - time->after;
    // Tracing lengthens kernels with very many short blocks, which affects only gpu_time.
    if (before < 0 || after < 0) return;
    constexpr double least_share = 0.1;
    if (std::fabs(after - before) < least_share * std::fabs(span->after - span->before)) return;
    add(evidence, launch_gap, span->unit, before, after);
}

void add_conflicts(Evidence& evidence) {
    const Figure* load = entry(evidence, "bank_conflicts_load");
    const Figure* store = entry(evidence, "bank_conflicts_store");
    const Figure* instructions = entry(evidence, "instructions");
    if (load == nullptr || store == nullptr || instructions == nullptr) return;
    add(evidence, conflicts_per_instruction, "ratio",
        (load->before + store->before) / instructions->before,
        (load->after + store->after) / instructions->after);
}

void add_rounds(Evidence& evidence) {
    const Figure* waves = entry(evidence, "waves");
    if (waves == nullptr) return;
    add(evidence, rounds_of_blocks, "count", std::ceil(waves->before), std::ceil(waves->after));
}

/// 64 for {64, 1, 1}.
double count_of(const std::array<std::int64_t, 3>& size) {
    return static_cast<double>(size[0]) * static_cast<double>(size[1]) *
           static_cast<double>(size[2]);
}

/// "32x8x1 → 8x8x1"; empty if both are of one dimension.
std::string shapes_text(const std::array<std::int64_t, 3>& before,
                        const std::array<std::int64_t, 3>& after) {
    const auto is_line = [](const auto& size) { return size[1] == 1 && size[2] == 1; };
    if (is_line(before) && is_line(after)) return {};
    return fmt::format("{} → {}", fmt::join(before, "x"), fmt::join(after, "x"));
}

void add_launch_size(const std::vector<model::Kernel>& before,
                     const std::vector<model::Kernel>& after, Evidence& evidence) {
    if (before.size() != after.size()) return;
    std::optional<std::size_t> longest;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (before[i].grid == after[i].grid && before[i].block == after[i].block) continue;
        if (!longest || after[i].duration_ns > after[*longest].duration_ns) longest = i;
    }
    if (!longest) return;
    const model::Kernel &was = before[*longest], &is = after[*longest];
    const auto add_size = [&](std::string_view name, const auto& left, const auto& right) {
        add(evidence, name, "count", count_of(left), count_of(right));
        const auto added = evidence.find(name);
        if (added != evidence.end()) added->second.detail = shapes_text(left, right);
    };
    add_size(threads_per_block, was.block, is.block);
    add_size(blocks_per_grid, was.grid, is.grid);
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
        const model::MetricSeries* series = entry(result.metrics, name);
        if (series != nullptr) add(evidence, name, series->unit, before, series->value);
    }
    for (const MetricVerdict& metric : verdict.metrics) {
        if (!metric.baseline || !metric.measured) continue;
        add(evidence, metric.metric, metric.unit, *metric.baseline, *metric.measured);
    }
    for (const auto& [name, before] : verdict.baseline_details) {
        const auto figure = evidence.find(name);
        const model::MetricSeries* series = entry(result.metrics, name);
        if (figure == evidence.end() || series == nullptr) continue;
        std::string_view after = series->detail, own = before;
        if (model::contains_host_time(name)) {
            after = model::without_host(after);
            own = model::without_host(own);
        }
        // Nothing consists of nothing; of any other value the parts are not known.
        if (own.empty() && figure->second.before != 0) continue;
        if (after.empty() && figure->second.after != 0) continue;
        figure->second.detail = difference_of_details(own, after);
    }
    if (const MetricVerdict* time = moved_time(verdict)) {
        add_clock(*time, evidence);
        add_capped_clock(*time, result, evidence);
    }
    add_submission_share(evidence);
    add_launch_gap(evidence);
    add_launch_size(verdict.baseline_kernels, result.kernels, evidence);
    add_conflicts(evidence);
    add_rounds(evidence);
    return evidence;
}

namespace {

/// Each part of a list and how often it is there. A part is a name, or a name and a range:
/// "cudaMalloc", "cudaMalloc in forward".
struct Parts {
    std::map<std::string, double, std::less<>> counts;
    /// " at blend.cu:57": where most of a part are, which does not tell parts apart.
    std::map<std::string, std::string, std::less<>> places;
    bool complete = true;
};

std::optional<double> number_in(std::string_view text) {
    const auto number = util::parsed<double>(text);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Adds "cudaMalloc 0.5 in forward", "LDG.E 32 at blend.cu:57"; false if it is something else.
bool add_part(std::string_view text, Parts& parts) {
    const std::size_t name = text.find(' ');
    if (name == 0 || name == std::string_view::npos) return false;
    const std::size_t end = std::min(text.find(' ', name + 1), text.size());
    const auto count = number_in(text.substr(name + 1, end - name - 1));
    const std::string_view place = text.substr(end);
    if (!count || !(place.empty() || place.starts_with(" in ") || place.starts_with(" at "))) {
        return false;
    }
    std::string part(text.substr(0, name));
    if (place.starts_with(" at ")) {
        parts.places[part] = place;
    } else {
        part += place;
    }
    parts.counts[part] += *count;
    return true;
}

/// Takes " and 3 more" from the end.
bool take_rest(std::string_view& list) {
    constexpr std::string_view begin = " and ", end = " more";
    const std::size_t at = list.rfind(begin);
    if (at == std::string_view::npos || !list.ends_with(end)) return false;
    const std::size_t number = at + begin.size();
    if (number + end.size() > list.size()) return false;
    if (!number_in(list.substr(number, list.size() - end.size() - number))) return false;
    list = list.substr(0, at);
    return true;
}

std::optional<Parts> parts_of(std::string_view list) {
    Parts parts;
    parts.complete = !take_rest(list);
    while (!list.empty()) {
        constexpr std::string_view separator = ", ";
        const std::size_t end = std::min(list.find(separator), list.size());
        if (!add_part(list.substr(0, end), parts)) return std::nullopt;
        list.remove_prefix(std::min(end + separator.size(), list.size()));
    }
    return parts;
}

struct Difference {
    std::string name;
    double before = 0, after = 0;
    [[nodiscard]] double size() const { return std::fabs(after - before); }
};

/// Means over instances are no whole numbers.
std::string count_text(double count) {
    return count == std::floor(count) ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count);
}

/// Nothing if a shortened list leaves it out.
std::optional<double> count_in(const Parts& parts, std::string_view name) {
    if (const double* count = entry(parts.counts, name)) return *count;
    return parts.complete ? std::optional<double>(0) : std::nullopt;
}

}  // namespace

std::string difference_of_details(std::string_view before, std::string_view after) {
    constexpr std::size_t most = 6, longest_name = 120;
    const auto was = parts_of(before), is = parts_of(after);
    if (!was || !is) return {};
    std::map<std::string, double, std::less<>> names = was->counts;
    names.insert(is->counts.begin(), is->counts.end());
    std::vector<Difference> differences;
    for (const auto& [name, ignored] : names) {
        const auto left = count_in(*was, name), right = count_in(*is, name);
        if (left && right && *left != *right) differences.push_back({name, *left, *right});
    }
    std::ranges::stable_sort(differences,
                             [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::string text;
    for (std::size_t i = 0; i < std::min(differences.size(), most); ++i) {
        const Difference& one = differences[i];
        text +=
            fmt::format("{}{} {} → {}", i == 0 ? "" : ", ", util::printable(one.name, longest_name),
                        count_text(one.before), count_text(one.after));
        const std::string* place = entry(is->places, one.name);
        if (one.after > one.before && place != nullptr) {
            text += util::printable(*place, longest_name);
        }
    }
    if (differences.size() > most) {
        text += fmt::format(" and {} more", differences.size() - most);
    }
    return text;
}

namespace {

using model::KernelChangeKind;

std::string_view rule_of(KernelChangeKind kind) {
    return util::word_of<KernelChangeKind::shorter>(
        kind, {"kernel_replaced", "kernel_added", "kernel_removed", "kernel_more_often",
               "kernel_less_often", "kernel_longer", "kernel_shorter"});
}

std::vector<model::KernelUse> uses_of(const std::vector<model::Kernel>& kernels) {
    std::vector<model::KernelUse> uses;
    uses.reserve(kernels.size());
    for (const model::Kernel& each : kernels) {
        uses.push_back({each.name, each.launches, each.time_ns});
    }
    return uses;
}

}  // namespace

std::vector<model::KernelChange> kernel_changes(const std::vector<model::Kernel>& before,
                                                const std::vector<model::Kernel>& after,
                                                std::optional<double> moved_ns) {
    if (before.empty() || after.empty()) return {};
    return model::kernel_changes(uses_of(before), uses_of(after), moved_ns);
}

model::Cause cause_of(const model::KernelChange& change, std::string_view instance) {
    model::Cause cause{std::string(rule_of(change.kind)), sentence_of(change, instance)};
    cause.brief = cause.sentence;
    cause.figures = {{"kernel_time", "ns", time_of(change.before), time_of(change.after)},
                     {"kernels", "count", launches_of(change.before), launches_of(change.after)}};
    return cause;
}

}  // namespace perfgate::explain
