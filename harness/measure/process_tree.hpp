// SPDX-License-Identifier: Apache-2.0
// Ends worker processes together with everything they started. Linux reparents the orphans of a
// process to the nearest ancestor that is a child subreaper: the guard is one for its worker, the
// coordinator for the guards.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

namespace perfgate::measure {

/// Kills and reaps every descendant. False if some are left at the limit: they cannot be killed
/// (another user's) or do not end (a driver holds them).
bool end_descendants(std::chrono::duration<double> limit);

/// Kills and reaps children of this process in other sessions than its own, and their descendants,
/// until none are left or the limit is reached. Leaves those in `keep` alone.
void end_orphans(std::chrono::duration<double> limit, const std::function<bool(pid_t)>& keep);

/// Makes this process a guard, and returns in a child of it, which has its standard descriptors and
/// `inherited`; the guard closes that. It ends the child and all its descendants when the child has
/// ended, on SIGTERM, or when the writer of standard input is gone, and then ends the same way as
/// the child. Single-threaded processes only.
void guard(int inherited);

}  // namespace perfgate::measure
