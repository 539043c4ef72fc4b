// SPDX-License-Identifier: Apache-2.0
// Collects the counters of one pass around single launches, with CUPTI's Range Profiler: nothing is
// replayed and no memory is saved, so the program computes what it would compute anyway.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inject/counter_groups.hpp"
#include "inject/cupti_library.hpp"

namespace perfgate::inject {

/// For one context. The caller has finished all earlier work of the context before start(), and the
/// launch before stop().
class LaunchCounter {
  public:
    /// Prepares the pass of this number. Throws NotCounted.
    LaunchCounter(const CounterApi& api, CUcontext context,
                  const std::vector<std::vector<std::string>>& counters, std::uint32_t pass);
    ~LaunchCounter();
    LaunchCounter(const LaunchCounter&) = delete;
    LaunchCounter& operator=(const LaunchCounter&) = delete;

    [[nodiscard]] CUcontext context() const { return context_; }
    [[nodiscard]] const std::string& chip() const { return chip_; }
    [[nodiscard]] const CounterGroups& groups() const { return groups_; }
    /// The counters of the pass; empty if there is none of its number.
    [[nodiscard]] const std::vector<std::string>& counters() const { return own_; }

    /// Immediately before the launch. Throws NotCounted; then nothing was started.
    void start();
    /// Immediately after it: the values of counters(); NaN where the unit is shared or not
    /// available. Throws NotCounted.
    std::vector<double> stop();
    /// Instead of stop(), if the launch failed.
    void give_up() noexcept;

  private:
    const CounterApi& api_;
    CUcontext context_;
    std::string chip_;
    std::optional<CounterHost> host_;
    CounterGroups groups_;
    std::vector<std::string> own_;
    std::vector<std::uint8_t> configuration_;
    std::vector<std::uint8_t> image_;
    CUpti_RangeProfiler_Object* profiler_ = nullptr;
    bool started_ = false;
};

}  // namespace perfgate::inject
