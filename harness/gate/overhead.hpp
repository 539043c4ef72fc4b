// SPDX-License-Identifier: Apache-2.0
// What recording cost a program, and which metrics are invalid if it cost too much. Each batch has
// a bare and a recorded process, whose times make a pair.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"

namespace perfgate::gate {

/// By which fraction recording lengthened the program: the geometric mean over the batches, with
/// Student's 95 % interval.
struct Overhead {
    double mean = 0;
    /// Of one batch there is no interval.
    std::optional<double> low = std::nullopt, high = std::nullopt;
};

using Metrics = std::map<std::string, model::MetricSeries>;

/// Nothing if there is no `tracing_overhead`, which only cases of programs have.
std::optional<Overhead> overhead_of(const Metrics& metrics);

/// "+1.2 % (+0.4 to +2.1 %)".
std::string to_text(const Overhead& overhead);

/// One line for each program of a suite, for every report: "recording overhead of train: +1.2 %
/// (+0.4 to +2.1 %)"; where its cases differ, the least and the most.
std::vector<std::string> overhead_notes(const model::SuiteResult& suite);

/// Why a metric is invalid: it depends on the host's time (`span`, `idle_share`), and the interval
/// lies above the bound. Empty: it is valid, or there is no bound.
std::string distortion(const Metrics& metrics, std::optional<double> max_overhead,
                       std::string_view metric);

}  // namespace perfgate::gate
