// SPDX-License-Identifier: Apache-2.0
#include "stats/rank_tests.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
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
    if (!std::ranges::all_of(values,
                             [](const Value& value) { return std::isfinite(value.value); })) {
        throw std::invalid_argument("a value is not finite");
    }
    std::ranges::sort(values, {}, &Value::value);

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

/// The number of ways to choose `chosen` of `ranks`, which ascend, with a sum of at most `most`.
double choices_up_to(std::span<const std::uint64_t> ranks, std::size_t chosen, std::uint64_t most) {
    std::vector<std::uint64_t> below{0};  // below[i]: the sum of the i smallest
    for (const std::uint64_t rank : ranks) below.push_back(below.back() + rank);
    if (most < below[chosen]) return 0;
    const std::size_t sums = std::min(most, below.back()) + 1;
    // ways[k · sums + s]: choices of k of the ranks processed so far that add up to s. Sums that
    // the smallest ranks still to come would lift above `most` are left out.
    std::vector<double> ways((chosen + 1) * sums, 0.0);
    ways[0] = 1;
    for (std::size_t seen = 1; seen <= ranks.size(); ++seen) {
        const std::uint64_t rank = ranks[seen - 1];
        const std::size_t to_come = ranks.size() - seen;
        for (std::size_t k = std::min(seen, chosen); k >= 1 && k + to_come >= chosen; --k) {
            const std::uint64_t rest = below[seen + chosen - k] - below[seen];
            if (most < rest) continue;
            const std::uint64_t end = std::min(below[seen] - below[seen - k], most - rest) + 1;
            const double* __restrict without = &ways[(k - 1) * sums];
            double* __restrict with = &ways[k * sums];
            for (std::uint64_t sum = below[k - 1] + rank; sum < end; ++sum) {
                with[sum] += without[sum - rank];
            }
        }
    }
    const double* const last = &ways[chosen * sums];
    return std::accumulate(last, last + sums, 0.0);
}

/// Among all choices of as many ranks as the smaller group has, the share of those at least as
/// extreme as that group's own.
double exact_tail(const Ranks& ranks, std::size_t others, std::size_t group) {
    const std::size_t chosen = std::min(group, others);
    // Without ties all doubled ranks are even, and half of the sums do not occur.
    const bool odd =
        std::ranges::any_of(ranks.doubled, [](std::uint32_t rank) { return rank % 2 == 1; });
    const std::uint64_t unit = odd ? 1 : 2;
    const std::uint64_t mirror = 2 * (ranks.doubled.size() + 1);
    std::vector<std::uint64_t> counted(ranks.doubled.begin(), ranks.doubled.end());
    // The sum of the others is small if the group's is large; a group's own sum is small in
    // mirrored ranks.
    std::uint64_t most = mirror / 2 * ranks.doubled.size() - ranks.group_sum;
    if (group <= others) {
        for (std::uint64_t& rank : counted) rank = mirror - rank;
        std::ranges::reverse(counted);
        most = mirror * group - ranks.group_sum;
    }
    for (std::uint64_t& rank : counted) rank /= unit;
    return choices_up_to(counted, chosen, most / unit) * rank_sum_least(others, group);
}

double normal_tail(const Ranks& ranks, double others, double group) {
    const double all = others + group;
    const double u = static_cast<double>(ranks.group_sum) / 2 - group * (group + 1) / 2;
    const double variance = others * group / 12 * (all + 1 - ranks.tie_cubes / (all * (all - 1)));
    if (variance <= 0) return 1;  // all values are equal
    return normal_upper_tail((u - others * group / 2 - 0.5) / std::sqrt(variance));
}

