// SPDX-License-Identifier: Apache-2.0
//
// The counters of many cases in few sessions: which cases share one, what to do if one of them
// breaks it, and how ranges become the values of a case's kernels.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/cuda/open_device.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

/// Why a counter is meaningless for a CUDA graph, whose single range contains the gaps between its
/// kernels; empty if it is meaningful.
std::string graph_problem(const std::string& counter);

/// Adds the values of another group of counters for the same case. Counters that one of the groups
/// lost stay absent and in not_collected.
void join_group(measure::CounterValues more, measure::CounterValues& values);

/// As measure::Backend::collect. Counters that the chip lacks, that were NaN, or that a failed
/// session lost are in not_collected; of counter errors, only measure::DeviceLost is thrown.
std::vector<measure::CounterValues> collect_counters(OpenDevice& device,
                                                     std::span<const measure::CounterCase> cases,
                                                     const std::vector<std::string>& counters);

}  // namespace perfgate::backend::cuda
