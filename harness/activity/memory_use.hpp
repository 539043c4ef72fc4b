// SPDX-License-Identifier: Apache-2.0
// How much device memory a process held over time, from its allocations and releases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "activity/recording.hpp"
#include "model/interval.hpp"

namespace perfgate::activity {

/// Device memory, managed memory and arrays that the process allocates through CUDA; of pools, what
/// is allocated from them. The variables of modules, memory of graphs and of the driver's own are
/// not in it.
class MemoryUse {
  public:
    explicit MemoryUse(const Recording& recording);

    /// Why it is not known; empty: it is.
    [[nodiscard]] const std::string& problem() const { return problem_; }
    /// Whether the process allocated any; else what follows is 0.
    [[nodiscard]] bool any() const { return !devices_.empty(); }
    /// The most bytes of a device at a moment of the interval, its begin included.
    [[nodiscard]] std::uint64_t peak(std::uint32_t device, model::Interval time) const;
    /// The same of the device that has the most.
    [[nodiscard]] std::uint64_t peak(model::Interval time) const;

  private:
    struct Change {
        std::uint64_t time_ns = 0;
        std::uint64_t bytes = 0;  ///< held from then on
    };
    void follow(const Recording& recording);

    std::map<std::uint32_t, std::vector<Change>> devices_;  ///< by time
    std::string problem_;
};

}  // namespace perfgate::activity
