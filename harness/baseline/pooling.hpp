// SPDX-License-Identifier: Apache-2.0
// What several runs together teach a baseline: how far processes and runs lie apart, which counts
// do not repeat, and how fine a tolerance can be.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::baseline {

/// The runs as one: the first, with the batches of all, each told which run it is of
/// (model::Batch::run). A case that one of them did not measure is what it is there. Throws
/// InputError where they are not of the same cases, device and tools: of what differs, nothing can
/// be pooled.
model::Run combine_runs(std::vector<model::Run> runs);

/// A series as a baseline keeps it: of several processes one value each, as BatchRule takes them.
/// That is all the rule asks of them; hundreds of samples a line would hide from a reviewer what
/// changed. A single process keeps its samples.
model::MetricSeries condensed(const model::MetricSeries& series);

/// Whether a metric that the case gates lies further apart between its processes than half of its
/// tolerance: as many processes again then let the gate see noticeably smaller changes.
bool noisy(const model::CaseResult& result);
/// The same of one metric.
bool noisy_metric(const model::MetricSeries& series, const model::Tolerance& tolerance);

/// How fine the tolerance of a metric can be, over the cases that gate it.
struct Proposal {
    std::string metric;
    std::size_t cases = 0;
    /// Fractions of the baseline that suffice for half of the cases, nine of ten, and all: coarser
    /// than what the spread alone makes.
    double half = 0, most = 0, all = 0;
    std::string worst_id;
    /// Of the cases, those whose present tolerance is finer than what the gate can tell from noise.
    std::size_t too_fine = 0;

    bool operator==(const Proposal&) const = default;
};

/// An exact metric of a case that its processes did not repeat.
struct Demotion {
    std::string id, metric;

    bool operator==(const Demotion&) const = default;
};

struct PoolingFindings {
    std::vector<Proposal> proposals;  ///< by metric; of those whose spread is known
    std::vector<Demotion> demotions;
};

/// What the baseline of a run's suite taught, for the metrics that its cases gate.
PoolingFindings pooling_findings(const model::Run& run, const model::SuiteResult& suite,
                                 const model::Baseline& baseline, const model::Policy& policy);

}  // namespace perfgate::baseline
