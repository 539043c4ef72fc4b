// SPDX-License-Identifier: Apache-2.0
// Which batches the environment has spoilt, from what was read of the board around them. Pure: it
// sees readings, not devices.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "model/environment.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// How far a batch's SM clock may be from that of most batches of its case. Boost clocks move in
/// steps of 15 MHz, which is 0.8 % at 1.98 GHz: two steps are borne.
inline constexpr double clock_tolerance = 0.02;

/// Why a batch taken between these readings does not count; empty: it does. The power cap is no
/// reason: a kernel that draws that much is held by it in every run.
std::string disturbance(std::span<const model::BoardState> around);

/// The clock that the readings agree on, MHz: their mean. Nothing under the power cap, where the
/// clock follows the load from moment to moment (an 8192³ GEMM on an H100: 1425 to 1500 MHz), so
/// that two readings say nothing of a batch; how far its times wander shows in the batches.
std::optional<double> clock_of(std::span<const model::BoardState> around);

/// Excludes the batches whose clock is not that of most batches of the case, and takes back what
/// an earlier call excluded for that reason. Then brings each series' value up to date: the median
/// of what is in use.
void exclude_other_clocks(model::CaseResult& result);

/// The times' batches of the case that count: the least over its timing series; of a case without
/// any, `none`.
std::size_t usable_batches(const model::CaseResult& result, std::size_t none);

/// Why the case is invalid: fewer than half of the batches that were wanted count. Empty: it is
/// not.
std::string too_thin(const model::CaseResult& result, std::size_t wanted);

}  // namespace perfgate::measure
