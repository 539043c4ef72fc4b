// SPDX-License-Identifier: Apache-2.0
// A metric and its measured values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::model {

/// Which way is better. A metric with no direction fails both ways when it is gated.
enum class Direction { lower, higher, none };

/// Where the decision rule starts: `exact` counts repeat to the digit, `counter` values have a
/// small spread, `timing` values are samples of a distribution.
enum class MetricClass { exact, counter, timing };

/// How the values of a case's kernels become the case's value.
enum class Fold { sum, max, ratio, weighted_mean };

/// Units are spelled: "ns", "bytes", "Hz", "%", "count", "ratio", "flop", "flop/s", "bytes/s",
/// "flop/byte", "registers", "J", "W", "flop/J", "bytes/J".
struct MetricDefinition {
    std::string name;
    std::string description;
    std::string unit;
    Direction direction = Direction::lower;
    MetricClass metric_class = MetricClass::counter;
    Fold fold = Fold::sum;

    bool operator==(const MetricDefinition&) const = default;
};

/// The samples of one process, in the metric's unit, in the order of measurement.
struct Batch {
    std::int64_t process = 0;  ///< number of the process within the run, from 0
    std::string device;        ///< board id (hashed UUID) or "host"
    std::uint64_t seed = 0;    ///< seed of the inputs
    std::vector<double> samples;
    /// 0: the first round; 1, 2, …: measured again because the case was flagged in the rounds
    /// before.
    std::int64_t round = 0;
    /// Why this batch is excluded ("power brake while it was taken"); empty: it is used.
    std::string excluded{};  // NOLINT(readability-redundant-member-init): not all name it
    std::optional<double> sm_clock_mhz = std::nullopt;  ///< while it was taken, if known
    std::int64_t run = 0;  ///< of a baseline: which of the runs that recorded it; 0 in a run

    bool operator==(const Batch&) const = default;
};

/// One metric of one case. `value` is the median of all samples in use. `method` says how it was
/// obtained, for instance "activity/cold" or "event/cold/blocked": values of different methods are
/// never compared.
struct MetricSeries {
    std::string unit;
    double value = 0;
    std::string method;
    std::vector<Batch> batches;
    /// What the value consists of, in words: "cudaMalloc 2, cudaStreamSynchronize 1". Usually
    /// empty.
    std::string detail{};  // NOLINT(readability-redundant-member-init): not all name it

    bool operator==(const MetricSeries&) const = default;
};

/// Whether two series of one metric were obtained in one way: others are never compared.
bool comparable(const MetricSeries& left, const MetricSeries& right);

std::string_view to_text(Direction direction);
std::string_view to_text(MetricClass metric_class);
std::string_view to_text(Fold fold);

/// The samples of all batches in use, in order.
std::vector<double> all_samples(const MetricSeries& series);

}  // namespace perfgate::model
