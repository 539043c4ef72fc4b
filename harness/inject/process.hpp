// SPDX-License-Identifier: Apache-2.0
// The recorded process: everything that the name of its recording is made of.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "activity/writer.hpp"
#include "cupti/api.hpp"
#include "inject/settings.hpp"

namespace perfgate::inject {

/// What identifies the process: its number and start, command line and rank (of torchrun, mpirun or
/// srun), the level, and the CUPTI that is used; `api` is null without it.
activity::Writer::Header header_of(const Settings& settings, const cupti::Api* api);

/// "p1234-s567890.activity", with the rank "p1234-s567890-r3.activity".
std::string file_name();

std::uint64_t now(clockid_t clock);
CUptiResult read_clocks(const cupti::Api& api, activity::ClockReading& reading);

}  // namespace perfgate::inject
