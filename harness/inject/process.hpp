// SPDX-License-Identifier: Apache-2.0
// The recorded process: everything that the name of its recording is made of.
#pragma once

#include <cstdint>
#include <string>

#include "activity/record.hpp"
#include "inject/cupti_library.hpp"

namespace perfgate::inject {

/// When this process started, in clock ticks since boot (field 22 of /proc/self/stat): with the
/// pid, it identifies a process until the machine is rebooted. 0 if it cannot be read.
std::uint64_t process_start();

/// The words of the command, separated by spaces, at most 4 KiB.
std::string command_line();

/// The rank that a launcher (torchrun, mpirun, srun) gave this process; empty if none did.
std::string rank();

/// "p1234-s567890.activity", with the rank "p1234-s567890-r3.activity".
std::string file_name();

CUptiResult read_clocks(const CuptiApi& api, activity::ClockReading& reading);

}  // namespace perfgate::inject
