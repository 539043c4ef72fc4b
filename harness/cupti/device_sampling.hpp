// SPDX-License-Identifier: Apache-2.0
// CUPTI's PM sampling: what a whole device measures about itself at regular times, whatever runs on
// it. Only counters that the hardware counts in one pass can be sampled together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cupti/counters.hpp"

namespace perfgate::cupti {

/// For each row its possible counters, the best first.
using CounterRows = std::vector<std::vector<std::string>>;

/// For each row the counter that goes into one pass with those of the rows before it, on this chip;
/// empty if there is none. Throws Error.
std::vector<std::string> one_pass(const Api& api, const std::string& chip,
                                  const std::vector<std::uint8_t>& availability,
                                  const CounterRows& rows);

/// Samples the device during its lifetime. All functions but the destructor throw util::Error.
class DeviceSampling {
  public:
    /// After load_sampling(); the Api outlives it. `device`: as CUDA numbers it.
    DeviceSampling(const Api& api, std::size_t device, const CounterRows& rows,
                   std::uint64_t interval_ns);
    ~DeviceSampling();
    DeviceSampling& operator=(DeviceSampling&&) = delete;  // nor copied

    /// The chosen counters by row; empty: the row is not sampled.
    [[nodiscard]] const std::vector<std::string>& counters() const { return counters_; }
    [[nodiscard]] std::chrono::nanoseconds interval() const { return interval_; }

    /// Times are those of activity records. `values`: one for each chosen counter, in their order.
    using Visit = std::function<void(std::uint64_t start_ns, std::uint64_t end_ns,
                                     std::span<const double> values)>;
    enum class Rest {
        none,
        some,  ///< for the next call
        lost,  ///< the buffer overflowed, and there are no more samples
    };
    /// What was sampled since the last call, as far as it can be read until then.
    [[nodiscard]] Rest read(const Visit& visit, std::chrono::steady_clock::time_point until);
    /// After it, read() gives the rest.
    void stop();

  private:
    void configure();
    void make_room(std::uint32_t samples);
    void clear_data();

    const Api& api_;
    std::chrono::nanoseconds interval_;
    std::chrono::steady_clock::time_point read_;  ///< for the last time
    std::uint32_t room_ = 0;                      ///< samples that fit in `data_`
    std::vector<std::string> counters_, chosen_;
    std::optional<HostObject> host_;
    CUpti_PmSampling_Object* object_ = nullptr;
    std::vector<std::uint8_t> configuration_, data_;
    bool running_ = false;
};

}  // namespace perfgate::cupti
