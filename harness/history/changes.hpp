// SPDX-License-Identifier: Apache-2.0
// The nights at which a case changed. A search splits the series where the nights before and after
// differ most, and keeps a place only where a test at a strict level and the gate's own rule, with
// nights in the place of processes, both say so; then it merges what no longer differs from its
// neighbours. Pure and deterministic.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "history/night.hpp"

namespace perfgate::history {

/// Whose change it is, by evidence.
enum class CauseClass { code, method, driver, machine, inputs, unexplained };

std::string_view to_text(CauseClass cause);

struct ChangePoint {
    std::size_t series = 0;        ///< of those that were given
    std::size_t night = 0;         ///< the first that is different
    double before = 0, after = 0;  ///< means of the nights on both sides, in the series' unit
    double change = 0;             ///< (after - before) / |before|; 0 if `before` is 0
    bool worse = false;            ///< by the metric's direction
    bool open = false;             ///< the last change of its series
    CauseClass cause = CauseClass::unexplained;
    std::string evidence = {};  ///< a sentence

    bool operator==(const ChangePoint&) const = default;
};

/// Fewer nights than this before or after a place decide nothing, except of exact metrics.
inline constexpr std::size_t least_nights = 3;

/// In their order. Too few nights for the level: none.
std::vector<std::size_t> change_places(const Series& series);

/// Of all series, which come from one store, with causes; in the order of series and nights.
std::vector<ChangePoint> change_points(const std::vector<Series>& series,
                                       const std::map<std::int64_t, Origin>& origins);

}  // namespace perfgate::history
