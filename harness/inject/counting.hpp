// SPDX-License-Identifier: Apache-2.0
// The injection library at level `counters`: records the sequence of launches and, around chosen
// ones, counters. It never throws, prints, or ends the program; errors are part of the recording.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace perfgate::inject {

struct Settings;

/// Called when the driver is initialised: starts counting, once.
void start_counting(const Settings& settings) noexcept;

/// Called at the first NVTX call of each copy of NVTX. Nonzero if ranges are of use.
int watch_ranges(NvtxGetExportTableFunc_t export_table, const Settings& settings) noexcept;

}  // namespace perfgate::inject
