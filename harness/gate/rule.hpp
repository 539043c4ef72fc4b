// SPDX-License-Identifier: Apache-2.0
// The decision rule: whether a metric's change against its baseline counts. It knows values and
// tolerances, not cases, files or wording.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/metric.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// One metric of one case against its baseline: same unit, same method. The pointers must outlive
/// the comparison; none is null.
struct Comparison {
    const model::MetricDefinition* definition = nullptr;
    const model::MetricSeries* baseline = nullptr;
    const model::MetricSeries* measured = nullptr;
    model::Tolerance tolerance;
    /// Added to the tolerance's fractions: for a timing on another board of the same key.
    double leeway = 0;
    /// Comparisons of one suite were recorded together: what their sessions and boards differ by is
    /// learned from all that have the same metric.
    std::size_t suite = 0;
    /// The baseline has processes of three boards or more, and fewer than two of the measured one.
    bool new_board = false;
    /// With `new_board`: the most that is allowed for what boards differ by, as a fraction.
    double most_between_boards = 0;
    /// The baseline does not know the board of a time.
    bool other_board = false;
    /// Both were measured back to back on that board, as pairs of processes (model::Settled).
    bool paired = false;
};

/// What decides a judgement.
enum class Basis {
    tolerance,    ///< the values and the tolerance
    one_process,  ///< the same, because the spread between processes is not known
    exact,        ///< the values: the baseline's processes all had the same
    spread,       ///< a test against the spread between processes
};

/// `verdict` is pass, improved, regressed, inconclusive or invalid (there is no finite number to
/// judge). The values are those that were compared, in the metric's unit.
struct Judgement {
    model::Verdict verdict = model::Verdict::pass;
    double baseline = 0;
    double measured = 0;
    Basis basis = Basis::tolerance;
    /// The probability of values so far from the baseline if the change is just the tolerance.
    std::optional<double> probability = std::nullopt;
    model::Doubt doubt = model::Doubt::none;  ///< why it is inconclusive
    /// The processes are too few for a test of this change to reach the level.
    bool too_few_processes = false;
    /// Processes on each side that a test would need to reach the level; 0: there are enough.
    std::size_t enough_processes = 0;
    /// The level: a change counts if its probability is at most this.
    double needed_probability = 0;
    /// No test decides about this time, and the spread does not explain how much worse it is:
    /// see beyond_spread() in significance.cpp.
    bool beyond_spread = false;
    /// Contains the change, as a fraction of the baseline.
    std::optional<model::ChangeInterval> interval = std::nullopt;
    /// The interval lies within the tolerance.
    bool shown = false;
    /// The smallest change that is found nine times out of ten, as a fraction of the baseline.
    std::optional<double> minimum_detectable_change = std::nullopt;
    /// The spread alone hides changes as large as the tolerance.
    bool tolerance_is_finer = false;
    /// The baseline's own processes differ by more than the tolerance: see disagrees().
    bool baseline_disagrees = false;
    /// Measured processes, of all rounds, that are worse than each of the baseline's by more than
    /// what is allowed, and how many there are.
    std::size_t slow_processes = 0, processes = 0;
    /// Regressed at a level that needs no further round.
    bool confirmed = false;
    /// At the first look, if every process is worse than each of the baseline's: with so many it
    /// would be confirmed, and rounds would need more. 0: it would not.
    std::size_t first_look_processes = 0;
    /// More processes could decide whether there is a change.
    bool measure_again = false;

    bool operator==(const Judgement&) const = default;
};

class Rule {
  public:
    virtual ~Rule() = default;

    /// One judgement per comparison, in order. All of a run's comparisons come in one call, because
    /// a rule that bounds the false alarms of a run must know how many there are.
    virtual std::vector<Judgement> judge(std::span<const Comparison> comparisons) const = 0;

    /// Whether it judges pairs: what slows both of one cancels out.
    virtual bool judges_pairs() const { return false; }
};

/// The size of a change, and whether it is for the better.
struct Change {
    bool good_way = false;
    double size = 0;      ///< how far the values differ
    double allowed = 0;   ///< how far they may differ; 0 for a zero tolerance
    bool counts = false;  ///< size is beyond what is allowed

    bool operator==(const Change&) const = default;
};

/// The largest change that the tolerance allows of a value: it becomes factor * value + shift.
struct Allowance {
    double factor = 1;
    double shift = 0;

    /// What a value would be without the allowed change.
    double undone(double value) const { return (value - shift) / factor; }
};

/// What is allowed in one direction around this baseline value. A slowdown multiplies, so a
/// tolerance in per cent is a factor; `abs`, or a baseline that is not positive, is a shift.
Allowance allowance_of(const Comparison& comparison, double baseline, bool rises);

/// The fraction of the baseline that `abs` allows, where that is more than the tolerance's own
/// fraction; else 0, and for shares, whose `abs` is in points.
double share_by_abs(const model::MetricDefinition& definition, const model::MetricSeries& baseline,
                    const model::Tolerance& tolerance);

/// No value fails: better is higher, and the tolerance allows a positive baseline to fall to
/// nothing.
bool allows_nothing_left(const Comparison& comparison, double baseline);

/// The change from one value to the other by the comparison's direction and tolerance. A change
/// exactly at the tolerance does not count, even if its decimal text has no exact double.
Change change_between(const Comparison& comparison, double baseline, double measured);

/// Sets the verdict of a judgement whose values are finite. A change counts if it exceeds both the
/// tolerance's fraction of the baseline and its `abs`; exactly at the tolerance it does not. With a
/// baseline of 0 only `abs` allows a difference.
void judge_by_tolerance(const Comparison& comparison, Judgement& judgement);

/// The median of the measured samples against the median of the baseline's, by the tolerance alone.
Judgement judge_medians(const Comparison& comparison);

/// How the processes of the two sides belong together.
enum class Processes { alone, paired };

/// Fresh processes, or pairs, that a round (from 1) gives each flagged case: cases that are still
/// unclear get more. So many pairs can decide at the level of a round. The minimum detectable
/// change assumes these numbers.
constexpr std::size_t round_size(std::int64_t round, Processes processes = Processes::alone) {
    if (round > 1) return 32;
    return processes == Processes::paired ? 13 : 8;
}

/// Fresh collections of a case of which a counter fails or is unclear: so many, and as many more as
/// the next number says while it still does. The minimum detectable change assumes all of them.
inline constexpr std::array<std::size_t, 2> fresh_collections{2, 6};

}  // namespace perfgate::gate
