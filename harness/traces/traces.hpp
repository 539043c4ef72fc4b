// SPDX-License-Identifier: Apache-2.0
// Recordings of GPU activity, whoever wrote them: perfgate, Kineto (torch.profiler) or Nsight
// Systems. Files are recognised by their content and read as untrusted input.
#pragma once

#include <filesystem>
#include <vector>

#include "activity/recording.hpp"

namespace perfgate::traces {

/// Whether the file is a recording, or the folder has some. Not whether it can be read.
bool is_recording(const std::filesystem::path& path);

/// The processes of a file, or of all recordings in a folder, by name. Throws util::InputError for
/// what cannot be read, is no recording, or is larger than any may be.
std::vector<activity::Recording> read_recordings(const std::filesystem::path& path);

}  // namespace perfgate::traces
