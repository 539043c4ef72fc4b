// SPDX-License-Identifier: Apache-2.0
// Records only NVTX ranges, without CUPTI: how long they take in a program that is not otherwise
// recorded. A range costs two clock reads and two list entries.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace perfgate::inject {

struct Settings;

/// Takes the range functions of this copy of NVTX; the first call opens the recording. Nonzero if
/// the ranges are recorded.
int record_ranges(NvtxGetExportTableFunc_t export_table, const Settings& settings) noexcept;

}  // namespace perfgate::inject
