// SPDX-License-Identifier: Apache-2.0
// The decision rule: whether a metric's change against its baseline counts. Knows values and
// tolerances; not cases, files or wording.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/metric.hpp"
#include "model/tolerance.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// One metric of one case against its baseline: same unit, same method. What the pointers name
/// outlives the comparison; none is null.
struct Comparison {
    const model::MetricDefinition* definition = nullptr;
    const model::MetricSeries* baseline = nullptr;
    const model::MetricSeries* measured = nullptr;
    model::Tolerance tolerance;
    /// Added to the tolerance's fractions: for a timing on another board of the same key.
    double leeway = 0;
};

/// What a judgement rests on.
enum class Basis {
    tolerance,    ///< the values and the tolerance
    one_process,  ///< the same, because how far processes lie apart is not known
    exact,        ///< the values: the baseline's processes all had the same
    spread,       ///< a test against the spread between processes
};

/// `verdict` is pass, improved, regressed, inconclusive or invalid (there is no finite number to
/// judge). The values are those that it rests on, in the metric's unit.
struct Judgement {
    model::Verdict verdict = model::Verdict::pass;
    double baseline = 0;
    double measured = 0;
    Basis basis = Basis::tolerance;
    /// Of a change this large and larger where there is none. Where it was asked: beyond the
    /// tolerance.
    std::optional<double> probability = std::nullopt;
    /// The least change that is found nine times out of ten, as a fraction of the baseline.
    std::optional<double> minimum_detectable_change = std::nullopt;
    /// The spread alone hides changes as large as the tolerance.
    bool tolerance_is_finer = false;
    /// The baseline's own processes lie further apart than the tolerance: see disagrees().
    bool baseline_disagrees = false;
    /// Fresh processes could tell whether there is a change.
    bool measure_again = false;

    bool operator==(const Judgement&) const = default;
};

class Rule {
  public:
    virtual ~Rule() = default;

    /// One judgement per comparison, in order. All of a run's comparisons come in one call, because
    /// a rule that bounds the false alarms of a run must know how many there are.
    virtual std::vector<Judgement> judge(std::span<const Comparison> comparisons) const = 0;
};

/// How a change is seen: by how much, and whether it is for the better.
struct Change {
    bool good_way = false;
    double size = 0;      ///< how far the values lie apart
    double allowed = 0;   ///< how far they may; for a zero tolerance 0
    bool counts = false;  ///< size is beyond what is allowed

    bool operator==(const Change&) const = default;
};

/// The change from one value to the other by the comparison's direction and tolerance. Exactly at
/// the tolerance it does not count, also where its decimal text has no exact double.
Change change_between(const Comparison& comparison, double baseline, double measured);

/// The median of the measured samples against the median of the baseline's. A change counts where
/// it exceeds both the tolerance's fraction of the baseline and its `abs`; exactly at the tolerance
/// it does not. With a baseline of 0 only `abs` allows a difference.
Judgement judge_medians(const Comparison& comparison);

}  // namespace perfgate::gate
