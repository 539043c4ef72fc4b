// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP as a flag that long work polls.
#pragma once

namespace perfgate::runner {

/// From now on these signals set a flag instead of ending the process; a second SIGINT or SIGTERM
/// ends it at once, with 130. A SIGHUP that was ignored (nohup) stays ignored.
void catch_interruptions();
bool interrupted();

}  // namespace perfgate::runner
