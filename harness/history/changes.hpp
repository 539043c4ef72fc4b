// SPDX-License-Identifier: Apache-2.0
// Says what changed over the nights, and names the class of its cause by the evidence. Pure and
// deterministic.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "history/night.hpp"

namespace perfgate::history {

/// Classes of causes. The first that applies is named.
enum class CauseClass { method, inputs, code, driver, machine, unexplained };

std::string_view to_text(CauseClass cause);

struct ChangePoint {
    std::size_t series = 0;        ///< of those that were given
    std::size_t night = 0;         ///< the first that is different
    std::int64_t run = 0;          ///< of that night
    double before = 0, after = 0;  ///< means of the nights on both sides, in the series' unit
    double change = 0;             ///< (after - before) / |before|; 0 if `before` is 0
    bool worse = false;            ///< by the metric's direction
    bool open = false;             ///< the last change of its series
    CauseClass cause = CauseClass::unexplained;
    std::string evidence = {};  ///< a sentence

    bool operator==(const ChangePoint&) const = default;
};

/// Finds the changes of series of one store, with causes; in the order of series and nights.
std::vector<ChangePoint> change_points(const std::vector<Series>& series,
                                       const std::map<std::int64_t, Origin>& origins);

/// Points of one device, run and cause: one change that several series show.
struct Finding {
    std::string device;
    std::int64_t run = 0;
    CauseClass cause = CauseClass::unexplained;
    std::string evidence;
    std::vector<ChangePoint> points;  ///< the largest first, worse before better
    bool worse = false;               ///< at least one of them
    bool open = false;                ///< at least one of them

    bool operator==(const Finding&) const = default;
};

/// Groups the changes. Sorted by device; then open ones first, worse before better, by the largest
/// change.
std::vector<Finding> findings(const std::vector<Series>& series,
                              const std::map<std::int64_t, Origin>& origins);

}  // namespace perfgate::history
