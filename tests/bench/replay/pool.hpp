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

/// A pool for each board in the files, in the order in which they come up. A file is either a CSV
/// with one row per process and kernel, "process,kernel,sample,sample,…", samples in microseconds,
/// of a board that only its name tells; or a Run or a Baseline, whose cases are the kernels and
/// whose batches of gpu_time (gpu_span or host_time where there is none) are the processes: what
/// perfgate writes serves as it is. A baseline and runs of the same code on the same board, in the
/// order in which they were measured, make one longer series. Kernels with fewer than
/// `least_processes` are left out. Throws model::InputError.
std::vector<Pool> read_pools(const std::vector<std::string>& files);

inline constexpr std::size_t least_processes = 10;

}  // namespace perfgate::replay
