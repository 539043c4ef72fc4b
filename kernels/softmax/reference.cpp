// SPDX-License-Identifier: Apache-2.0
#include "softmax/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "common/element.hpp"
#include "common/parallel.hpp"
#include "common/tally.hpp"

namespace softmax {
namespace {

using common::Tally;
using common::with_element;

constexpr std::size_t kFullCheck = std::size_t{1} << 22;  // elements; beyond: samples
constexpr std::size_t kSampledColumns = 32;
constexpr std::size_t kLeastSampledRows = 4;

// exp(x - max) of a row and their sum, in float64.
template <class X>
double exponentials(X x, std::vector<double>& values) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < values.size(); ++j) largest = std::max(largest, x(j));
    double sum = 0.0;
    for (std::size_t j = 0; j < values.size(); ++j) {
        values[j] = std::exp(x(j) - largest);
        sum += values[j];
    }
    return sum;
}

// Half a unit of the smallest numbers, which no relative tolerance covers.
double least_rounding(Dtype dtype) {
    return dtype == Dtype::kF16 ? 0x1p-25 : 0x1p-149;
}

class Checker {
  public:
    Checker(const Problem& problem, std::uint64_t seed, const void* out)
        : problem_(problem),
          width_(static_cast<std::size_t>(problem.width)),
          logits_(seed),
          seed_(seed),
          out_(out),
          tolerance_(tolerance(problem.dtype)) {}

    CheckReport run() const {
        const auto rows = static_cast<std::size_t>(problem_.rows);
        const bool all = problem_.count() <= kFullCheck;
        const std::size_t sampled = all ? rows : std::max(kLeastSampledRows, kFullCheck / width_);
        std::mutex mutex;
        Tally total;
        with_element(problem_.dtype, [&](auto element) {
            using E = decltype(element);
            common::parallel_for(rows, 0, [&](std::size_t row) {
                const Tally tally =
                    all || in_sample(row, sampled) ? check_elements<E>(row) : check_facts<E>(row);
                const std::lock_guard lock(mutex);
                total.merge(tally);
            });
        });
        CheckReport report{!total.finding.found(), {}, total.worst_share};
        if (!report.passed) {
            report.detail = common::describe_finding("out", total.finding);
        } else if (all) {
            report.detail =
                common::describe("all %zu elements, worst error %.2g of what is allowed",
                                 problem_.count(), report.worst_share);
        } else {
            report.detail = common::describe(
                "about %zu of %zu rows element by element, sum and %zu ratios of the others, worst "
                "error %.2g of what is allowed",
                sampled, rows, kSampledColumns, report.worst_share);
        }
        return report;
    }

  private:
    bool in_sample(std::size_t row, std::size_t sampled) const {
        const auto rows = static_cast<std::size_t>(problem_.rows);
        return row == 0 || row + 1 == rows ||
               common::mix(seed_ ^ common::mix(row)) % rows < sampled;
    }

    template <class E>
    double logit(std::size_t row, std::size_t col) const {
        return static_cast<double>(E::widen(E::from(logits_.at(row, col, width_))));
    }

    template <class E>
    double got(std::size_t row, std::size_t col) const {
        const auto* values = static_cast<const typename E::Storage*>(out_);
        return static_cast<double>(E::widen(values[row * width_ + col]));
    }

    double allowed(double expected) const {
        return tolerance_ * expected + least_rounding(problem_.dtype);
    }

    template <class E>
    Tally check_elements(std::size_t row) const {
        thread_local std::vector<double> values;  // kept from row to row
        values.resize(width_);
        const double sum = exponentials([&](std::size_t j) { return logit<E>(row, j); }, values);
        Tally tally;
        for (std::size_t j = 0; j < width_; ++j) {
            const double expected = values[j] / sum;
            tally.element(static_cast<int>(row), static_cast<int>(j), got<E>(row, j), expected,
                          allowed(expected));
        }
        return tally;
    }

