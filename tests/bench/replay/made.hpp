// SPDX-License-Identifier: Apache-2.0
// Generated processes, of which there are as many as the gate asks for: shapes of which recordings
// have too few, and sessions that differ by a known amount.
#pragma once

#include <cstddef>
#include <vector>

#include "replay/study.hpp"

namespace perfgate::replay {

/// A suite of one case for each shape: normal, a tail, modes, a time of a few clock ticks, a
/// baseline with one outlier. Baselines have 20 processes.
std::vector<Suite> made_shapes();

struct Drift {
    double sessions = 0.004;  ///< standard deviation between sessions
    double processes = 0.002;
    std::size_t recorded = 1;  ///< sessions of the baseline
    bool shared = false;       ///< a session shifts all cases alike
};

/// Twenty cases. Each session is slower or faster by chance; the run is a session of its own.
Suite made_drift(const Drift& drift);

}  // namespace perfgate::replay
