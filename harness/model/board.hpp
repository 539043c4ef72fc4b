// SPDX-License-Identifier: Apache-2.0
// Which board a case was measured on. A run may have several boards of one device key: from
// --devices, or from merged shards.
#pragma once

#include <string>

#include "model/run.hpp"

namespace perfgate::model {

/// The board that its batches name; empty if it has no batches.
std::string board_of(const CaseResult& result);

/// The same, but the run's board for a case without batches.
std::string board_of(const Run& run, const CaseResult& result);

}  // namespace perfgate::model
