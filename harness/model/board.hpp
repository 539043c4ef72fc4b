// SPDX-License-Identifier: Apache-2.0
// Which board a case was measured on. A run may have several of one device key: those of --devices,
// and those of shards that were merged.
#pragma once

#include <string>

#include "model/run.hpp"

namespace perfgate::model {

/// The one that its batches name; empty: it has none.
std::string board_of(const CaseResult& result);

/// The same; of a case that has no batches, the run's.
std::string board_of(const Run& run, const CaseResult& result);

}  // namespace perfgate::model
