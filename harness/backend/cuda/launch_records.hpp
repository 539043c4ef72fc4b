// SPDX-License-Identifier: Apache-2.0
//
// Whether the records of a launch are all that it did: gpu_time must not miss a kernel in silence.
#pragma once

#include <cstddef>
#include <span>

#include "backend/cuda/activity.hpp"
#include "backend/cuda/open_device.hpp"

namespace perfgate::backend::cuda {

/// Throws model::Error with both counts if fewer kernels were recorded than `launches` has that
/// were not captured. Kernels of graphs have no launch call and do not count.
void require_records(std::span<const ObservedLaunch> launches, const LaunchActivity& launch);

/// Throws model::Error with both counts if launches of the same work left different numbers of
/// records: gpu_time of some would be too short.
void require_equal_launches(std::span<const LaunchActivity> launches);

/// Records of no launch that begin while one is running: what another thread submitted, which is
/// not in gpu_time. Flushes and resets end before the launch begins.
std::size_t unattributed_records(const ActivityTrace& trace);

}  // namespace perfgate::backend::cuda
