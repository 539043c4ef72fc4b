// SPDX-License-Identifier: Apache-2.0
// How far apart the processes of a program begin the communication kernels that they run together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kinds/command/instances.hpp"
#include "kinds/command/recorded.hpp"

namespace perfgate::command {

struct CommunicationSkew {
    /// For each instance with communication kernels, ns: the median over its kernels, from the
    /// process that begins the kernel first to the one that begins it last.
    std::vector<double> samples;
    std::size_t processes = 0;  ///< with communication kernels
    std::string problem;        ///< why there are no samples; empty: there are some
};

/// Of the part of the program that counts, which is one instance.
CommunicationSkew communication_skew(const Recorded& recorded);

/// Of ranges: the n-th instance of each process belongs to the n-th of the others.
CommunicationSkew communication_skew(const Recorded& recorded,
                                     const std::vector<Instance>& instances);

}  // namespace perfgate::command
