// SPDX-License-Identifier: Apache-2.0
// Which kernels of a program counters are collected for, as it is passed to the injection library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/launch_size.hpp"

namespace perfgate::inject {

struct CounterLabel {
    std::string kernel;        ///< glob of the name, as C++ writes it or as the machine code has it
    std::string within;        ///< glob of NVTX ranges in which it is launched; empty: anywhere
    bool own_thread = false;   ///< a range contains only launches of its own thread
    std::uint64_t skip = 0;    ///< launches, or ranges, of the process that are left out at first
    std::uint64_t count = 1;   ///< launches that are counted after that
    model::LaunchSize size{};  ///< only launches of this size

    bool operator==(const CounterLabel&) const = default;
};

struct CounterRequest {
    std::vector<CounterLabel> labels;
    /// CUPTI's names, each with its alternatives: the first that the chip has is counted.
    std::vector<std::vector<std::string>> counters;
    std::uint32_t pass = 0;  ///< the one that this process collects

    bool operator==(const CounterRequest&) const = default;
};

/// The value of an environment variable.
std::string to_text(const CounterRequest& request);
/// Nothing for anything else.
std::optional<CounterRequest> counter_request_from(std::string_view text);

}  // namespace perfgate::inject
