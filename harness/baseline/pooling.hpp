// SPDX-License-Identifier: Apache-2.0
// Pools several runs for a baseline: the spread of processes and runs, counts that do not repeat,
// and how small a tolerance can be.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::baseline {

/// The runs as one: the first, with the batches of all, each marked with its run
/// (model::Batch::run). A case that one of them did not measure has that run's status. Throws
/// InputError if they do not have the same cases, device and tools.
model::Run combine_runs(std::vector<model::Run> runs);

/// A series as a baseline stores it: one value for each of several processes, as BatchRule uses
/// them. The rule needs no more, and hundreds of samples per line would hide changes from a
/// reviewer. A single process keeps its samples.
model::MetricSeries condensed(const model::MetricSeries& series);

/// Whether a gated metric of the case differs between its processes by more than half of its
/// tolerance: then twice as many processes noticeably reduce the minimum detectable change.
bool noisy(const model::CaseResult& result);
/// The deviation of the processes' values, as a share of the tolerance; 0: there is only one.
double spread_of_tolerance(const model::MetricSeries& series, const model::Tolerance& tolerance);

/// A case with a counter whose tolerance is below the minimum detectable change, and the one that
/// is not. Times are `Unshown`.
struct TooFine {
    std::string id;
    double needed = 0;  ///< as in Proposal

    bool operator==(const TooFine&) const = default;
};

/// How small the tolerance of a metric can be, over the cases that gate it.
struct Proposal {
    std::string metric;
    std::size_t cases = 0;
    /// Tolerances that suffice for half of the cases, nine of ten, and all: of times as
    /// `Unshown::needed`, of counters larger than the changes that the spread alone causes.
    /// Fractions of the baseline, of a share percentage points.
    double half = 0, most = 0, all = 0;
    bool points = false;
    std::string worst_id;
    std::vector<TooFine> too_fine;  ///< those that need most first

    bool operator==(const Proposal&) const = default;
};

/// An exact metric of a case that differed between its processes.
struct Demotion {
    std::string id, metric;

    bool operator==(const Demotion&) const = default;
};

/// A time of which the next run would often not be shown to be within its tolerance, or about which
/// the processes disagree by more than that.
struct Unshown {
    std::string id, metric;
    /// Fraction of the baseline, of a share percentage points; with `abs`.
    double tolerance = 0;
    /// What nine of ten runs would be shown to be within; absent: too few processes for any.
    std::optional<double> needed = std::nullopt;
    bool points = false;

    bool operator==(const Unshown&) const = default;
};

/// A kernel that the pattern of a label matches beside much longer ones.
struct TinyKernel {
    std::string id, kernel, longest;  ///< the case; short names
    double time_ns = 0, longest_ns = 0;
    double tolerance = 0;  ///< fraction: what a time so short needs by itself

    bool operator==(const TinyKernel&) const = default;
};

/// A time that rises or falls steadily, over all cases that gate it.
struct SteadyTrend {
    std::string metric;
    double change = 0;      ///< in all, as a fraction
    bool sessions = false;  ///< from session to session; else from process to process of one

    bool operator==(const SteadyTrend&) const = default;
};

/// Cases in which a tolerance's `abs` allows more of a metric than its fraction does.
struct AllowedByAbs {
    std::string metric, worst_id;
    std::size_t cases = 0;
    double most = 0;  ///< fraction of the baseline, of `worst_id`

    bool operator==(const AllowedByAbs&) const = default;
};

struct PoolingFindings {
    std::vector<Proposal> proposals;  ///< by metric, for those whose spread is known
    std::vector<Demotion> demotions;
    std::vector<Unshown> unshown;
    std::vector<TinyKernel> tiny;
    std::vector<SteadyTrend> trends;
    std::vector<AllowedByAbs> by_abs;
    /// The most runs that recorded a time of the baseline on one of the run's boards: with one,
    /// what sessions differ by is not known, with two hardly. 0: none.
    std::size_t sessions = 0;
    /// The share of the processors that others had while a time was measured, of the case where it
    /// is largest; 0: none, or it is not known.
    double others_busy = 0;
};

/// From which share on readers should know of it.
inline constexpr double notable_other_work = 0.1;

/// The findings for the baseline of a run's suite, for the metrics that its cases gate. Times are
/// compared as the gate does: of a baseline of several boards, with those of the run's board.
PoolingFindings pooling_findings(const model::Run& run, const model::SuiteResult& suite,
                                 const model::Baseline& baseline, const model::Policy& policy);

}  // namespace perfgate::baseline
