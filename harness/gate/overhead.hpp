// SPDX-License-Identifier: Apache-2.0
// What recording cost a program, and which metrics are invalid where it cost too much. Each batch
// has a bare and a recorded process: their times make a pair.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/run.hpp"

namespace perfgate::gate {

/// By which fraction recording lengthened the program: the geometric mean over the batches, with
/// Student's 95 % interval.
struct Overhead {
    double mean = 0;
    /// Of one batch there is no interval.
    std::optional<double> low = std::nullopt, high = std::nullopt;
};

/// Nothing where the case is not a program's, or has no `tracing_overhead`.
std::optional<Overhead> overhead_of(const model::CaseResult& result);

/// "1.2 % (0.4 to 2.1 %)".
std::string to_text(const Overhead& overhead);

/// Why a metric of the case is invalid: it depends on the host (`span`, `idle_share`), and the
/// interval lies above the case's bound. Empty: it is not.
std::string distortion(const model::CaseResult& result, std::string_view metric);

}  // namespace perfgate::gate
