// SPDX-License-Identifier: Apache-2.0
// What is recorded inside a foreign program other than its activity (recorder.cpp): only ranges, or
// counters. Nothing here throws, prints, or ends the program; errors are part of the recording.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace perfgate::inject {

struct Settings;

// Only NVTX ranges, without CUPTI (ranges.cpp): how long they take in a program that is not
// otherwise recorded. A range costs two clock reads and two list entries.

/// Takes the range functions of this copy of NVTX; the first call opens the recording. Nonzero if
/// the ranges are recorded.
int record_ranges(NvtxGetExportTableFunc_t export_table, const Settings& settings) noexcept;

// At level `counters` (counting.cpp): the sequence of launches and, around chosen ones, counters.

/// Called when the driver is initialised: starts counting, once.
void start_counting(const Settings& settings) noexcept;

/// Called at the first NVTX call of each copy of NVTX. Nonzero if ranges are of use.
int watch_ranges(NvtxGetExportTableFunc_t export_table, const Settings& settings) noexcept;

}  // namespace perfgate::inject
