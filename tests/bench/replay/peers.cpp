// SPDX-License-Identifier: Apache-2.0
#include "replay/peers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stats/quantiles.hpp"
#include "stats/rank_tests.hpp"
#include "stats/spread.hpp"

namespace perfgate::replay {

namespace {

bool median_over(const Samples& before, const Samples& now, double fraction) {
    return stats::median(now) > stats::median(before) * (1 + fraction);
}

bool fixed_5_percent(const Samples& before, const Samples& now) {
    return median_over(before, now, 0.05);
}

bool fixed_2_percent(const Samples& before, const Samples& now) {
    return median_over(before, now, 0.02);
}

/// Two-sided at 5 %, as the compare tool's default alpha; slower where the median is.
bool google_benchmark(const Samples& before, const Samples& now) {
    return median_over(before, now, 0) && stats::rank_sum_greater(before, now) <= 0.025;
}

/// The legacy comparison: the means differ by more than the smaller of the two relative spreads.
bool nvbench_legacy(const Samples& before, const Samples& now) {
    const auto noise = [](const Samples& samples) {
        const std::array groups{samples};
        return stats::pooled_spread(groups).deviation / stats::trimmed_mean(samples, 0);
    };
    const double change = stats::trimmed_mean(now, 0) / stats::trimmed_mean(before, 0) - 1;
    return change > std::min(noise(before), noise(now));
}

/// The robust comparison without its clock check: the ranges from the least sample to the third
/// quartile are disjoint by at least 0.5 %.
bool nvbench_robust(const Samples& before, const Samples& now) {
    const double least = *std::min_element(now.begin(), now.end());
    return least > stats::quantile(before, 0.75) * 1.005;
}

constexpr std::array all_peers{
    Peer{"medians, fixed 5 %", fixed_5_percent},
    Peer{"medians, fixed 2 %", fixed_2_percent},
    Peer{"Mann-Whitney, 5 % (Google Benchmark)", google_benchmark},
    Peer{"min-noise on means (nvbench, legacy)", nvbench_legacy},
    Peer{"disjoint [min, q3] by 0.5 % (nvbench, robust, without its clock check)", nvbench_robust},
};

}  // namespace

std::span<const Peer> peers() {
    return all_peers;
}

}  // namespace perfgate::replay
