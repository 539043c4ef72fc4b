// SPDX-License-Identifier: Apache-2.0
#include "stats/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "stats/distributions.hpp"

namespace perfgate::stats {

namespace {

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

/// The share of all choices of ranks whose sum is large enough, adding one rank at a time.
double exact_tail(const SignedRanks& ranks) {
    std::uint64_t largest = 0;
    for (const std::uint32_t rank : ranks.doubled) largest += rank;
    std::vector<double> share(largest + 1, 0.0);
    share[0] = 1;
    std::uint64_t reach = 0;  // no sum is larger so far
    for (const std::uint32_t rank : ranks.doubled) {
        reach += rank;
        for (std::uint64_t sum = reach; sum >= rank; --sum) {
            share[sum] = (share[sum] + share[sum - rank]) / 2;
        }
        for (std::uint64_t sum = 0; sum < rank; ++sum) share[sum] /= 2;
    }
    double extreme = 0;
    for (std::uint64_t sum = largest + 1; sum-- > ranks.positive;) extreme += share[sum];
    return std::min(extreme, 1.0);
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
    constexpr std::size_t most_exact = 200;  // some 8 million additions
    return ranks.doubled.size() <= most_exact ? exact_tail(ranks) : normal_tail(ranks);
}

double signed_rank_least(std::size_t pairs) {
    return std::pow(0.5, static_cast<double>(pairs));
}

}  // namespace perfgate::stats
