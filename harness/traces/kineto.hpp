// SPDX-License-Identifier: Apache-2.0
// Traces of Kineto, which torch.profiler writes: the Trace Event Format with categories and
// arguments of its own. Times are microseconds with up to three decimals.
#pragma once

#include <string>

#include "activity/recording.hpp"
#include "traces/json_pieces.hpp"

namespace perfgate::traces {

/// Whether the text is an object with `traceEvents`. Reads no further than that key.
bool is_kineto(const Fill& fill);

/// Kernels, copies, memsets, calls, waits, user annotations (as ranges), devices and the rank.
/// Operators, Python functions and flows are left out. Throws util::InputError for what is no
/// trace, has no work on a GPU and no call, or is of several processes.
activity::Recording read_kineto(const Fill& fill, const std::string& source);

}  // namespace perfgate::traces
