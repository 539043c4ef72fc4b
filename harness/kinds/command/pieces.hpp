// SPDX-License-Identifier: Apache-2.0
// From the recordings of one run of a program to the values of its cases: pure functions.
//
// A program may consist of several processes, each with a recording of its own. The instances of
// ranges and kernels are those of all processes. For the program as a whole, times of the device
// and counts are added up; its span is the longest, its memory_peak the largest.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kinds/command/command.hpp"
#include "kinds/command/recorded.hpp"
#include "model/run.hpp"

namespace perfgate::command {

/// What the instances of a piece gave.
struct PieceValues {
    /// Why there are no values: nothing matched, or the program did nothing on the device.
    std::string problem;
    std::string idle;  ///< that what matched did nothing on the device: only the host's time counts
    std::string note;  ///< what a reader of the values should know
    std::size_t instances = 0;
    /// One value for each instance, by metric, in the metric's unit.
    std::map<std::string, std::vector<double>> samples;
    /// Counts, by metric: the mean over the instances; of `instances`, over the processes with
    /// work.
    std::map<std::string, double> counts;
    /// Why there are no samples of a metric, by metric.
    std::map<std::string, std::string> not_known;
    /// What a value is made of, by metric: which rank was late, what was communicated.
    std::map<std::string, std::string> details;
    /// Processes that communicate: `communication_skew` and what else compares them is about these.
    std::size_t communicating = 0;
};

PieceValues values_of(const Recorded& recorded, const Piece& piece);

/// The kernels of the piece's instances, each with each launch configuration once, in the order of
/// the first launches; `launches` and `time_ns` are means over the instances. Empty where there are
/// more than most_kernels different names: then nothing is known.
std::vector<model::Kernel> kernels_of(const Recorded& recorded, const Piece& piece);
inline constexpr std::size_t most_kernels = 1000;

/// The copies and memsets of the piece's instances, each size, kind and direction once; how many
/// there are is in the counts. Absent for kernels, and where more than most_kernels differ.
std::optional<std::vector<model::MemoryOperation>> memory_operations_of(const Recorded& recorded,
                                                                        const Piece& piece);

/// By which fraction recording lengthened the instances of a range, from a run in which only ranges
/// were recorded: the host's extra time for the median instance, as a share of the host's time or,
/// where device work outlasts that, of the span. At most that much of the span is due to recording.
/// Nothing if the piece is no range, or `bare` has none that counts.
std::optional<double> recording_overhead(const Recorded& bare, const Recorded& recorded,
                                         const Piece& piece);

/// What the GPU measured about itself during the instances of a range or the program.
struct SampledValues {
    std::map<std::string, std::vector<double>> samples;  ///< by metric, one for each instance
    std::map<std::string, std::string> details;          ///< by metric, where instances have none
    std::string problem;  ///< why there are none at all; empty: there are some
    std::string absent;   ///< why a metric that is not among them is absent
};
SampledValues sampled_values_of(const Recorded& recorded, const Piece& piece);

struct ApiCount {
    /// Nothing for `idle_share` and `longest_idle`, which are measured in another recording.
    std::optional<double> count;
    std::string detail{};   ///< "cudaStreamSynchronize 1, cudaMalloc 0.5 in forward"
    std::string problem{};  ///< why it could not be counted; empty: it could
};

/// What only a recording with API calls tells of a range or the program, by metric: `syncs` and, of
/// ranges, `uncapturable_calls` (means over the instances); `memory_peak`, the most memory that a
/// process holds on a device while an instance is open; what the host did while the device was
/// idle, as the detail of `idle_share` and (of the longest gaps alone) of `longest_idle`: "after
/// cudaStreamSynchronize 1.20 ms, nothing submitted 300.0 µs per instance".
std::map<std::string, ApiCount> api_counts_of(const Recorded& recorded, const Piece& piece);

/// What the host did while the device was idle, by samples of its stacks, of the process that was
/// idle longest: "81 % in Loader.__next__ → Queue.get, waiting for data". Empty without samples.
std::string host_of(const Recorded& recorded, const Piece& piece);

}  // namespace perfgate::command
