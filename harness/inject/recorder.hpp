// SPDX-License-Identifier: Apache-2.0
// The recorder inside a foreign program: from the driver's initialisation to the end of the
// process. It never throws, prints, or ends the program; errors are part of the recording.
#pragma once

namespace perfgate::inject {

/// Called when the driver is initialised: starts recording, once.
void start_recording() noexcept;

/// Called at the program's first NVTX call: connects NVTX to CUPTI, which keeps ranges that are
/// opened before CUDA is used. `export_table` is NVTX's. Nonzero on success.
int serve_nvtx(void* export_table) noexcept;

}  // namespace perfgate::inject
