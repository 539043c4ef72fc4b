// SPDX-License-Identifier: Apache-2.0
// What the devices of a process measured while something ran: means of their samples. A sample is
// of the whole device, whatever process used it. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "activity/profile.hpp"
#include "activity/timeline.hpp"

namespace perfgate::activity {

/// A row of a drawing, and a column of ranges: one sampled metric, or the sum of two.
struct SampledRow {
    std::string_view name;
    std::string_view label;
    bool is_share = true;  ///< in % of the peak; else in bytes/s
    SampledMetric first = SampledMetric::sm_active;
    std::optional<SampledMetric> second{};

    /// "pcie_bytes_per_s": its mean over time; a metric of this name has the bytes of an instance.
    [[nodiscard]] std::string mean_name() const {
        return std::string(name) + (is_share ? "" : "_per_s");
    }
};

std::span<const SampledRow> sampled_rows();

/// In the row's unit; nothing if it was not sampled.
std::optional<double> value_of(const SampledRow& row, const DeviceSample& sample);

class DeviceSamples {
  public:
    /// Of the devices on which the process worked.
    explicit DeviceSamples(const Timeline& timeline);

    [[nodiscard]] bool any() const;
    /// ns: since when all devices with samples are sampled; 0 without any.
    [[nodiscard]] std::uint64_t begin() const;
    /// By device, in the order of time.
    [[nodiscard]] const std::map<std::uint32_t, std::vector<DeviceSample>>& by_device() const {
        return by_device_;
    }

    /// A sample across an end of a window is also about what was beside it. For means it is left
    /// out; a sum of bytes, or a picture with columns shorter than samples, takes its part.
    enum class Across { left_out, in_part };
    /// Over all windows: shares are means over the devices, rates are added up. Nothing if the row
    /// was not sampled, or in less than this share of the devices' time, or if the samples that
    /// count are less than half of it.
    [[nodiscard]] std::optional<SampledMean> over(const SampledRow& row,
                                                  std::span<const Interval> windows,
                                                  double least_covered = 0.5,
                                                  Across across = Across::left_out) const;

  private:
    std::map<std::uint32_t, std::vector<DeviceSample>> by_device_;
};

/// Fills `sampled` of the profile and of its ranges, whose other members are set.
void add_samples(const Timeline& timeline, Profile& profile);

}  // namespace perfgate::activity
