// SPDX-License-Identifier: Apache-2.0
// The nights at which a series changed. A search compares the nights before and after every place
// in windows of several lengths, and accepts the strongest place while it is far larger than how
// neighbouring windows of this series differ elsewhere: a weekday, a season, a drift or a bad night
// is how the series is. Two exact tests then judge the nights around it, one of them the gate's
// own; places that these no longer accept beside the others are removed. Pure and deterministic.
#pragma once

#include <cstddef>
#include <vector>

#include "history/night.hpp"

namespace perfgate::history {

/// One value for each night, as the gate makes one of processes: a trimmed mean.
std::vector<double> centres(const Series& series);

/// Fewer nights than this before or after a place decide nothing, except of exact metrics.
inline constexpr std::size_t least_nights = 3;

/// A change lies between two nights. `first` to `last`: the nights that, as the first different
/// one, tell both sides apart nearly as well as `night` does.
struct Place {
    std::size_t night = 0, first = 0, last = 0;

    bool operator==(const Place&) const = default;
};

/// Finds the places, in their order; none if there are too few nights for the level.
std::vector<Place> change_places(const Series& series);

}  // namespace perfgate::history
