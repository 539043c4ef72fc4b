// SPDX-License-Identifier: Apache-2.0
// The boards of a baseline: a series may have processes of several, and a run is judged against its
// own board's, if there are any.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "model/metric.hpp"

namespace perfgate::gate {

/// From so many boards on, what boards differ by is learned from them, up to the suite's
/// `cross_board_tolerance`; with fewer that is added.
inline constexpr std::size_t least_boards = 3;

/// By board: its processes in the series that are in use.
std::map<std::string, std::size_t> boards_of(const model::MetricSeries& series);

/// The part of the series that was measured on this board, with its median as value.
model::MetricSeries series_of_board(const model::MetricSeries& series, const std::string& board);

}  // namespace perfgate::gate
