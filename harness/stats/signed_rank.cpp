// SPDX-License-Identifier: Apache-2.0
#include "stats/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "stats/distributions.hpp"

namespace perfgate::stats {

namespace {

constexpr std::size_t most_exact = 200;  // some 8 million additions

struct SignedRanks {
    std::vector<std::uint32_t> doubled;  ///< of all sizes in order; doubled: ties share the mean
    std::uint64_t positive = 0;          ///< doubled, of the positive differences
};

SignedRanks signed_ranks(std::span<const double> differences) {
    if (differences.empty()) throw std::invalid_argument("no difference");
    std::vector<double> values;
    for (const double difference : differences) {
        if (!std::isfinite(difference)) throw std::invalid_argument("a value is not finite");
        if (difference != 0) values.push_back(difference);
    }
    std::sort(values.begin(), values.end(),
              [](double left, double right) { return std::fabs(left) < std::fabs(right); });
    SignedRanks ranks;
    for (std::size_t first = 0; first < values.size();) {
        std::size_t end = first + 1;
        while (end < values.size() && std::fabs(values[end]) == std::fabs(values[first])) ++end;
        const auto rank = static_cast<std::uint32_t>(first + 1 + end);
        for (std::size_t i = first; i < end; ++i) {
            ranks.doubled.push_back(rank);
            if (values[i] > 0) ranks.positive += rank;
        }
        first = end;
    }
    return ranks;
}

/// The share of all choices of ranks by their sum, one rank after the other.
std::vector<double> shares_of_sums(const std::vector<std::uint32_t>& ranks) {
    std::uint64_t largest = 0;
    for (const std::uint32_t rank : ranks) largest += rank;
    std::vector<double> share(largest + 1, 0.0);
    share[0] = 1;
    std::uint64_t reach = 0;  // no sum is larger so far
    for (const std::uint32_t rank : ranks) {
        reach += rank;
        for (std::uint64_t sum = reach; sum >= rank; --sum) {
            share[sum] = (share[sum] + share[sum - rank]) / 2;
        }
        for (std::uint64_t sum = 0; sum < rank; ++sum) share[sum] /= 2;
    }
    return share;
}

/// Of a sum that is at least the positive one.
double exact_tail(const SignedRanks& ranks) {
    const std::vector<double> share = shares_of_sums(ranks.doubled);
    double extreme = 0;
    for (std::uint64_t sum = share.size(); sum-- > ranks.positive;) extreme += share[sum];
    return std::min(extreme, 1.0);
}

/// The largest k with P(the sum of the positive ranks < k) <= probability, without ties.
std::size_t means_left_out(std::size_t pairs, double probability) {
    if (pairs > most_exact) {
        const auto n = static_cast<double>(pairs);
        const double deviation = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
        return static_cast<std::size_t>(n * (n + 1) / 4 - 0.5 -
                                        normal_upper_quantile(probability) * deviation) +
               1;
    }
    std::vector<std::uint32_t> ranks(pairs);
    std::iota(ranks.begin(), ranks.end(), 1U);
    double below = 0;
    std::size_t k = 0;
    for (const double share : shares_of_sums(ranks)) {
        below += share;
        if (below > probability) break;
        ++k;
    }
    return k;
}

double normal_tail(const SignedRanks& ranks) {
    double sum = 0;
    double squares = 0;
    for (const std::uint32_t doubled : ranks.doubled) {
        const double rank = doubled / 2.0;
        sum += rank;
        squares += rank * rank;
    }
    const double over = static_cast<double>(ranks.positive) / 2 - sum / 2;
    return normal_upper_tail((over - 0.5) / std::sqrt(squares / 4));
}

}  // namespace

double signed_rank_greater(std::span<const double> differences) {
    const SignedRanks ranks = signed_ranks(differences);
    if (ranks.doubled.empty()) return 1;
    return ranks.doubled.size() <= most_exact ? exact_tail(ranks) : normal_tail(ranks);
}

std::optional<Interval> signed_rank_interval(std::span<const double> differences,
                                             double confidence) {
    const std::vector<double> taken = thinned(differences, 1000);
    const std::size_t left_out = means_left_out(taken.size(), (1 - confidence) / 2);
    if (left_out == 0) return std::nullopt;
    std::vector<double> means;
    means.reserve(taken.size() * (taken.size() + 1) / 2);
    for (std::size_t i = 0; i < taken.size(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) means.push_back(std::midpoint(taken[i], taken[j]));
    }
    std::sort(means.begin(), means.end());
    return Interval{means[left_out - 1], means[means.size() - left_out]};
}

double signed_rank_least(std::size_t pairs) {
    return std::pow(0.5, static_cast<double>(pairs));
}

}  // namespace perfgate::stats
