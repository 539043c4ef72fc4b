// SPDX-License-Identifier: Apache-2.0
// Divides counters into groups that the hardware counts in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "inject/cupti_library.hpp"

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
    /// `availability`: what the device can count. Throws NotCounted.
    CounterHost(const CounterApi& api, std::string chip, std::vector<std::uint8_t> availability);

    /// The same for the same request in each process. Throws NotCounted.
    [[nodiscard]] CounterGroups groups_of(
        const std::vector<std::vector<std::string>>& counters) const;

    /// The configuration of counters that go into one pass. Throws NotCounted.
    [[nodiscard]] std::vector<std::uint8_t> configuration(
        const std::vector<std::string>& group) const;

    /// The values of the only range of the counter data. Throws NotCounted.
    [[nodiscard]] std::vector<double> evaluate(const std::vector<std::uint8_t>& counter_data,
                                               const std::vector<std::string>& group) const;

  private:
    class Object;
    [[nodiscard]] bool exists(const std::string& counter) const;
    /// Passes of these counters together; 0 if one configuration cannot have all of them.
    [[nodiscard]] std::size_t passes(const std::vector<std::string>& group) const;

    const CounterApi& api_;
    std::string chip_;
    std::vector<std::uint8_t> availability_;
};

}  // namespace perfgate::inject
