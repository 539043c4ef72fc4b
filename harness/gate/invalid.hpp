// SPDX-License-Identifier: Apache-2.0
// Why a measured value cannot be what it says: what recording cost a program is in it, it is
// impossible, or its benchmark did not measure it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/environment.hpp"
#include "model/run.hpp"

namespace perfgate::gate {

/// The fraction by which recording lengthened the program: the geometric mean over the batches,
/// with Student's 95 % interval.
struct Overhead {
    double mean = 0;
    /// One batch has no interval.
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

/// A time is impossible if it is this much faster than the ceilings of its run allow. A kernel that
/// only reads can exceed the bandwidth of a copy by a tenth, and a short product the rate of a long
/// one, which is limited by power, by a fifth. The largest excess of the recorded runs is 2 %.
inline constexpr double ceiling_margin = 1.25;

/// The device time of one launch, in seconds; 0 if it has none.
double device_seconds(const model::CaseResult& result);

/// Why an amount is none, in one clause: it is negative, as -1 for "not available". Empty: it is
/// not, or it is a share, which may be.
std::string negative(const model::MetricSeries& series);

/// Why the time is impossible, in one clause; empty if it is possible, or the case states no work,
/// or nothing was measured to compare it with. As many bytes as the L2 cache holds cost nothing.
std::string too_fast(const model::CaseResult& result, const model::Environment& environment);

/// Whether the benchmark reported the values of `series`, a metric of this case; else they were
/// recorded.
bool reported_by_benchmark(const model::CaseResult& result, const model::MetricSeries& series);

/// Why the values cannot be measurements, in one clause: at least three processes, and no other,
/// or two with many different samples, reported the same samples, and chance makes that improbable.
/// One value in all samples is improbable if it has so many digits that a thousandth of it shows.
/// Empty: they can be measurements.
std::string repeated_results(const model::MetricSeries& series);

/// Why stored results cannot be a second measurement, in one clause: all of their processes have
/// times of the baseline's, in any order, and chance makes that improbable. Empty: they can be.
std::string repeated_baseline(const model::MetricSeries& baseline,
                              const model::MetricSeries& measured);
/// Why `series`, the values of a gated metric of this case or of its baseline, are no measurement,
/// in one clause: negative, or reported by the benchmark and not measured. A tolerance of nothing
/// says that they are the same in every process, as of a simulator. `is_measured`: as below.
std::string no_measurement(const model::CaseResult& result, const model::GateRule& gate,
                           const model::MetricSeries& series, bool is_measured);

/// The values are measured, not counted: times and rates always, others if the baseline's processes
/// differ.
bool measures(const model::MetricDefinition& definition, const model::MetricSeries* baseline);

}  // namespace perfgate::gate
