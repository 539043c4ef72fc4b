// SPDX-License-Identifier: Apache-2.0
#include "activity/samples.hpp"

#include <algorithm>
#include <array>

namespace perfgate::activity {
namespace {

/// A share below this is low, in % of the peak.
constexpr double low_share = 50;
/// Samples that count must cover this share of the windows' time.
constexpr double least_counted = 0.5;

using Metric = SampledMetric;
constexpr std::array catalogue{
    SampledRow{"sm_active", "SMs active", true, Metric::sm_active},
    SampledRow{"tensor_active", "tensor pipe active", true, Metric::tensor_active},
    SampledRow{"dram_bandwidth", "DRAM bandwidth", true, Metric::dram_read, Metric::dram_write},
    SampledRow{"l2_throughput", "L2 throughput", true, Metric::l2_throughput},
    SampledRow{"pcie_bytes", "PCIe", false, Metric::pcie_read, Metric::pcie_write},
    SampledRow{"nvlink_bytes", "NVLink", false, Metric::nvlink_received, Metric::nvlink_sent},
};

}  // namespace

std::span<const SampledRow> sampled_rows() {
    return catalogue;
}

std::optional<double> value_of(const SampledRow& row, const DeviceSample& sample) {
    const float first = sample.value(row.first);
    const float second = row.second ? sample.value(*row.second) : 0;
    if (first < 0 || second < 0) return std::nullopt;
    return static_cast<double>(first) + static_cast<double>(second);
}

DeviceSamples::DeviceSamples(const Timeline& timeline) {
    for (const Work& work : timeline.work()) by_device_.try_emplace(timeline.place(work).device);
    for (const DeviceSample& sample : timeline.recording().records.device_samples) {
        const auto worked = by_device_.find(sample.device);
        if (worked != by_device_.end()) worked->second.push_back(sample);
    }
    for (auto& [device, samples] : by_device_) {
        std::ranges::stable_sort(samples, {}, &DeviceSample::end_ns);
    }
}

bool DeviceSamples::any() const {
    return std::ranges::any_of(by_device_,
                               [](const auto& device) { return !device.second.empty(); });
}

std::uint64_t DeviceSamples::begin() const {
    std::uint64_t begin = 0;
    for (const auto& [device, samples] : by_device_) {
        if (!samples.empty()) begin = std::max(begin, samples.front().start_ns);
    }
    return begin;
}

std::optional<SampledMean> DeviceSamples::over(const SampledRow& row,
                                               std::span<const Interval> windows,
                                               double least_covered, Across across) const {
    double length = 0, covered = 0, counted = 0, weighted = 0, low = 0;
    for (const auto& [device, samples] : by_device_) {
        for (const Interval& window : windows) {
            length += static_cast<double>(window.length());
            auto sample =
                std::ranges::upper_bound(samples, window.begin, {}, &DeviceSample::end_ns);
            for (; sample != samples.end() && sample->start_ns < window.end; ++sample) {
                const auto value = value_of(row, *sample);
                if (!value) return std::nullopt;
                const Interval own{sample->start_ns, sample->end_ns};
                const Interval within = intersection(own, window);
                const auto part = static_cast<double>(within.length());
                covered += part;
                if (within != own && across == Across::left_out) continue;
                counted += part;
                weighted += part * *value;
                if (*value < low_share) low += part;
            }
        }
    }
    if (covered < least_covered * length || counted < least_counted * length || counted == 0) {
        return std::nullopt;
    }
    const double devices = row.is_share ? 1 : static_cast<double>(by_device_.size());
    return SampledMean{devices * weighted / counted, row.is_share ? low / counted : 0};
}

void add_samples(const Timeline& timeline, Profile& profile) {
    const DeviceSamples samples(timeline);
    if (!samples.any()) return;
    const auto means = [&](std::span<const Interval> windows) {
        SampledMeans found;
        for (const SampledRow& row : catalogue) {
            if (const auto mean = samples.over(row, windows)) found[row.mean_name()] = *mean;
        }
        return found;
    };
    profile.sampled = means(profile.windows);
    for (RangeSummary& range : profile.ranges) {
        std::vector<Interval> windows;
        for (const RangeInstance& instance : range.instances) {
            windows.push_back(instance.work.window);
        }
        range.sampled = means(windows);
    }
}

}  // namespace perfgate::activity
