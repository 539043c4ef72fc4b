// SPDX-License-Identifier: Apache-2.0
// A metric and its measured values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"
#include "util/other_work.hpp"

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

/// The slow end of a process's samples.
struct Tail {
    double slowest_tenth = 0;  ///< its mean
    double p99 = 0;

    bool operator==(const Tail&) const = default;
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
    std::string excluded{};
    std::optional<double> sm_clock_mhz = std::nullopt;  ///< while it was taken, if known
    std::int64_t run = 0;  ///< of a baseline: which of the runs that recorded it; 0 in a run
    /// The slow tail of a baseline's time, whose samples are one value.
    std::optional<Tail> tail = std::nullopt;
    /// What its values consist of, if that is not the series' `detail`. Kept of prepare_time.
    std::string detail{};
    /// Of a time on the host: what others' work took from its process, if known.
    std::optional<util::OtherWork> other_work = std::nullopt;

    bool operator==(const Batch&) const = default;
};

/// How a value was obtained. Values of different methods are never compared. Documents and messages
/// have its text, "event/cold/blocked" or "activity/callbacks/2 processes", which only from_text
/// and to_text know.
struct Method {
    Method() = default;
    /// As from_text.
    Method(std::string_view text);
    Method(const char* text) : Method(std::string_view(text)) {}
    Method(const std::string& text) : Method(std::string_view(text)) {}
    Method(std::string_view source_name, std::string_view way_name,
           std::optional<Cache> before_launch = std::nullopt)
        : source(source_name), way(way_name), cache(before_launch) {}

    std::string source;  ///< what has the value: "activity", "event", "wall", "google-benchmark", …
    std::string way;     ///< how the source was used: "blocked", "callbacks", "median"
    std::optional<Cache> cache;  ///< before each launch
    int processes = 1;           ///< of a program, that worked on the GPU
    int communicating = 0;       ///< of these, where only they have the value
    bool of_ceiling = false;     ///< a share of the device's ceiling
    bool debug_build = false;    ///< of the benchmark library

    bool operator==(const Method&) const = default;
};

// Sources that the gate knows.
inline constexpr std::string_view activity_source = "activity", counter_source = "counter",
                                  wall_source = "wall";
/// The source of a `tracing_overhead` that is a range's own; any other is the whole process's.
inline constexpr std::string_view ranges_source = "ranges";

std::string to_text(const Method& method);
/// The method with this text. A text that to_text never writes is a source of its own.
Method from_text(std::string_view text);

/// One metric of one case. `value` is the median of all samples in use.
struct MetricSeries {
    std::string unit;
    double value = 0;
    Method method;
    std::vector<Batch> batches;
    /// What the value consists of, in words: "cudaMalloc 2, cudaStreamSynchronize 1". Usually
    /// empty.
    std::string detail{};

    bool operator==(const MetricSeries&) const = default;
};

/// Whether two series of one metric were obtained in one way: others are never compared.
bool comparable(const MetricSeries& left, const MetricSeries& right);

std::string_view to_text(Direction direction);
std::string_view to_text(MetricClass metric_class);
std::string_view to_text(Fold fold);

/// The samples of all batches in use, in order.
std::vector<double> all_samples(const MetricSeries& series);

// How far a gated metric may move. Written in suites, carried by the Run, applied by the gate.

/// What follows if a gated metric is worse than its tolerance: the run fails, or it only says so.
enum class Severity { fail, warn };

std::string_view to_text(Severity severity);

/// `worse` and `better` are fractions of the baseline (0.03 is 3 %); `abs` is in the metric's unit.
/// A change counts only if it exceeds both the fraction and `abs`. Without `better`, an improvement
/// beyond `worse` is reported as improved.
struct Tolerance {
    double worse = 0;
    std::optional<double> better;
    double abs = 0;
    /// Nothing: what the policy says of the metric's class.
    std::optional<Severity> severity = std::nullopt;
    /// How much worse the slowest tenth of a time's samples may be; nothing: twice `worse`.
    std::optional<double> tail = std::nullopt;

    bool operator==(const Tolerance&) const = default;
};

/// "3 %" or "worse 2 %, better 10 %, at least 500 ns". Without its severity.
std::string to_text(const Tolerance& tolerance, const std::string& unit);

}  // namespace perfgate::model
