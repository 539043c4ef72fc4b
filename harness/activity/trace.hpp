// SPDX-License-Identifier: Apache-2.0
// Recordings in the Trace Event Format, which Perfetto and chrome://tracing read: streams as
// threads of a device, NVTX ranges and API calls on the host's threads, a flow from each launch to
// its work.
#pragma once

#include <string>
#include <vector>

#include "activity/timeline.hpp"

namespace perfgate::activity {

/// Times are microseconds from the first record of all processes, as the format wants them.
std::string write_trace(const std::vector<Timeline>& processes);

}  // namespace perfgate::activity
