// SPDX-License-Identifier: Apache-2.0
// Whether a benchmark measured what it reports. Times of several processes are never the same to
// the last digit; those of a file that an earlier run wrote are.
#pragma once

#include <string>

#include "model/run.hpp"

namespace perfgate::gate {

/// Whether the benchmark reported the values of `series`, a metric of this case; else they were
/// recorded.
bool reported_by_benchmark(const model::CaseResult& result, const model::MetricSeries& series);

/// Why the times cannot be measurements, in one clause: at least three processes reported the same
/// samples, and chance makes that improbable. One value in all samples is improbable if it has so
/// many digits that a thousandth of it shows. Empty: they can be measurements.
std::string repeated_results(const model::MetricSeries& series);

}  // namespace perfgate::gate
