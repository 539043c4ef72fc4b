// SPDX-License-Identifier: Apache-2.0
// Recordings of GPU activity, whoever wrote them: perfgate, Kineto (torch.profiler) or Nsight
// Systems. Files are recognised by their content and read as untrusted input.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "activity/recording.hpp"
#include "traces/json_pieces.hpp"

namespace perfgate::traces {

/// Whether the file is a recording, or the folder has some. Not whether it can be read.
bool is_recording(const std::filesystem::path& path);

/// The processes of a file, or of all recordings in a folder, by name. Throws util::InputError for
/// what cannot be read, is no recording, or is larger than any may be.
std::vector<activity::Recording> read_recordings(const std::filesystem::path& path);

// Traces of Kineto, which torch.profiler writes: the Trace Event Format with categories and
// arguments of its own. Times are microseconds with up to three decimals.

/// Whether the text is an object with `traceEvents`. Reads no further than that key.
bool is_kineto(const Fill& fill);

/// Kernels, copies, memsets, calls, waits, user annotations (as ranges), devices and the rank.
/// Operators, Python functions and flows are left out. Throws util::InputError for what is no
/// trace, has no work on a GPU and no call, or is of several processes.
activity::Recording read_kineto(const Fill& fill, const std::string& source);

// SQLite exports of Nsight Systems (`nsys export --type sqlite`). Their tables and columns differ
// between versions: what an export lacks is not on record. Times are nanoseconds from the start of
// the capture.

/// A recording for each process with CUDA activity, by process id. Throws util::InputError for what
/// is no such export or has no CUDA activity.
std::vector<activity::Recording> read_nsight_systems(const std::filesystem::path& file);

}  // namespace perfgate::traces
