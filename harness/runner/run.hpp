// SPDX-License-Identifier: Apache-2.0
// `perfgate run`: suites → plan → run → verdict → reports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/choice.hpp"
#include "runner/reports.hpp"
#include "suite/plan.hpp"

namespace perfgate::runner {

struct RunRequest {
    std::vector<std::string> suites;  ///< files
    MeasuringChoice measuring;
    JudgingChoice judging;
    OutputOptions reports;
    std::optional<suite::ShardChoice> shard;  ///< absent: all cases
    bool canary = false;
};

/// Returns the exit code. Throws util::InputError (exit 2) before anything is measured if
/// suites are wrong or nothing is selected.
int run_suites(const RunRequest& request);

}  // namespace perfgate::runner
