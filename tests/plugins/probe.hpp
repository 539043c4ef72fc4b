// SPDX-License-Identifier: Apache-2.0
// The probe workload: y[i] = x[i] through `iterations` multiply-adds; a known amount of work.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "perfgate.hpp"

namespace probe {

/// How the kinds of probe differ from the base: ten times the time on the host, which no load of
/// the machine hides, a tenth more work on the device; a wrong last element.
#if defined(PROBE_SLOW)
inline constexpr int host_factor = 10;
inline constexpr int cuda_percent = 110;
#else
inline constexpr int host_factor = 1;
inline constexpr int cuda_percent = 100;
#endif
#if defined(PROBE_WRONG)
inline constexpr bool wrong = true;
#else
inline constexpr bool wrong = false;
#endif

inline constexpr double multiplier = 0.999, addend = 0.001;

inline float input(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t bits = (seed + 1) * 0x9e3779b97f4a7c15ULL + index * 0xbf58476d1ce4e5b9ULL;
    bits ^= bits >> 31;
    bits *= 0x94d049bb133111ebULL;
    return static_cast<float>(bits >> 40) / static_cast<float>(1 << 24);
}

/// x -> m x + a, n times: m^n x + a (1 - m^n) / (1 - m).
inline double expected(double x, int iterations) {
    const double power = std::pow(multiplier, iterations);
    return power * x + addend * (1 - power) / (1 - multiplier);
}

inline perfgate::sdk::Verification check(const std::vector<float>& y, std::uint64_t seed,
                                         int iterations) {
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double want = expected(input(seed, i), iterations);
        if (!(std::abs(y[i] - want) <= 1e-3)) {
            return {false, "element " + std::to_string(i) + " is " + std::to_string(y[i]) +
                               ", expected " + std::to_string(want)};
        }
    }
    return {true, "all elements"};
}

}  // namespace probe
