// SPDX-License-Identifier: Apache-2.0
// Which batches were disturbed by the environment, from the readings of the board around them. Pure
// functions of readings.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "model/environment.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// How far a batch's SM clock may be from that of most batches of its case. Boost clocks move in
/// steps of 15 MHz, which is 0.8 % at 1.98 GHz: two steps are tolerated.
inline constexpr double clock_tolerance = 0.02;

/// Why a batch taken between these readings does not count; empty: it does. The power cap is not a
/// reason: a kernel that draws that much power is limited by it in every run.
std::string disturbance(std::span<const model::BoardState> around);

/// The clock that the readings agree on, MHz: their mean. Nothing under the power cap, where the
/// clock follows the load continuously (an 8192³ GEMM on an H100: 1425 to 1500 MHz), so that two
/// readings do not describe a batch; the effect on the times shows in the batches.
std::optional<double> clock_of(std::span<const model::BoardState> around);

/// Excludes the batches whose clock differs from that of most batches of the case, and restores
/// those that an earlier call excluded for that reason. Then updates each series' value: the median
/// of the samples in use.
void exclude_other_clocks(model::CaseResult& result);

/// How many batches of times count: the minimum over the timing series of the case; `none` for a
/// case without any.
std::size_t usable_batches(const model::CaseResult& result, std::size_t none);

/// Why the case is invalid: fewer than half of the wanted batches count. Empty: it is valid.
std::string too_thin(const model::CaseResult& result, std::size_t wanted);

}  // namespace perfgate::measure
