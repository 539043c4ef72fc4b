// SPDX-License-Identifier: Apache-2.0
// The boards of a baseline: a series may have processes of several, and a run is judged against its
// own board's, if there are any.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "model/metric.hpp"

namespace perfgate::gate {

/// With at least so many boards, what they differ by is learned and allowed, up to the suite's
/// `cross_board_tolerance`; with fewer, that is added to the tolerance.
inline constexpr std::size_t least_boards = 3;

/// By board: its processes in the series that are in use.
std::map<std::string, std::size_t> boards_of(const model::MetricSeries& series);

/// The part of the series that was measured on this board, with its median as value.
model::MetricSeries series_of_board(const model::MetricSeries& series, const std::string& board);

}  // namespace perfgate::gate
