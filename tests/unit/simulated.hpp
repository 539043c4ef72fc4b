// SPDX-License-Identifier: Apache-2.0
// Random numbers for simulations: the same on every machine and standard library, and the shapes
// that measured times have.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

namespace perfgate::simulated {

class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    /// In (0, 1).
    double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }

    std::size_t below(std::size_t count) {
        return static_cast<std::size_t>(uniform() * static_cast<double>(count));
    }

    double normal() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

  private:
    std::mt19937_64 engine_;
};

/// What one process adds to the time, in units of a typical spread.
using Shape = std::function<double(Random&)>;

inline double normal(Random& random) {
    return random.normal();
}

/// Log-normal: a short lower tail and a long upper one.
inline double skewed(Random& random) {
    return std::exp(random.normal());
}

/// Three in ten processes run at another clock.
inline double bimodal(Random& random) {
    return (random.uniform() < 0.3 ? 3 : 0) + 0.2 * random.normal();
}

/// One in six processes is lucky: attention kernels on an H100 have this shape.
inline double seldom_fast(Random& random) {
    return (random.uniform() < 1.0 / 6 ? -3 : 0) + 0.2 * random.normal();
}

/// Student's t with two degrees of freedom: no finite variance.
inline double heavy_tailed(Random& random) {
    const double u = random.uniform();
    return (2 * u - 1) / std::sqrt(2 * u * (1 - u));
}

inline std::vector<double> draw(Random& random, const Shape& shape, std::size_t count,
                                double shift = 0, double scale = 1) {
    std::vector<double> values;
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) values.push_back(shift + scale * shape(random));
    return values;
}

}  // namespace perfgate::simulated
