// SPDX-License-Identifier: Apache-2.0
// Samples of the devices that the program uses, as records (`device_samples`).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "activity/writer.hpp"
#include "cupti/device_sampling.hpp"

namespace perfgate::inject {

/// The counters of each activity::SampledMetric, for all chips.
const cupti::CounterRows& sampled_counters();

class DeviceSampler {
  public:
    static constexpr int step_ms = 20;

    DeviceSampler(const cupti::Api& api, activity::Writer& writer) : api_(api), writer_(writer) {}

    /// A context of the device exists: from the next launch on it is sampled.
    void add(std::uint32_t device) noexcept { wanted_ |= std::uint64_t{1} << (device % 64); }
    /// Called before each launch, copy and memset. Before the first one with a device it waits
    /// until that is sampled, but not for longer than a few seconds.
    void hold() noexcept;
    /// Every step_ms or so: begins the samples of one new device, and writes what has come.
    void step();
    /// Ends all samples and writes the rest. No step does anything from here on.
    void finish();

  private:
    using Time = std::chrono::steady_clock::time_point;

    void begin(std::uint32_t device);
    /// False if some are left.
    bool read(std::uint32_t device, cupti::DeviceSampling& sampling, Time until);
    void fail(std::uint32_t device, const std::string& why);

    const cupti::Api& api_;
    activity::Writer& writer_;
    std::atomic<std::uint64_t> wanted_{0};
    std::atomic<std::uint64_t> settled_{0};  ///< sampled, or it was waited for in vain
    std::mutex hold_mutex_;
    std::condition_variable settles_;
    std::atomic<bool> launched_{false};
    std::timed_mutex mutex_;
    std::map<std::uint32_t, std::unique_ptr<cupti::DeviceSampling>> devices_;  ///< null: it ended
    std::atomic<bool> over_{false};
};

}  // namespace perfgate::inject
