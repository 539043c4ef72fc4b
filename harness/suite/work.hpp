// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "suite/problems.hpp"

namespace perfgate::suite {

/// Bounds the total cost of cases × overrides, cases × metrics and combinations × rules: each
/// factor is bounded, their product is not. A step is well below a microsecond.
class Work {
  public:
    explicit Work(Problems& problems) : problems_(problems) {}

    void spend(std::size_t steps, Position at) {
        steps_ += steps;
        if (steps_ <= most_steps) return;
        problems_.fail(
            at,
            "too many overrides, metrics, relations or matrix rules for this many cases; "
            "expected a smaller suite: split it");
    }

  private:
    static constexpr std::size_t most_steps = 2'000'000;
    Problems& problems_;
    std::size_t steps_ = 0;
};

}  // namespace perfgate::suite
