// SPDX-License-Identifier: Apache-2.0
// Writes histories for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/changes.hpp"
#include "history/night.hpp"
#include "history/record.hpp"
#include "model/baseline.hpp"

namespace perfgate::history {

/// Bars of eight heights, at most `width`; each shows the median of as many values.
std::string sparkline(std::span<const double> values, std::size_t width);

/// Lists, for each device, what changed together, then the series that changed: those that became
/// worse at their last change first, by its size; then the gate's record. `all`: also series
/// without a change. `ledgers`: absent if none were read.
std::string write_console(const std::vector<Series>& series,
                          const std::map<std::int64_t, Origin>& origins,
                          const std::optional<std::vector<model::Ledger>>& ledgers, bool all);

}  // namespace perfgate::history
