// SPDX-License-Identifier: Apache-2.0
#include "stats/spread.hpp"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "stats/distributions.hpp"

namespace perfgate::stats {

namespace {

void require_finite(std::span<const double> values) {
    if (!std::ranges::all_of(values, [](double x) { return std::isfinite(x); })) {
        throw std::invalid_argument("a value is not finite");
    }
}

double mean(std::span<const double> values) {
    // Relative to the first value, so that equal values have exactly that mean and no spread.
    const double origin = values.front();
    double sum = 0;
    for (const double value : values) sum += value - origin;
    return origin + sum / static_cast<double>(values.size());
}

double squares_around_mean(std::span<const double> values) {
    const double centre = mean(values);
    return std::accumulate(values.begin(), values.end(), 0.0, [&](double sum, double value) {
        return sum + (value - centre) * (value - centre);
    });
}

/// The argument at which the trigamma function, which falls, has this value.
double inverse_trigamma(double value) {
    double low = std::log(1e-6);
    double high = std::log(1e6);
    constexpr int steps = 60;
    for (int step = 0; step < steps; ++step) {
        const double middle = (low + high) / 2;
        (boost::math::trigamma(std::exp(middle)) > value ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
}

}  // namespace

double trimmed_mean(std::span<const double> samples, double fraction) {
    if (samples.empty()) throw std::invalid_argument("no samples");
    if (!(fraction >= 0 && fraction < 0.5)) throw std::invalid_argument("not in [0, 0.5)");
    require_finite(samples);
    std::vector<double> sorted(samples.begin(), samples.end());
    std::ranges::sort(sorted);
    // The tolerance makes 10 % of 30 three, even if the product of doubles is slightly below it.
    const auto dropped =
        static_cast<std::size_t>(static_cast<double>(sorted.size()) * fraction + 1e-9);
    return mean(std::span(sorted).subspan(dropped, sorted.size() - 2 * dropped));
}

PooledSpread pooled_spread(std::span<const std::vector<double>> groups) {
    PooledSpread spread;
    double squares = 0;
    for (const std::vector<double>& group : groups) {
        require_finite(group);
        if (group.size() < 2) continue;
        squares += squares_around_mean(group);
        spread.df += static_cast<double>(group.size() - 1);
    }
    if (spread.df > 0) spread.deviation = std::sqrt(squares / spread.df);
    return spread;
}

PooledSpread moderated(const PooledSpread& measured, const PooledSpread& prior) {
    const double df = measured.df + prior.df;
    if (df <= 0) return {};
    const double squares = measured.df * measured.deviation * measured.deviation +
                           prior.df * prior.deviation * prior.deviation;
    return {std::sqrt(squares / df), df};
}

PooledSpread common_spread(std::span<const PooledSpread> items) {
    const auto count = static_cast<double>(items.size());
    std::vector<double> logs;
    double by_chance = 0;  // the variance of the logarithms if the true deviations are equal
    double fourth = 0;     // count times the variance of its estimate
    for (const PooledSpread& item : items) {
        const double half = item.df / 2;
        logs.push_back(2 * std::log(item.deviation) - boost::math::digamma(half) + std::log(half));
        const double variance = boost::math::trigamma(half);
        by_chance += variance / count;
        fourth += (boost::math::polygamma(3, half) + 2 * variance * variance) / count;
    }
    if (logs.size() < 2) return {};
    require_finite(logs);
    const double seen = squares_around_mean(logs) / (count - 1);
    const double half =
        inverse_trigamma(std::max(0.0, seen - by_chance) + std::sqrt(fourth / count));
    return {std::exp((mean(logs) + boost::math::digamma(half) - std::log(half)) / 2), 2 * half};
}

double detectable_shift(std::size_t n, std::size_t m, double df, double level, double power) {
    if (n == 0 || m == 0) throw std::invalid_argument("an empty group");
    const double error = std::sqrt(1 / static_cast<double>(n) + 1 / static_cast<double>(m));
    return (student_upper_quantile(level, df) + student_upper_quantile(1 - power, df)) * error;
}

}  // namespace perfgate::stats
