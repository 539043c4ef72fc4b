// SPDX-License-Identifier: Apache-2.0
// Where a run happened: enough to say whether two runs may be compared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace perfgate::model {

/// What keys a baseline (`key`) and what identifies one board of that key (`board`).
struct Device {
    /// Slug of the name, MIG profile appended: "nvidia-h100-80gb-hbm3". For programs that use
    /// several GPUs, with their number: "nvidia-h100-80gb-hbm3-x2".
    std::string key;
    std::string name;                ///< as the driver spells it
    std::string chip;                ///< CUPTI's chip name ("GH100"); empty on the host
    std::string compute_capability;  ///< "9.0"; empty on the host
    std::uint64_t memory_bytes = 0;
    std::string mig_profile;  ///< empty if MIG is off
    std::string board;  ///< hash of the UUID: the same board has the same text, no serial leaks
    std::int64_t multiprocessors = 0;  ///< SMs, or logical cores on the host
    std::uint64_t l2_bytes = 0;

    bool operator==(const Device&) const = default;
};

/// A reading of the board's state. Absent if NVML does not report it.
struct BoardState {
    std::optional<double> sm_clock_mhz, memory_clock_mhz, max_sm_clock_mhz, max_memory_clock_mhz;
    std::optional<double> temperature_c, power_w, power_limit_w;
    std::vector<std::string> throttle_reasons;  ///< in words; empty: none, or not reported
    std::optional<bool> persistence_mode, ecc;
    std::vector<std::string> other_processes;  ///< "pid 1234 (512 MiB)"

    bool operator==(const BoardState&) const = default;
};

/// The best that the device achieved in this run, as a reference for its cases. Empty if
/// nothing was measured (the host backend).
struct Ceilings {
    double copy_bytes_per_s = 0;  ///< device-to-device copy, bytes read plus bytes written; 0: none
    /// The vendor's matrix product, by arithmetic type ("f32", "tf32", "f16", "bf16", "fp8").
    std::map<std::string, double> matrix_flops_per_s;
    std::string problem;  ///< why a rate is missing, with the remedy
    /// What all NVLinks of the device carry in one direction, as NVML states it; 0: it has none.
    double link_bytes_per_s = 0;

    bool operator==(const Ceilings&) const = default;
};

struct Environment {
    Device device;
    std::string driver;           ///< "580.159.04"
    std::string cuda_driver;      ///< newest CUDA the driver knows, "13.0"
    std::string cuda_toolkit;     ///< CUDA that the backend was built with, "13.0"
    std::string cupti;            ///< CUPTI API version, "130001"
    std::string os, kernel, cpu;  ///< "Ubuntu 24.04", "6.8.0", "AMD EPYC 9654"
    std::int64_t cores = 0;
    BoardState before, after;
    Ceilings ceilings;

    bool operator==(const Environment&) const = default;
};

}  // namespace perfgate::model
