// SPDX-License-Identifier: Apache-2.0
// The time of day, for documents.
#pragma once

#include <string>

namespace perfgate::runner {

/// "2026-11-21T10:00:00Z".
std::string utc_now();

}  // namespace perfgate::runner
