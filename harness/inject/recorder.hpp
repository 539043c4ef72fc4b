// SPDX-License-Identifier: Apache-2.0
// The recorder inside a foreign program: from the driver's initialisation to the end of the
// process. It never throws, prints, or ends the program; what goes wrong is in the recording.
#pragma once

namespace perfgate::inject {

/// The driver is being initialised: starts to record, once.
void start_recording() noexcept;

/// The program makes its first NVTX call: hands NVTX to CUPTI, and lets it keep ranges that open
/// before CUDA is used. `export_table` is NVTX's. Nonzero where NVTX is served.
int serve_nvtx(void* export_table) noexcept;

}  // namespace perfgate::inject
