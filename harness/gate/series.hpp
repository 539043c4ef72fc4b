// SPDX-License-Identifier: Apache-2.0
// What a series is to the gate: one value for each process, of one board or of several. And series
// that were not measured: a measured one repeated in other processes or moved, to try what the gate
// says of it (proof.hpp, self_test.hpp, review/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/metric.hpp"

namespace perfgate::gate {

/// Trimmed mean of the processes, for the size of the change. The tests use all of them.
inline constexpr double trimmed_processes = 0.2;
bool in_use(const model::Batch& batch);
/// One value for the batch's process; NaN if a sample is not finite.
double batch_value(const model::Batch& batch);
bool all_finite(const std::vector<double>& values);

/// The batches that count: not excluded, and of the rounds after the first if there are any.
std::vector<const model::Batch*> batches_in_use(const model::MetricSeries& series);

/// The last round that measured the series, of its batches that are not excluded.
std::int64_t last_round_of(const model::MetricSeries& series);

/// One value for each of them: what BatchRule judges. A series without batches has its value;
/// empty where every batch was excluded.
std::vector<double> batch_values(const model::MetricSeries& series);

/// The same of the batches of all rounds: of an exact metric, whose batches no round selects.
std::vector<double> values_of_all_rounds(const model::MetricSeries& series);

/// Also of none.
bool all_equal(const std::vector<double>& values);

/// The one estimate of a series, which all reports show: the trimmed mean of these values.
double estimate_of(const model::MetricSeries& series);

/// Whether a time's slow end is judged beside its estimate: better is lower, as of a duration.
bool has_tail(const model::MetricDefinition& definition);

/// With fewer samples a process's value trims none, and shows the slow ones itself.
inline constexpr std::size_t least_samples_of_tail = 10;

/// The slow end of a process's samples, stored or from ten samples or more. A tenth of a sample
/// counts as that share of it, so that the mean hardly depends on how many there are.
std::optional<model::Tail> tail_of(const model::Batch& batch);

/// The series with the mean of all samples as each process's sample.
model::MetricSeries untrimmed(model::MetricSeries series);

/// The series with the mean of the slowest tenth as each process's sample, of the processes in use
/// that have one: others show all samples in their value. Absent with fewer than 30 samples.
std::optional<model::MetricSeries> slowest_tenths(const model::MetricSeries& series);

/// The mean of all samples, of which none is trimmed: what relations use of an exact metric.
double untrimmed_estimate_of(const model::MetricSeries& series);

/// Whether the series has several processes, and all of them have the same value.
bool repeats(const model::MetricSeries& series);

/// With at least so many boards, what they differ by is learned and allowed, up to the suite's
/// `cross_board_tolerance`; with fewer, that is added to the tolerance.
inline constexpr std::size_t least_boards = 3;

/// The number of processes in use, by board.
std::map<std::string, std::size_t> boards_of(const model::MetricSeries& series);

/// The part of the series that was measured on this board, with its median as value.
model::MetricSeries series_of_board(const model::MetricSeries& series, const std::string& board);

/// What is planted is this many times what the gate claims to detect.
inline constexpr double times_the_claim = 2;

/// The series as if so many processes had measured it in each round on this board: their values are
/// the quantiles of its own.
model::MetricSeries replayed(const model::MetricSeries& series,
                             const std::vector<std::size_t>& processes_by_round,
                             const std::string& board);

/// The series moved by a part of its estimate: a factor where that is positive. What is not
/// negative does not become so, and shares end at 100 %.
model::MetricSeries moved(model::MetricSeries series, double estimate, double amount,
                          const std::string& metric);

}  // namespace perfgate::gate
