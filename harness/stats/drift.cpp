// SPDX-License-Identifier: Apache-2.0
#include "stats/drift.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/distributions.hpp"
#include "stats/quantiles.hpp"
#include "stats/spread.hpp"

namespace perfgate::stats {

namespace {

constexpr double farthest = 5;
/// Items whose variances differ as by chance count as alike, and never as more alike than this.
constexpr double most_alike = 200;

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The variance of the values around their mean.
double variance(const std::vector<double>& values) {
    if (values.size() < 2) return 0;
    const double centre = mean(values);
    double squares = 0;
    for (const double value : values) squares += (value - centre) * (value - centre);
    return squares / static_cast<double>(values.size() - 1);
}

/// One item that was measured in several groups.
struct Item {
    std::map<std::string, double> means;  ///< by group
    double between = 0;                   ///< variance of these
    double noise = 0;                     ///< what the own effects add to it

    double df() const { return static_cast<double>(means.size()) - 1; }
};

Item item_of(const Groups& groups) {
    Item item;
    std::vector<std::vector<double>> within;
    std::vector<double> means;
    double sizes = 0;
    for (const auto& [name, values] : groups) {
        if (values.empty()) continue;
        within.push_back(winsorised(values, farthest, 0));
        means.push_back(mean(within.back()));
        item.means.emplace(name, means.back());
        sizes += 1 / static_cast<double>(values.size());
    }
    item.between = variance(means);
    const PooledSpread spread = pooled_spread(within);
    item.noise = spread.deviation * spread.deviation * sizes /
                 static_cast<double>(std::max<std::size_t>(means.size(), 1));
    return item;
}

/// The part of the variance of the groups' means that all items share, over the items that were
/// measured in all of the groups.
double shared_variance(const std::vector<Item>& items) {
    const Item& widest = *std::ranges::max_element(items, [](const Item& some, const Item& other) {
        return some.means.size() < other.means.size();
    });
    std::map<std::string, double> sums;
    std::size_t alike = 0;
    for (const Item& item : items) {
        const bool same = item.means.size() == widest.means.size() &&
                          std::equal(item.means.begin(), item.means.end(), widest.means.begin(),
                                     [](const auto& some, const auto& other) {
                                         return some.first == other.first;
                                     });
        if (!same) continue;
        ++alike;
        for (const auto& [name, value] : item.means) sums[name] += value;
    }
    std::vector<double> means;
    means.reserve(sums.size());
    for (const auto& [name, sum] : sums) means.push_back(sum / static_cast<double>(alike));
    return variance(means);
}

/// The degrees of freedom with which the items' variances spread around the common one: by the
/// variance of the ratios of variances, which are distributed as Fisher's F.
double alikeness(const std::vector<Item>& items, double common) {
    std::vector<double> ratios;
    double df = 0;
    for (const Item& item : items) {
        const double expected = common + item.noise;
        if (expected > 0) ratios.push_back(item.between / expected);
        df += item.df() / static_cast<double>(items.size());
    }
    if (ratios.size() < 2) return most_alike;
    const double centre = mean(ratios);
    if (centre <= 0) return most_alike;
    const double dispersion = df * variance(ratios) / (centre * centre);
    if (dispersion <= 2) return most_alike;
    return std::min(most_alike, (4 * dispersion + 2 * df - 4) / (dispersion - 2));
}

}  // namespace

double Drift::bound(double level) const {
    if (deviation == 0) return 0;
    return student_upper_quantile(level, df) * std::sqrt(1 + 1 / static_cast<double>(groups)) *
           deviation;
}

std::optional<Trend> trend_of(const std::vector<std::vector<double>>& items) {
    constexpr std::size_t least = 5;
    std::size_t length = 0;
    for (const std::vector<double>& values : items) length = std::max(length, values.size());
    if (length < least) return std::nullopt;
    std::vector<double> sums(length);
    double count = 0;
    for (const std::vector<double>& values : items) {
        if (values.size() != length) continue;
        const std::vector<double> tame = winsorised(values, farthest, 0);
        const double centre = mean(tame);
        for (std::size_t i = 0; i < length; ++i) sums[i] += tame[i] - centre;
        ++count;
    }
    const auto n = static_cast<double>(length);
    double along = 0;
    double squares = 0;
    for (std::size_t i = 0; i < length; ++i) {
        const double at = static_cast<double>(i) - (n - 1) / 2;
        along += at * sums[i] / count;
        squares += at * at;
    }
    const double slope = along / squares;
    double rest = 0;
    for (std::size_t i = 0; i < length; ++i) {
        const double off = sums[i] / count - slope * (static_cast<double>(i) - (n - 1) / 2);
        rest += off * off;
    }
    const double error = std::sqrt(rest / (n - 2) / squares);
    Trend trend;
    trend.change = slope * (n - 1);
    if (slope != 0) {
        trend.probability = error > 0 ? 2 * student_upper_tail(std::fabs(slope) / error, n - 2) : 0;
    }
    return trend;
}

std::vector<double> winsorised(std::vector<double> values, double most, double least) {
    constexpr double tail = 0.2;
    const double middle = median(values);
    const double deviation =
        (quantile(values, 1 - tail) - quantile(values, tail)) / (2 * normal_upper_quantile(tail));
    const double bound = most * std::max(deviation, least);
    // Equal values in the middle say nothing about the others.
    if (bound == 0) return values;
    for (double& value : values) value = std::clamp(value, middle - bound, middle + bound);
    return values;
}

std::vector<std::optional<Drift>> drifts_of(const std::vector<Groups>& items) {
    std::vector<std::optional<Drift>> drifts(items.size());
    std::vector<Item> all;
    std::vector<Item> several;
    for (const Groups& groups : items) {
        all.push_back(item_of(groups));
        if (all.back().means.size() > 1) several.push_back(all.back());
    }
    if (several.empty()) return drifts;

    const auto count = static_cast<double>(several.size());
    double between = 0;
    double noise = 0;
    double df = 0;
    for (const Item& item : several) {
        between += item.between / count;
        noise += item.noise / count;
        df += item.df() / count;
    }
    const double shared =
        several.size() == 1 ? between : std::min(between, shared_variance(several));
    const double own = between - shared;
    const double squares = shared * shared / df + (count > 1 ? own * own / (df * (count - 1)) : 0);
    const double common = std::max(0.0, between - noise + std::sqrt(2 * squares));
    const double common_df = squares > 0 ? between * between / squares : df;
    const double alike = alikeness(several, common);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Item& item = all[i];
        if (item.means.empty()) continue;
        Drift drift;
        drift.groups = item.means.size();
        const double own_df = item.df();
        const double square =
            several.size() == 1
                ? common
                : (alike * common + own_df * (item.between - item.noise)) / (alike + own_df);
        drift.deviation = std::sqrt(std::max(0.0, square));
        drift.df = several.size() == 1 ? common_df : std::min(common_df, alike + own_df);
        drifts[i] = drift;
    }
    return drifts;
}

}  // namespace perfgate::stats
