// SPDX-License-Identifier: Apache-2.0
// What one process is to measure of a case, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/source_kernel.hpp"

namespace perfgate::measure {

struct CaseSettings {
    std::vector<std::string> metrics;
    std::uint64_t seed = 0;         ///< of the measured inputs
    std::uint64_t verify_seed = 0;  ///< fresh for every run
    double precision = 0.005;
    double time_budget_s = 0.1;
    std::optional<double> added_work = std::nullopt;  ///< as model::PlannedCase has it
    std::int64_t process = 0;    ///< number of the worker process within the run
    std::int64_t round = 0;      ///< of the batches
    bool times_only = false;     ///< one more batch of each time: verified and recorded before
    bool arguments_too = false;  ///< with times_only: a launch is recorded for its arguments
    bool untraced = false;  ///< with times_only: of a process without CUPTI; only what that needs
    bool verify_only = false;
    bool deterministic = false;  ///< as model::PlannedCase has it
    bool code_only = false;      ///< one launch is recorded: nothing is verified or timed
    /// Launched in place of a plugin's variant.
    std::optional<model::SourceKernel> kernel = std::nullopt;

    bool operator==(const CaseSettings&) const = default;
};

}  // namespace perfgate::measure
