// SPDX-License-Identifier: Apache-2.0
//
// The counters of many cases in few sessions: which cases share one, what to do when one of them
// spoils it, and how ranges become the values of a case's kernels.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/open_device.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

/// Why a counter means nothing for a CUDA graph, whose single range holds the gaps between its
/// kernels; empty if it does mean something.
std::string graph_problem(const std::string& counter);

/// As measure::Backend::collect. Counters that the chip lacks, that came back as NaN or that a
/// failed session lost are in not_collected; only measure::DeviceLost leaves this function for want
/// of counters.
std::vector<measure::CounterValues> collect_counters(OpenDevice& device,
                                                     std::span<const measure::CounterCase> cases,
                                                     const std::vector<std::string>& counters);

}  // namespace perfgate::backend::cuda
