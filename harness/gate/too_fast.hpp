// SPDX-License-Identifier: Apache-2.0
// Whether a measured time is possible. A kernel that does not do all of its work (an empty launch,
// a result that is left over from an earlier one) is fast, and verification may have missed it.
#pragma once

#include <string>
#include <string_view>

#include "model/environment.hpp"
#include "model/run.hpp"

namespace perfgate::gate {

/// A time is impossible if it is this much faster than the ceilings of its run allow. A kernel that
/// only reads can exceed the bandwidth of a copy by a tenth, and a short product the rate of a long
/// one, which is limited by power, by a fifth. The largest excess of the recorded runs is 2 %.
inline constexpr double ceiling_margin = 1.25;

/// The device time of one launch, in seconds; 0 if it has none.
double device_seconds(const model::CaseResult& result);

/// Why an amount is none, in one clause: it is negative, as -1 for "not available". Empty: it is
/// not, or it is a share, which may be. `what` names the series: "in the baseline, ".
std::string negative(const model::MetricSeries& series, std::string_view what = {});

/// Why the time is impossible, in one clause; empty if it is possible, or the case states no work,
/// or nothing was measured to compare it with. As many bytes as the L2 cache holds cost nothing.
std::string too_fast(const model::CaseResult& result, const model::Environment& environment);

}  // namespace perfgate::gate
