// SPDX-License-Identifier: Apache-2.0
#include "stats/rank_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "stats/distributions.hpp"

namespace perfgate::stats {

namespace {

struct Ranks {
    std::vector<std::uint32_t> doubled;  ///< of all values in order; doubled: ties share the mean
    std::uint64_t group_sum = 0;         ///< doubled, of the group's values
    double tie_cubes = 0;                ///< Σ (t³ - t) over the ties
};

Ranks ranks_of(std::span<const double> others, std::span<const double> group) {
    struct Value {
        double value;
        bool in_group;
    };
    std::vector<Value> values;
    values.reserve(others.size() + group.size());
    for (const double value : others) values.push_back({value, false});
    for (const double value : group) values.push_back({value, true});
    if (others.empty() || group.empty()) throw std::invalid_argument("an empty group");
    if (!std::all_of(values.begin(), values.end(),
                     [](const Value& value) { return std::isfinite(value.value); })) {
        throw std::invalid_argument("a value is not finite");
    }
    std::sort(values.begin(), values.end(),
              [](const Value& left, const Value& right) { return left.value < right.value; });

    Ranks ranks;
    ranks.doubled.resize(values.size());
    for (std::size_t first = 0; first < values.size();) {
        std::size_t end = first + 1;
        while (end < values.size() && values[end].value == values[first].value) ++end;
        const auto tied = static_cast<double>(end - first);
        ranks.tie_cubes += tied * tied * tied - tied;
        for (std::size_t i = first; i < end; ++i) {
            ranks.doubled[i] = static_cast<std::uint32_t>(first + 1 + end);
            if (values[i].in_group) ranks.group_sum += ranks.doubled[i];
        }
        first = end;
    }
    return ranks;
}

/// Counts the choices of `chosen` ranks by their sum, one rank after the other.
double exact_tail(const Ranks& ranks, std::size_t chosen) {
    std::uint64_t largest = 0;
    for (const std::uint32_t rank : ranks.doubled) largest += rank;
    const std::size_t sums = largest + 1;
    // ways[k · sums + s]: choices of k of the ranks seen so far that add up to s.
    std::vector<double> ways((chosen + 1) * sums, 0.0);
    ways[0] = 1;
    std::size_t seen = 0;
    std::uint64_t reach = 0;  // no sum is larger so far
    for (const std::uint32_t rank : ranks.doubled) {
        reach += rank;
        ++seen;
        for (std::size_t k = std::min(seen, chosen); k >= 1; --k) {
            double* const with = &ways[k * sums];
            const double* const without = &ways[(k - 1) * sums];
            for (std::uint64_t sum = rank; sum <= reach; ++sum) with[sum] += without[sum - rank];
        }
    }
    double total = 0;
    double extreme = 0;
    const double* const last = &ways[chosen * sums];
    for (std::size_t sum = sums; sum-- > 0;) {
        total += last[sum];
        if (sum >= ranks.group_sum) extreme += last[sum];
    }
    return extreme / total;
}

double normal_tail(const Ranks& ranks, double others, double group) {
    const double all = others + group;
    const double u = static_cast<double>(ranks.group_sum) / 2 - group * (group + 1) / 2;
    const double variance = others * group / 12 * (all + 1 - ranks.tie_cubes / (all * (all - 1)));
    if (variance <= 0) return 1;  // all values are equal
    return normal_upper_tail((u - others * group / 2 - 0.5) / std::sqrt(variance));
}

}  // namespace

double rank_sum_greater(std::span<const double> others, std::span<const double> group) {
    const Ranks ranks = ranks_of(others, group);
    const std::size_t all = others.size() + group.size();
    constexpr std::size_t most_exact = 100;  // some 10 million additions
    if (all <= most_exact) return exact_tail(ranks, group.size());
    return normal_tail(ranks, static_cast<double>(others.size()),
                       static_cast<double>(group.size()));
}

double rank_sum_least(std::size_t others, std::size_t group) {
    if (others == 0 || group == 0) throw std::invalid_argument("an empty group");
    double least = 1;
    for (std::size_t k = 1; k <= group; ++k) {
        least *= static_cast<double>(k) / static_cast<double>(others + k);
    }
    return least;
}

}  // namespace perfgate::stats
