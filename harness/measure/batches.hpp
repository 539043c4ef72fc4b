// SPDX-License-Identifier: Apache-2.0
// The batches of a case, collected from one process after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/run.hpp"

namespace perfgate::measure {

/// A metric with one value; `batch` says where it is from, and gets it as its sample.
model::MetricSeries series_of_one(const model::MetricDefinition& definition, double value,
                                  model::Method method, model::Batch batch);

/// Adds the notes of a later process that no earlier one has, up to a limit, which the last note
/// then states.
void join_notes(model::CaseResult& result, const model::CaseResult& more);

/// Adds what a later process measured: its batches, notes, readings and cost. A batch that was
/// obtained in another way than the case's is kept and excluded. If it recorded its launch too,
/// argument words that differ are masked.
void join_batches(model::CaseResult& result, model::CaseResult more);

/// How many processes have taken batches in this round, for the timing metric with the most.
std::size_t processes_in_round(const model::CaseResult& result, std::int64_t round);

/// The highest round of any batch of what every process measures: counters have rounds of their
/// own.
std::int64_t last_round(const model::CaseResult& result);

/// The highest number of any process that took batches on `device`; -1: none.
std::int64_t last_process(const model::CaseResult& result, const std::string& device);

}  // namespace perfgate::measure
