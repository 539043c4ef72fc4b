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
/// worse at their last change first, by its size; then the gate's record. Takes case by case, so
/// that memory does not grow with the nights.
class Console {
  public:
    /// Keeps a reference. `all`: also series without a change.
    Console(const std::map<std::int64_t, Origin>& origins, bool all);

    /// All series of a case, those of a device together. Each case is added once.
    void add(const std::vector<Series>& of_case);
    /// After all cases. `ledgers`: absent if none were read.
    std::string finish(const std::optional<std::vector<model::Ledger>>& ledgers);

  private:
    struct Shown {
        std::size_t series = 0;  ///< its number in `changes_`
        std::string device, unit, text;
    };

    const std::map<std::int64_t, Origin>& origins_;
    bool all_;
    Changes changes_;
    Record record_;
    std::size_t series_ = 0;
    std::vector<Shown> shown_;
};

}  // namespace perfgate::history
