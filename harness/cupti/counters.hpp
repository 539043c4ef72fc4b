// SPDX-License-Identifier: Apache-2.0
// Hardware counters: CUPTI's Host API, which knows the counters of a chip, and its Range Profiler,
// which collects them on a device. What is collected, and around which launches, the caller says.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cupti/api.hpp"

namespace perfgate::cupti {

/// As CUPTI takes names. They must outlive the pointers.
std::vector<const char*> pointers(const std::vector<std::string>& names);

/// Counters of one chip that are configured together. Adding a name that is refused makes the
/// object unusable. All functions throw Error; the Api outlives it.
class HostObject {
  public:
    /// `availability`: what the device can count; empty: whatever the chip has.
    HostObject(const Api& api, const std::string& chip,
               const std::vector<std::uint8_t>& availability,
               CUpti_ProfilerType type = CUPTI_PROFILER_TYPE_RANGE_PROFILER);
    ~HostObject();
    HostObject& operator=(HostObject&&) = delete;  // nor copied

    [[nodiscard]] CUptiResult add(const std::vector<std::string>& names) const;
    /// CUPTI's description; nothing is thrown for a name that it does not know.
    CUptiResult properties(const std::string& name,
                           CUpti_Profiler_Host_GetMetricProperties_Params& params) const;
    /// The configuration of what was added.
    [[nodiscard]] std::vector<std::uint8_t> image() const;
    /// The passes that a configuration takes.
    [[nodiscard]] std::size_t passes(std::vector<std::uint8_t>& image) const;
    /// The values of one range of the counter data, by name; NaN where the unit was shared or not
    /// available. CUPTI does not check the number of the range.
    [[nodiscard]] std::vector<double> evaluate(std::span<const std::uint8_t> counter_data,
                                               std::size_t range,
                                               const std::vector<std::string>& names) const;
    [[nodiscard]] CUpti_Profiler_Host_Object* get() const { return object_; }

  private:
    const Api& api_;
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

/// Throws util::Error with the reason if the device has no counters that can be read.
void require_counters(const Api& api, CUdevice device);
/// What the context's device can count: the definitive test for permission, because enabling a
/// session succeeds even without it.
std::vector<std::uint8_t> availability_of(const Api& api, CUcontext context);
/// "GH100".
std::string chip_of(const Api& api, std::size_t device);

/// Counting is enabled on the context's device during its lifetime; the caller repeats the work
/// (user replay). All functions but the destructor and stop_quietly() throw Error.
/// CUPTI 12 counts automatic ranges only inside of a pushed one (seen with 12.6 and 12.9): start()
/// and stop() push and pop one.
class RangeSession {
  public:
    RangeSession(const Api& api, CUcontext context);
    ~RangeSession();
    RangeSession& operator=(RangeSession&&) = delete;  // nor copied

    [[nodiscard]] std::size_t data_bytes(const std::vector<std::string>& names,
                                         std::size_t ranges) const;
    /// `configuration`: HostObject::image(); it and `data` outlive what follows. Sizes `data`.
    void configure(const std::vector<std::string>& names,
                   const std::vector<std::uint8_t>& configuration, CUpti_ProfilerRange range,
                   std::size_t ranges, std::vector<std::uint8_t>& data) const;
    void start() const;
    /// Whether that was the last pass.
    [[nodiscard]] bool stop() const;
    void stop_quietly() const noexcept;

    struct Ranges {
        std::size_t total = 0, dropped = 0;
    };
    /// After the last pass: `data` can be evaluated.
    [[nodiscard]] Ranges decode(const std::vector<std::uint8_t>& data) const;

    [[nodiscard]] CUpti_RangeProfiler_Object* get() const { return object_; }

  private:
    [[nodiscard]] bool pushes() const { return automatic_ && api_.counts_in_pushed_ranges(); }

    const Api& api_;
    CUpti_RangeProfiler_Object* object_ = nullptr;
    mutable bool automatic_ = false;
};

}  // namespace perfgate::cupti
