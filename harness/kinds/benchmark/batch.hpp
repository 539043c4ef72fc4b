// SPDX-License-Identifier: Apache-2.0
// Takes the batches of a suite's benchmarks, which measure themselves: a batch runs one process and
// reads what it wrote.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/benchmark/formats/results.hpp"
#include "kinds/command/program_runs.hpp"
#include "measure/programs.hpp"

namespace perfgate::command {

/// What a benchmark reports, or why not.
struct Reported {
    benchmark::Results results;
    std::string problem, log;  ///< empty: it has results
    bool stopped = false;      ///< the user has ended the run
};

/// Runs the benchmark once to learn its cases; this run does not count.
Reported find_results(const MeasurementOptions& options, const model::Command& command);

/// As Programs::measure says. Throws Failure, Stopped, util::Error.
void take_benchmark_batch(const MeasurementOptions& options, const measure::ProgramRequest& request,
                          std::vector<model::CaseResult>& results,
                          const std::function<void(std::string_view phase)>& observe);

}  // namespace perfgate::command
