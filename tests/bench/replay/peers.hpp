// SPDX-License-Identifier: Apache-2.0
// Rules of other projects, as their documentation and sources state them, for scale. Each says
// whether `now` is slower than `before`; samples of one process each.
#pragma once

#include <span>
#include <vector>

namespace perfgate::replay {

using Samples = std::vector<double>;

struct Peer {
    const char* name;
    bool (*slower)(const Samples& before, const Samples& now);
};

/// Fixed thresholds on medians, Google Benchmark's U test, nvbench's two comparisons.
std::span<const Peer> peers();

}  // namespace perfgate::replay
