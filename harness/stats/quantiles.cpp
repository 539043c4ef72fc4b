// SPDX-License-Identifier: Apache-2.0
#include "stats/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace perfgate::stats {

namespace {

std::vector<double> checked_copy(std::span<const double> samples) {
    if (samples.empty()) throw std::invalid_argument("no samples");
    // NaN is meaningless here, and would break the ordering that the selection relies on.
    if (!std::ranges::all_of(samples, [](double x) { return std::isfinite(x); })) {
        throw std::invalid_argument("a sample is not finite");
    }
    return {samples.begin(), samples.end()};
}

/// The sample of rank `rank`, from 0. Reorders the samples: smaller ones end up before it.
double select(std::vector<double>& samples, std::size_t rank) {
    const auto at = samples.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(samples.begin(), at, samples.end());
    return *at;
}

double quantile_in_place(std::vector<double>& samples, double probability) {
    const double position = static_cast<double>(samples.size() - 1) * probability;
    const auto rank = static_cast<std::size_t>(position);
    const double fraction = position - static_cast<double>(rank);
    const double low = select(samples, rank);
    if (fraction == 0) return low;
    const double high =
        *std::min_element(samples.begin() + static_cast<std::ptrdiff_t>(rank) + 1, samples.end());
    return fraction == 0.5 ? std::midpoint(low, high) : std::lerp(low, high, fraction);
}

/// The largest k with P(Binomial(n, 1/2) < k) <= tail, for tail < 1/2.
std::size_t lower_rank(std::size_t n, double tail) {
    // Weights proportional to the binomial coefficients, from the middle downwards until they are
    // negligible: the middle one is 1, so that neither 2^-n nor n! is ever formed.
    constexpr double negligible = 1e-20;
    const bool even = n % 2 == 0;
    std::size_t i = even ? n / 2 - 1 : (n - 1) / 2;
    std::vector<double> weights;                   // of i, i - 1, …
    const auto half = static_cast<double>(i + 1);  // even n: the middle
    double weight = even ? half / (half + 1) : 1;
    for (;; --i) {
        weights.push_back(weight);
        if (i == 0 || weight < negligible) break;
        weight *= static_cast<double>(i) / static_cast<double>(n - i + 1);
    }
    const double below_middle = std::accumulate(weights.rbegin(), weights.rend(), 0.0);
    const double total = 2 * below_middle + (even ? 1 : 0);

    double cumulated = 0;
    std::size_t k = i;
    for (auto at = weights.rbegin(); at != weights.rend(); ++at, ++k) {
        cumulated += *at;
        if (cumulated > tail * total) break;
    }
    return k;
}

}  // namespace

double quantile(std::span<const double> samples, double probability) {
    if (!(probability >= 0 && probability <= 1)) {
        throw std::invalid_argument("a probability is not in [0, 1]");
    }
    std::vector<double> copy = checked_copy(samples);
    return quantile_in_place(copy, probability);
}

std::vector<double> thinned(std::span<const double> samples, std::size_t most) {
    std::vector<double> taken = checked_copy(samples);
    if (const std::size_t count = taken.size(); count > most) {
        for (std::size_t i = 0; i < most; ++i) taken[i] = taken[i * count / most];
        taken.resize(most);
    }
    return taken;
}

double median(std::span<const double> samples) {
    return quantile(samples, 0.5);
}

std::optional<Interval> median_interval(std::span<const double> samples, double confidence) {
    if (!(confidence > 0 && confidence < 1)) {
        throw std::invalid_argument("a confidence is not in (0, 1)");
    }
    std::vector<double> copy = checked_copy(samples);
    const std::size_t k = lower_rank(copy.size(), (1 - confidence) / 2);
    if (k == 0) return std::nullopt;
    const double low = select(copy, k - 1);
    return Interval{low, select(copy, copy.size() - k)};
}

std::optional<double> median_relative_half_width(std::span<const double> samples,
                                                 double confidence) {
    const std::optional<Interval> interval = median_interval(samples, confidence);
    const double middle = median(samples);
    if (!interval || middle == 0) return std::nullopt;
    return (interval->high / 2 - interval->low / 2) / std::fabs(middle);
}

}  // namespace perfgate::stats
