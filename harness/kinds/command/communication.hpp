// SPDX-License-Identifier: Apache-2.0
// What the processes of a program communicate with each other, and how long they wait for each
// other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kinds/command/instances.hpp"
#include "kinds/command/recorded.hpp"

namespace perfgate::command {

/// Samples are one for each instance; the n-th instance of each process belongs to the n-th of the
/// others. The part of a program that counts is one instance.
struct Communication {
    std::size_t processes = 0;  ///< with communication kernels

    /// ns: the median over the instance's communications, from the process that begins first to the
    /// one that begins last. Instances without any have none.
    std::vector<double> skews;
    /// ns: the longest span of a process, without the time in which it did nothing but wait for a
    /// process that began a communication later.
    std::vector<double> own_spans;
    std::string last;     ///< which process began last, how often, how late
    std::string problem;  ///< why there are none of these; empty: there are some

    /// Of all processes and instances, from NCCL's calls.
    double calls = 0, bytes = 0;
    std::string sizes;        ///< "AllReduce of 4.00 MB × 2": what that was, per instance
    std::string not_counted;  ///< why there are no calls and bytes; empty: there are
    /// bytes/s: what crosses a link of a process, by nccl-tests' formulas, in the time without
    /// waiting.
    std::vector<double> bus_bandwidths;
    std::string no_bandwidth;  ///< why there are none; empty: there are some
};

Communication communication_of(const Recorded& recorded);
Communication communication_of(const Recorded& recorded, const std::vector<Instance>& instances);

}  // namespace perfgate::command
