// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP as a flag that long work polls.
#pragma once

namespace perfgate::runner {

/// From now on these signals set a flag instead of ending the process. After a second SIGINT or
/// SIGTERM programs get no time to end; a third ends this process at once, with 130, and leaves
/// what is temporary. A SIGHUP that was ignored (nohup) stays ignored.
void catch_interruptions();
bool interrupted();

}  // namespace perfgate::runner