    template <class E>
    Tally check_facts(std::size_t row) const {
        Tally tally;
        const double first = got<E>(row, 0);
        double sum = first;
        for (std::size_t j = 1; j < width_; ++j) sum += got<E>(row, j);
        tally.element(static_cast<int>(row), 0, sum, 1.0,
                      tolerance_ + static_cast<double>(width_) * least_rounding(problem_.dtype));
        const double first_logit = logit<E>(row, 0);
        const std::uint64_t key = common::stream_key(seed_, 3);
        for (std::size_t i = 0; i < kSampledColumns; ++i) {
            const std::size_t j = common::random_bits(key, row * kSampledColumns + i) % width_;
            const double ratio = std::exp(logit<E>(row, j) - first_logit);
            // Both sides of the ratio may err.
            tally.element(static_cast<int>(row), static_cast<int>(j), got<E>(row, j), first * ratio,
                          allowed(first * ratio) + ratio * allowed(first));
        }
        return tally;
    }

    Problem problem_;
    std::size_t width_;
    Logits logits_;
    std::uint64_t seed_;
    const void* out_;
    double tolerance_;
};

}  // namespace

double tolerance(Dtype dtype) {
    constexpr double kArithmetic = 1e-5;
    return dtype == Dtype::kF16 ? kArithmetic + 0x1p-11 : kArithmetic;
}

void softmax_reference(const Problem& problem, const void* in, void* out) {
    const auto width = static_cast<std::size_t>(problem.width);
    std::vector<double> values(width);
    with_element(problem.dtype, [&](auto element) {
        using E = decltype(element);
        using T = typename E::Storage;
        for (std::size_t row = 0; row < static_cast<std::size_t>(problem.rows); ++row) {
            const T* x = static_cast<const T*>(in) + row * width;
            T* y = static_cast<T*>(out) + row * width;
            const double sum = exponentials(
                [x](std::size_t j) { return static_cast<double>(E::widen(x[j])); }, values);
            for (std::size_t j = 0; j < width; ++j) {
                y[j] = E::from(static_cast<float>(values[j] / sum));
            }
        }
    });
}

CheckReport check_softmax(const Problem& problem, std::uint64_t seed, const void* out) {
    return Checker(problem, seed, out).run();
}

CheckReport check_copied(const Problem& problem, std::uint64_t seed, const void* out) {
    const Logits logits(seed);
    const auto width = static_cast<std::size_t>(problem.width);
    std::mutex mutex;
    Tally total;
    with_element(problem.dtype, [&](auto element) {
        using E = decltype(element);
        const auto* values = static_cast<const typename E::Storage*>(out);
        common::parallel_for(static_cast<std::size_t>(problem.rows), 0, [&](std::size_t row) {
            Tally tally;
            for (std::size_t j = 0; j < width; ++j) {
                tally.element(static_cast<int>(row), static_cast<int>(j),
                              static_cast<double>(E::widen(values[row * width + j])),
                              static_cast<double>(E::widen(E::from(logits.at(row, j, width)))),
                              0.0);
            }
            const std::lock_guard lock(mutex);
            total.merge(tally);
        });
    });
    if (total.finding.found()) return {false, common::describe_finding("out", total.finding), 0.0};
    return {true, common::describe("all %zu elements", problem.count()), 0.0};
}

void fill_logits(const Problem& problem, std::uint64_t seed, void* storage) {
    const Logits logits(seed);
    const auto width = static_cast<std::size_t>(problem.width);
    with_element(problem.dtype, [&](auto element) {
        using E = decltype(element);
        auto* values = static_cast<typename E::Storage*>(storage);
        for (std::size_t row = 0; row < static_cast<std::size_t>(problem.rows); ++row) {
            for (std::size_t j = 0; j < width; ++j) {
                values[row * width + j] = E::from(logits.at(row, j, width));
            }
        }
    });
}

}  // namespace softmax
