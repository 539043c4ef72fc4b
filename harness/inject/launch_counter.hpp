// SPDX-License-Identifier: Apache-2.0
// Divides counters into groups that the hardware counts in one pass, and collects one group around
// single launches, with CUPTI's Range Profiler: nothing is replayed and no memory is saved, so the
// program computes what it would compute anyway.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cupti/counters.hpp"

namespace perfgate::inject {

struct CounterGroups {
    std::vector<std::vector<std::string>> groups;  ///< each is one pass
    std::vector<std::string> absent;               ///< the chip does not have them
    /// These need that many passes each, so no process can count them.
    std::vector<std::pair<std::string, std::size_t>> several_passes;
};

/// What CUPTI knows about the counters of a chip.
class CounterHost {
  public:
    /// `availability`: what the device can count. Throws util::Error.
    CounterHost(const cupti::Api& api, std::string chip, std::vector<std::uint8_t> availability);

    /// The same for the same request in each process. Throws util::Error.
    [[nodiscard]] CounterGroups groups_of(
        const std::vector<std::vector<std::string>>& counters) const;

    /// The configuration of counters that go into one pass. Throws util::Error.
    [[nodiscard]] std::vector<std::uint8_t> configuration(
        const std::vector<std::string>& group) const;

    /// The values of the only range of the counter data. Throws util::Error.
    [[nodiscard]] std::vector<double> evaluate(const std::vector<std::uint8_t>& counter_data,
                                               const std::vector<std::string>& group) const;

  private:
    [[nodiscard]] bool exists(const std::string& counter) const;
    /// Passes of these counters together; 0 if one configuration cannot have all of them.
    [[nodiscard]] std::size_t passes(const std::vector<std::string>& group) const;

    const cupti::Api& api_;
    std::string chip_;
    std::vector<std::uint8_t> availability_;
};

/// For one context. The caller has finished all earlier work of the context before start(), and the
/// launch before stop().
class LaunchCounter {
  public:
    /// Prepares the pass of this number. Throws util::Error.
    LaunchCounter(const cupti::Api& api, CUcontext context,
                  const std::vector<std::vector<std::string>>& counters, std::uint32_t pass);
    ~LaunchCounter();
    LaunchCounter& operator=(LaunchCounter&&) = delete;  // nor copied

    [[nodiscard]] CUcontext context() const { return context_; }
    [[nodiscard]] const std::string& chip() const { return chip_; }
    [[nodiscard]] const CounterGroups& groups() const { return groups_; }
    /// The counters of the pass; empty if there is none of its number.
    [[nodiscard]] const std::vector<std::string>& counters() const { return own_; }

    /// Immediately before the launch. Throws util::Error; then nothing was started.
    void start();
    /// Immediately after it: the values of counters(); NaN where the unit is shared or not
    /// available. Throws util::Error.
    std::vector<double> stop();
    /// Instead of stop(), if the launch failed.
    void give_up() noexcept;

  private:
    const cupti::Api& api_;
    CUcontext context_;
    std::string chip_;
    std::optional<CounterHost> host_;
    CounterGroups groups_;
    std::vector<std::string> own_;
    std::vector<std::uint8_t> configuration_;
    std::vector<std::uint8_t> image_;
    std::optional<cupti::RangeSession> session_;
    bool started_ = false;
};

}  // namespace perfgate::inject
