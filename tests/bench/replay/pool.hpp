// SPDX-License-Identifier: Apache-2.0
// Pools of recorded timing samples: the same code measured in many processes, from which the study
// draws baselines and runs in which nothing changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perfgate::replay {

/// One kernel's samples per process, in ns, in the order of recording.
struct Kernel {
    std::string name;
    std::vector<std::vector<double>> processes;
    std::vector<double> values;  ///< of each process, as the gate's rule takes it
};

/// What was recorded on one board.
struct Pool {
    std::string name;
    std::vector<Kernel> kernels;
};

/// Either a CSV with one row per process and kernel, "process,kernel,sample,sample,…", samples in
/// microseconds, or a Run document, whose cases are the kernels and whose batches of gpu_time
/// (gpu_span or host_time where there is none) are the processes: what `perfgate run` writes serves
/// as it is. Kernels with fewer than `least_processes` are left out. Throws model::InputError.
Pool parse_pool(std::string_view text, std::string_view source);
Pool read_pool(const std::string& file);  ///< "-": standard input

inline constexpr std::size_t least_processes = 10;

}  // namespace perfgate::replay
