// SPDX-License-Identifier: Apache-2.0
// Whether an output is what the stage's definition gives, computed on the host in double precision
// (integers and table look-ups: to the bit). Stages of much arithmetic are checked in every
// `stride`-th place and the last.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "common/inputs.hpp"
#include "common/tally.hpp"
#include "perfgate.hpp"
#include "shapes.hpp"

namespace camera {

/// Calls check(row, tally) on all cores for every `stride`-th row, or whatever part the stage has,
/// and the last. `check` says by tally.element what an element is and should be.
template <class Check>
perfgate::sdk::Verification check_rows(std::int64_t rows, std::int64_t stride, Check&& check) {
    const std::int64_t checked = (rows - 1) / stride + 1;
    constexpr std::int64_t per_task = 64;
    common::Tally all;
    std::mutex mutex;
    common::parallel_for(
        static_cast<std::size_t>((checked + per_task - 1) / per_task), 0, [&](std::size_t task) {
            common::Tally tally;
            const std::int64_t first = static_cast<std::int64_t>(task) * per_task;
            for (std::int64_t i = first; i < std::min(first + per_task, checked); ++i) {
                // Counted from the end, so that the last row is among them.
                check(rows - 1 - i * stride, tally);
            }
            const std::lock_guard lock(mutex);
            all.merge(tally);
        });
    if (all.finding.found()) return {false, common::describe_finding("out", all.finding)};
    return {true, common::describe("%lld of %lld parts", static_cast<long long>(checked),
                                   static_cast<long long>(rows))};
}

/// The values of a float input of a seed.
inline std::vector<float> input(std::uint64_t operand, std::uint64_t seed, std::size_t count) {
    const auto values = common::widened_inputs(common::Dtype::kF32, operand, seed, count);
    return {values.begin(), values.end()};
}

/// The allowance for `terms` additions in any order whose absolute values sum to `magnitude`.
inline double rounding(double terms, double magnitude) {
    return terms * 0x1p-24 * magnitude;
}

inline perfgate::sdk::Verification check_tone_curve(const std::vector<float>& out,
                                                    std::int64_t pixels, std::uint64_t seed) {
    const auto curves = input(kSecond, seed, std::size_t{kPlanes} * kCodes);
    const std::uint64_t key = common::stream_key(seed, kFirst);
    constexpr std::int64_t block = 4096;
    const std::int64_t n = kPlanes * pixels;
    return check_rows((n + block - 1) / block, 1, [&](std::int64_t row, common::Tally& tally) {
        for (std::int64_t i = row * block; i < std::min((row + 1) * block, n); ++i) {
            const auto code =
                common::random_bits(key, static_cast<std::uint64_t>(i)) & (kCodes - 1);
            const auto at = static_cast<std::size_t>(i / pixels) * kCodes + code;
            tally.element(static_cast<int>(row), static_cast<int>(i - row * block),
                          out[static_cast<std::size_t>(i)], curves[at], 0);
        }
    });
}

inline perfgate::sdk::Verification check_blend(const std::vector<std::uint8_t>& out,
                                               std::uint64_t seed) {
    const std::uint64_t a = common::stream_key(seed, kFirst);
    const std::uint64_t b = common::stream_key(seed, kSecond);
    constexpr std::int64_t block = 4096;
    const auto n = static_cast<std::int64_t>(out.size());
    return check_rows((n + block - 1) / block, 1, [&](std::int64_t row, common::Tally& tally) {
        for (std::int64_t i = row * block; i < std::min((row + 1) * block, n); ++i) {
            const auto at = static_cast<std::uint64_t>(i);
            const unsigned x = common::random_bits(a, at) & 0xff;
            const unsigned y = common::random_bits(b, at) & 0xff;
            tally.element(static_cast<int>(row), static_cast<int>(i - row * block), out[at],
                          (x * kBlendWeight + y * (256 - kBlendWeight) + 128) / 256, 0);
        }
    });
}

inline perfgate::sdk::Verification check_filter_bank(const std::vector<float>& out, std::int64_t n,
                                                     std::uint64_t seed) {
    const auto signal = input(kFirst, seed, static_cast<std::size_t>(n) + kTaps - 1);
    const auto taps = input(kSecond, seed, std::size_t{kTaps} * kFilters);
    return check_rows(n, 7, [&](std::int64_t x, common::Tally& tally) {
        for (int f = 0; f < kFilters; ++f) {
            double sum = 0, magnitude = 0;
            for (int t = 0; t < kTaps; ++t) {
                const double term = double{signal[static_cast<std::size_t>(x + t)]} *
                                    taps[static_cast<std::size_t>(t * kFilters + f)];
                sum += term;
                magnitude += std::abs(term);
            }
            tally.element(static_cast<int>(x), f, out[static_cast<std::size_t>(f * n + x)], sum,
                          rounding(kTaps, magnitude));
        }
    });
}

inline perfgate::sdk::Verification check_pointwise(const std::vector<float>& out,
                                                   std::int64_t pixels, std::uint64_t seed) {
    const auto weights = input(kSecond, seed, std::size_t{kFeatures} * kFeatures);
    const auto bias = input(kThird, seed, kFeatures);
    return check_rows(pixels, 7, [&](std::int64_t p, common::Tally& tally) {
        float x[kFeatures];
        const auto first = static_cast<std::size_t>(p) * kFeatures;
        common::fill_host_widened(x, common::Dtype::kF32, kFirst, seed, first, kFeatures);
        for (int j = 0; j < kFeatures; ++j) {
            const auto column = static_cast<std::size_t>(j);
            double sum = bias[column], magnitude = std::abs(sum);
            for (std::size_t k = 0; k < kFeatures; ++k) {
                const double term = double{x[k]} * weights[k * kFeatures + column];
                sum += term;
                magnitude += std::abs(term);
            }
            // The device's exponential is good to 2 + |x| units in the last place, and silu grows
            // at most 1.1 times as fast as its argument.
            const double allowed =
                1.1 * rounding(kFeatures + 1, magnitude) + (4 + std::abs(sum)) * 0x1p-22;
            tally.element(static_cast<int>(p), j, out[first + column], sum / (1 + std::exp(-sum)),
                          allowed);
        }
    });
}

inline perfgate::sdk::Verification check_row_scan(const std::vector<float>& out, int rows, int cols,
                                                  std::uint64_t seed) {
    return check_rows(rows, 1, [&](std::int64_t row, common::Tally& tally) {
        std::vector<float> in(static_cast<std::size_t>(cols));
        const std::size_t first = static_cast<std::size_t>(row) * in.size();
        common::fill_host_widened(in.data(), common::Dtype::kF32, kFirst, seed, first, in.size());
        double sum = 0, magnitude = 0;
        for (int c = 0; c < cols; ++c) {
            sum += in[static_cast<std::size_t>(c)];
            magnitude += std::abs(in[static_cast<std::size_t>(c)]);
            tally.element(static_cast<int>(row), c, out[first + static_cast<std::size_t>(c)], sum,
                          rounding(c + 1, magnitude));
        }
    });
}

inline perfgate::sdk::Verification check_row_sum(const std::vector<float>& out, int cols,
                                                 std::uint64_t seed) {
    const auto rows = static_cast<std::int64_t>(out.size());
    return check_rows(rows, 1, [&](std::int64_t row, common::Tally& tally) {
        std::vector<float> in(static_cast<std::size_t>(cols));
        common::fill_host_widened(in.data(), common::Dtype::kF32, kFirst, seed,
                                  static_cast<std::size_t>(row) * in.size(), in.size());
        double sum = 0, magnitude = 0;
        for (const float value : in) {
            sum += value;
            magnitude += std::abs(value);
        }
        tally.element(static_cast<int>(row), 0, out[static_cast<std::size_t>(row)], sum,
                      rounding(cols, magnitude));
    });
}

inline perfgate::sdk::Verification check_normalize(const std::vector<float>& out,
                                                   std::uint64_t seed) {
    const std::uint64_t key = common::stream_key(seed, kFirst);
    constexpr std::int64_t block = 4096;
    const auto n = static_cast<std::int64_t>(out.size());
    return check_rows((n + block - 1) / block, 1, [&](std::int64_t row, common::Tally& tally) {
        for (std::int64_t i = row * block; i < std::min((row + 1) * block, n); ++i) {
            const double x = common::uniform(key, static_cast<std::uint64_t>(i));
            tally.element(static_cast<int>(row), static_cast<int>(i - row * block),
                          out[static_cast<std::size_t>(i)], (x - kMean) * kInverseDeviation, 1e-6);
        }
    });
}

}  // namespace camera
