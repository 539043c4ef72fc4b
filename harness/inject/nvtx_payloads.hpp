// SPDX-License-Identifier: Apache-2.0
// What NCCL (2.24 or newer) adds to its NVTX ranges: which communicator a call is about, and the
// size of its message. The program's own ranges pass through here to CUPTI.
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "activity/format.hpp"
#include "cupti/api.hpp"

namespace perfgate::inject {

/// After CUPTI has taken the functions of this copy of NVTX. The Api outlives the process.
void watch_payloads(NvtxGetExportTableFunc_t export_table, const cupti::Api& api) noexcept;

/// Takes the functions with which the program declares what its payloads contain. Nonzero: taken.
int watch_schemas(nvtxExtModuleInfo_t* module) noexcept;

/// Adds the communicators and calls since the last time.
void take_payloads(activity::Records& records);

/// After fork, in the child: other threads may have held the lock.
void abandon_payloads() noexcept;

}  // namespace perfgate::inject
