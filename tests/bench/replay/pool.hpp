// SPDX-License-Identifier: Apache-2.0
// Recorded timing samples: the same code measured in many processes, from which the study draws
// baselines and runs in which nothing changed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace perfgate::replay {

struct Process {
    std::string board;
    std::size_t session = 0;      ///< processes of one session ran one after the other
    std::vector<double> samples;  ///< in ns
    double value = 0;             ///< of the samples, as the gate's rule takes it
};

/// The processes of one kernel on all boards of one device, in the order of recording.
struct Kernel {
    std::string device, name;
    std::vector<Process> processes;
};

/// The kernels of the files, in the order in which they come up. A file is one of
/// - a CSV with one row per process and kernel, "process,kernel,sample,sample,…", in microseconds:
///   one session of one board, which only the file's name tells;
/// - a table with the header "board;session;kernel;…" and one row per board, session and kernel, of
///   one value per process in microseconds; the board is "DEVICE BOARD";
/// - a Run or a Baseline, whose cases are the kernels and whose batches of gpu_time (gpu_span or
///   host_time where there is none) are the processes. A document is a session; each run of a
///   baseline is one.
/// Throws util::InputError.
std::vector<Kernel> read_kernels(const std::vector<std::string>& files);

}  // namespace perfgate::replay
