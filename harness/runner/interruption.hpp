// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM as a question that long work asks now and then.
#pragma once

namespace perfgate::runner {

/// From now on the two signals set a flag instead of ending the process; the second one ends it at
/// once, with 130.
void catch_interruptions();
bool interrupted();

}  // namespace perfgate::runner
