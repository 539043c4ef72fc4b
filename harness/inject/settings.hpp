// SPDX-License-Identifier: Apache-2.0
// Settings of the injection library, passed through the environment of the recorded program. Both
// the process that starts it and the library inside it use this file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace perfgate::inject {

/// What is recorded; up to `api`, each level includes the previous ones and costs more.
enum class Level {
    ranges,     ///< only NVTX ranges, without CUPTI, with the host's clock
    records,    ///< kernels, copies, memsets, NVTX, starts and stops of profilers
    callbacks,  ///< and a callback for each launch, which counts it and records its time
    api,        ///< and API calls, synchronisations, memory
    samples,    ///< callbacks, and samples of the devices
    counters,  ///< apart from all others: counters of chosen launches, and the sequence of launches
    code,      ///< likewise: the modules of chosen functions, and samples of their program counters
};

inline constexpr Level levels[] = {Level::ranges,  Level::records,  Level::callbacks, Level::api,
                                   Level::samples, Level::counters, Level::code};
const char* to_text(Level level);

/// Whether each launch is counted as it is called.
inline bool watches_launches(Level level) {
    return level != Level::records && level != Level::code;
}

/// About 250 samples a second.
inline constexpr std::uint32_t usual_stacks_us = 4000;

struct Settings {
    std::string folder;  ///< absolute; where recordings go. Empty: record nothing
    Level level = Level::records;
    std::uint64_t limit_bytes = std::uint64_t{2} << 30;  ///< of one recording
    std::uint32_t flush_ms = 1000;                       ///< the most a killed program can lose
    bool code = true;  ///< fingerprints of the functions' machine code
    /// At level `callbacks`: also calls that wait, allocate or cannot be captured, and memory.
    bool waits = false;
    /// Mean time between two samples of the host's stacks; 0: none are taken.
    std::uint32_t stacks_us = 0;
    std::string counters;   ///< a CounterRequest, for level `counters`
    std::string functions;  ///< fingerprints, with commas between them, for level `code`
    std::string cupti;      ///< libcupti for programs that bring none; empty: look for it
};

/// From this process's environment. Values that do not parse have their default.
Settings settings_from_environment();

/// The variables for a program that is to be recorded with `library`, the injection library. At
/// level `ranges` it is loaded only by NVTX, not by the driver.
std::vector<std::pair<std::string, std::string>> environment_for(const Settings& settings,
                                                                 const std::string& library);

/// The variables that the driver and NVTX read: if they are set, another injection library is in
/// use.
inline constexpr const char* driver_variable = "CUDA_INJECTION64_PATH";
inline constexpr const char* injection_variables[] = {driver_variable, "NVTX_INJECTION64_PATH"};

}  // namespace perfgate::inject
