// SPDX-License-Identifier: Apache-2.0
// API calls in which the host waits for the device, and the idle time that such waits leave.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "activity/profile.hpp"
#include "activity/timeline.hpp"

namespace perfgate::activity {

/// "cudaStreamSynchronize", "cuCtxSynchronize", "cudaMemcpy": a copy that is not asynchronous waits
/// for what it copies. By its name alone.
bool waits_for_device(std::string_view call);

/// The calls that began in the interval.
std::span<const ApiCall> calls_in(const Timeline& timeline, Interval interval);

/// False for a driver call that a runtime call on record made.
bool is_outermost(const Timeline& timeline, const ApiCall& call);

/// The gaps of each window, in the order of the windows.
std::vector<Interval> gaps_in(const Timeline& timeline, std::span<const Interval> windows);

/// The longest gap of the window, of equal ones the first; empty if there is none.
Interval longest_gap(const Timeline& timeline, Interval window);

/// The longest gaps of all windows, with what the host did in them.
std::vector<Gap> longest_gaps(const Timeline& timeline, std::span<const Interval> windows,
                              std::size_t count);

/// Idle time of one cause.
struct IdleCause {
    GapCause cause = GapCause::nothing_submitted;
    std::string call;  ///< that caused it, where one did
    std::uint64_t idle_ns = 0;
};

/// The time of the gaps by what the host did, most first; each gap has one cause, as in
/// longest_gaps. Empty where API calls are not on record.
std::vector<IdleCause> idle_causes(const Timeline& timeline, std::vector<Interval> gaps);

/// All calls of the windows by name, longest total first.
std::vector<CallSummary> calls_by_name(const Timeline& timeline, std::span<const Interval> windows);

/// For each gap of the windows that began while the host waited in a call, that call.
std::vector<const ApiCall*> waits_before_gaps(const Timeline& timeline,
                                              std::span<const Interval> windows);

/// Those that wait for the device, most idle time first.
std::vector<CallSummary> waits_by_name(const Timeline& timeline, std::span<const Interval> windows);

}  // namespace perfgate::activity