/// P(U = u), without ties, for u = 0, 1, …; U counts the pairs in which the value of the group of
/// `m` is the larger one. The largest of all values belongs to either group by chance.
std::vector<double> pair_counts(std::size_t n, std::size_t m) {
    std::vector<std::vector<double>> of(m + 1, std::vector<double>(n * m + 1, 0.0));
    for (std::size_t i = 0; i <= n; ++i) {
        for (std::size_t j = 0; j <= m; ++j) {
            std::vector<double>& now = of[j];
            if (i + j == 0) {
                now[0] = 1;
                continue;
            }
            const auto all = static_cast<double>(i + j);
            const double other = static_cast<double>(i) / all;
            const double own = static_cast<double>(j) / all;
            // The largest is another's: no pair more. It is the group's: `i` pairs more.
            for (std::size_t u = i * j + 1; u-- > 0;) {
                const double before = j > 0 && u >= i ? of[j - 1][u - i] : 0;
                now[u] = other * now[u] + own * before;
            }
        }
    }
    return of[m];
}

/// The largest k with P(U < k) <= probability.
std::size_t pairs_left_out(std::size_t n, std::size_t m, double probability) {
    constexpr std::size_t most_exact = 100;
    if (n + m > most_exact) {
        const auto pairs = static_cast<double>(n * m);
        const double deviation = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
        const double k = pairs / 2 - 0.5 - normal_upper_quantile(probability) * deviation;
        return k < 0 ? 0 : static_cast<std::size_t>(k) + 1;
    }
    // The cases of a run have as many processes.
    thread_local std::map<std::tuple<std::size_t, std::size_t, double>, std::size_t> known;
    const auto [at, is_new] = known.try_emplace({n, m, probability}, 0);
    if (!is_new) return at->second;
    double below = 0;
    for (const double share : pair_counts(n, m)) {
        below += share;
        if (below > probability) break;
        ++at->second;
    }
    return at->second;
}

}  // namespace

double rank_sum_greater(std::span<const double> others, std::span<const double> group) {
    const Ranks ranks = ranks_of(others, group);
    const std::size_t all = others.size() + group.size();
    constexpr std::size_t most_exact = 100;  // a few million additions
    if (all <= most_exact) return exact_tail(ranks, others.size(), group.size());
    return normal_tail(ranks, static_cast<double>(others.size()),
                       static_cast<double>(group.size()));
}

std::optional<Interval> rank_sum_interval(std::span<const double> others,
                                          std::span<const double> group, double confidence) {
    constexpr std::size_t most = 1000;
    const std::vector<double> below = thinned(others, most);
    const std::vector<double> above = thinned(group, most);
    const std::size_t left_out = pairs_left_out(below.size(), above.size(), (1 - confidence) / 2);
    if (left_out == 0) return std::nullopt;
    std::vector<double> differences;
    differences.reserve(below.size() * above.size());
    for (const double value : above) {
        for (const double other : below) differences.push_back(value - other);
    }
    const auto nth = [&](std::size_t index) {
        const auto place = differences.begin() + static_cast<std::ptrdiff_t>(index);
        std::nth_element(differences.begin(), place, differences.end());
        return *place;
    };
    return Interval{nth(left_out - 1), nth(differences.size() - left_out)};
}

std::optional<std::size_t> rank_sum_critical(std::size_t others, std::size_t group, double level) {
    if (others == 0 || group == 0) throw std::invalid_argument("an empty group");
    const std::size_t left_out = pairs_left_out(others, group, level);
    if (left_out == 0) return std::nullopt;
    return others * group + 1 - std::min(left_out, others * group);
}

double rank_sum_least(std::size_t others, std::size_t group) {
    if (others == 0 || group == 0) throw std::invalid_argument("an empty group");
    double least = 1;
    for (std::size_t k = 1; k <= group; ++k) {
        least *= static_cast<double>(k) / static_cast<double>(others + k);
    }
    return least;
}

double precedence_greater(std::size_t others, std::size_t group, std::size_t most) {
    if (others == 0 || group == 0) throw std::invalid_argument("an empty group");
    if (most > group) return 0;
    double probability = 1;
    for (std::size_t k = 0; k < most; ++k) {
        probability *= static_cast<double>(group - k) / static_cast<double>(others + group - k);
    }
    return probability;
}

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
    std::ranges::sort(values,
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
    std::ranges::sort(means);
    return Interval{means[left_out - 1], means[means.size() - left_out]};
}

double signed_rank_least(std::size_t pairs) {
    return std::pow(0.5, static_cast<double>(pairs));
}

}  // namespace perfgate::stats
