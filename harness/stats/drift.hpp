// SPDX-License-Identifier: Apache-2.0
// How much groups of measurements (sessions, boards) differ beyond what their values explain,
// learned from all items (cases) that were measured in these groups, and how far a further group
// may therefore be off. Pure functions.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace perfgate::stats {

/// The values of one item by group. Groups of the same name are the same for all items.
using Groups = std::map<std::string, std::vector<double>>;

/// The effect of a group on one item: normal with this standard deviation, which is known with `df`
/// degrees of freedom.
struct Drift {
    double deviation = 0;
    double df = 0;
    std::size_t groups = 0;  ///< of this item

    /// A further group's effect differs from the mean of the item's groups by more than this, to
    /// one side, with at most this probability: a quantile of Student's distribution.
    double bound(double level) const;
};

/// Random effects, value = mean of the item + effect of the group on it + own effect. For each
/// item:
/// - The variance of the effects is estimated over all items, plus one standard error.
/// - An effect that all items share was seen once per group, not once per group and item. The
///   degrees of freedom are those of both parts, after Satterthwaite.
/// - An item's own variance is combined with that of all (as in limma), with the weight that their
///   dispersion suggests.
/// - No value counts as farther from its group's median than five deviations.
///
/// Absent for all if no item has two groups, and for items without values. Values are finite.
std::vector<std::optional<Drift>> drifts_of(const std::vector<Groups>& items);

/// A steady rise or fall of values in the order of their measurement.
struct Trend {
    double change = 0;       ///< from the first to the last, by a straight line
    double probability = 1;  ///< of so steep a line, either way, if the order meant nothing
};

/// The trend that items share: of the mean over the items, each without its own mean, of their nth
/// values. Items with fewer values than others are left out. Absent with fewer than five values.
std::optional<Trend> trend_of(const std::vector<std::vector<double>>& items);

/// The values, none farther from their median than `farthest` standard deviations, by their 20 %
/// and 80 % quantiles; the deviation counts as at least `least`.
std::vector<double> winsorised(std::vector<double> values, double farthest, double least);

}  // namespace perfgate::stats
