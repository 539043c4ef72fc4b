// SPDX-License-Identifier: Apache-2.0
// The Verdict: what the gate says of a Run, per metric and case, and the exit code that follows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/environment.hpp"
#include "model/metric.hpp"
#include "model/roofline.hpp"
#include "model/run.hpp"

namespace perfgate::model {

enum class Verdict {
    pass,
    improved,
    skipped,
    acknowledged,  ///< a regression that is accepted until a date
    warned,        ///< worse than the tolerance of a gate that only warns
    no_baseline,
    inconclusive,
    invalid,
    not_collected,
    error,
    missing,
    regressed,
    incorrect,
};
inline constexpr Verdict worst_verdict = Verdict::incorrect;

/// Whether the gate found a case or metric to be worse, by a gate that fails or one that warns.
constexpr bool is_worse(Verdict verdict) {
    return verdict == Verdict::regressed || verdict == Verdict::warned;
}

/// How a case's code compares with the baseline's.
enum class CodeChange {
    unknown,    ///< not known for one of the two
    unchanged,  ///< machine code, launch, arguments, inputs, driver and host code are the same
    device_unchanged,  ///< the machine code is the same, something else is not
    changed,
};

/// Why a metric is inconclusive. A case has the last of its metrics' doubts.
enum class Doubt {
    none,
    not_shown,        ///< the change may be within the tolerance or beyond it
    nothing_changed,  ///< it got worse, and all that it runs is the baseline's
    clock,            ///< the clock explains that it got worse
    unaccepted,       ///< it improved, and its baseline has hidden what gets worse for too long
    // What these say of a time does not show it to be within its tolerance either.
    unclear,  ///< it looks like more than the tolerance, and may be noise
    baseline_disagrees,
    choices_differ,            ///< its processes chose otherwise, and are not equally fast
    clock_hides,               ///< a higher clock may hide a regression
    nothing_launched_changed,  ///< it got worse, and only what it launches is the baseline's
    too_good,                  ///< so much better that it may not have done its work
    slow_processes,            ///< some processes are slower than all of the baseline's
    slow_tail,                 ///< the slowest tenth of its samples is beyond what it may be
    /// Others had the processors: that may be all that slowed it down, or hide a slowdown. No
    /// policy lets it through.
    other_work,
};

/// Whether the policy `not_shown` decides about it.
constexpr bool is_not_shown(Doubt doubt) {
    return doubt == Doubt::not_shown || doubt >= Doubt::unclear;
}

/// Shares one row of the table in harness/README.md: what CI is told.
enum class Outcome { pass, skipped, failure, error };

/// What happens to a comparison if its environment differs from the baseline's.
enum class OnChange {
    accept,  ///< no note
    warn,    ///< a note
    refuse,  ///< nothing is compared: what both sides have is invalid
};

/// What to do about each change of the environment. A different method is always refused.
struct ChangePolicy {
    OnChange board = OnChange::warn;  ///< another of the same key; concerns timing alone
    OnChange driver = OnChange::warn;
    OnChange cuda_toolkit = OnChange::warn;
    OnChange cupti = OnChange::warn;
    OnChange tool_version = OnChange::warn;

    bool operator==(const ChangePolicy&) const = default;
};

/// The severity of gates whose tolerance states none, by the metric's class.
struct SeverityPolicy {
    Severity exact = Severity::fail;
    Severity counter = Severity::fail;
    Severity timing = Severity::fail;

    Severity of(MetricClass metric_class) const;
    bool operator==(const SeverityPolicy&) const = default;
};

/// What the project has decided about its verdicts.
struct Policy {
    bool no_baseline_fails = false;
    bool inconclusive_fails = false;
    /// The probability with which a whole run fails for a time though none became slower by more
    /// than its tolerance; shared out over all that is judged by its spread.
    double false_alarms = 0.001;
    /// How often flagged cases may be measured again. 0: what was measured first decides.
    std::int64_t rounds = 2;
    /// An acknowledgement may end at most this many days ahead.
    std::int64_t acknowledgement_days = 90;
    ChangePolicy changed{};
    /// Whether a time fails that is not shown to be within its tolerance.
    bool not_shown_fails = false;
    SeverityPolicy severity{};
    /// A time that is better by more than this factor is not believed.
    double too_good = 3;
    /// How many days an improvement may stay unaccepted, since a run first saw it. After that a run
    /// fails for it if `improved_fails`; such a run also notes what it sees first.
    std::int64_t improvement_days = 30;
    bool improved_fails = false;
    /// Whether suites that have a baseline of the device and were not given are missing.
    bool complete = false;

    bool operator==(const Policy&) const = default;
};

std::string_view to_text(Verdict verdict);
std::string_view to_text(OnChange on_change);
std::string_view to_text(CodeChange change);
std::string_view to_text(Doubt doubt);
/// For a relation, or a verdict without doubt.
Outcome outcome_of(Verdict verdict, const Policy& policy);

/// 0, 1, 3 or 4: the exit code if this were the only verdict.
int exit_code(Verdict verdict, const Policy& policy);

/// 1 takes precedence over 3, 3 over 4, any over 0; 130 and 2 over all.
int combine_exit_codes(int left, int right);

/// How bad a verdict is, for sorting and for a case's verdict from its metrics': higher is worse.
int severity(Verdict verdict);

/// Contains the change (a fraction of the baseline) with the probability `level`.
struct ChangeInterval {
    double low = 0, high = 0;
    double level = 0.95;

    bool operator==(const ChangeInterval&) const = default;
};

/// The time of a case is the first of these that it has.
inline constexpr std::string_view time_metrics[] = {"gpu_time", "host_time", "gpu_span"};

/// The slow end of a time's samples, of which the time's value leaves out a tenth: the mean of the
/// slowest tenth, and figures of all samples.
struct TailVerdict {
    double baseline = 0, measured = 0;
    double tolerance = 0;  ///< a fraction of `baseline`
    double beyond = 0;     ///< the share of the samples that exceed 1.5 times the baseline's p99
    std::optional<double> p95 = std::nullopt, p99 = std::nullopt, max = std::nullopt;

    bool operator==(const TailVerdict&) const = default;
};

struct MetricVerdict {
    std::string metric;
    std::string unit;
    Verdict verdict = Verdict::pass;
    std::optional<double> baseline;
    std::optional<double> measured;
    std::optional<double> change;  ///< fraction of the baseline; absent if that is 0
    std::string tolerance;         ///< in words
    std::string sentence;          ///< metric, baseline, measured, change, tolerance: one sentence
    /// The least change, as a fraction of the baseline, that this gate finds nine times out of ten
    /// on this machine. Absent if the spread is unknown or zero.
    std::optional<double> minimum_detectable_change = std::nullopt;
    /// Mean SM clock of the batches that a timing rests on; absent if not all of them have one.
    std::optional<double> baseline_clock_mhz = std::nullopt, measured_clock_mhz = std::nullopt;
    /// One value per judged batch, in the order of measurement, to show their spread. Empty if
    /// neither side has two different values.
    std::vector<double> baseline_batches = {}, measured_batches = {};
    /// The interval of a gated time's change; absent if the processes are too few for the level.
    std::optional<ChangeInterval> interval = std::nullopt;
    Doubt doubt = Doubt::none;                       ///< why it is inconclusive
    bool warns = false;                              ///< its gate never fails the run
    std::optional<TailVerdict> tail = std::nullopt;  ///< of a time with enough samples

    bool operator==(const MetricVerdict&) const = default;
};

/// It passed, or it is only not shown to be within its tolerance: nothing is known to have moved.
bool stayed(const MetricVerdict& verdict);

/// A doubt that the policy does not let pass fails.
Outcome outcome_of(const MetricVerdict& verdict, const Policy& policy);

/// One metric, or what follows from several, on both sides.
struct Figure {
    std::string metric;
    std::string unit;
    double before = 0;  ///< the baseline's
    double after = 0;   ///< this run's
    /// Which parts of it differ: "cudaMalloc 0 → 2, cudaFree 0 → 1". Usually empty.
    std::string detail{};

    bool operator==(const Figure&) const = default;
};

/// What moved in a case and what that suggests.
struct Cause {
    std::string rule;      ///< which row of explain/rules.cpp says so: "spills", "unexplained"
    std::string sentence;  ///< with every value that it uses, before → after
    std::vector<Figure> figures = {};
    /// What happened and its first value: "more registers (96 → 128), so that fewer warps fit".
    std::string brief = {};
    /// The line that it names; line 0: none.
    SourcePlace place{};

    bool operator==(const Cause&) const = default;
};

struct CaseVerdict {
    std::string workload;
    std::string id;
    SourcePlace place;
    Verdict verdict = Verdict::pass;
    std::string reason;  ///< one line; for a failed case all failed metrics are in `metrics`
    std::string log;     ///< last lines of stderr if the worker died
    double wall_s = 0;
    std::vector<MetricVerdict> metrics;
    std::vector<std::string> notes;  ///< "another board than the baseline's", "driver changed …"
    std::optional<CeilingShare> ceiling = {};  ///< if the run has ceilings to compare it with
    /// The baseline's values of metrics that are not judged, by name, if unit and method are the
    /// run's: used to explain a change.
    std::map<std::string, double> baseline_values = {};
    /// What the baseline's values consist of (MetricSeries::detail), of metrics whose value
    /// consists of something else in the run. Used to explain a change.
    std::map<std::string, std::string> baseline_details = {};
    /// The baseline's kernels of a program's case, of one whose code was compared and of one that
    /// is launched otherwise, for explanations.
    std::vector<Kernel> baseline_kernels = {};
    std::vector<Cause> why = {};  ///< the causes that explain/ found, most important first
    CodeChange code = CodeChange::unknown;
    Doubt doubt = Doubt::none;  ///< of the metric that decides
    /// Kernels whose machine code is not the baseline's, by short name.
    std::vector<std::string> changed_kernels = {};
    /// The commit of the baseline that it was judged by, and when that was measured (UTC). Empty if
    /// that is unknown, or if the case passed.
    std::string baseline_revision = {}, baseline_recorded_at = {};

    bool operator==(const CaseVerdict&) const = default;
};

/// The case passed, or is inconclusive because of metrics that are only not shown.
bool stayed(const CaseVerdict& verdict);

/// An inconclusive case fails if one of its inconclusive metrics does.
Outcome outcome_of(const CaseVerdict& verdict, const Policy& policy);
int exit_code(const CaseVerdict& verdict, const Policy& policy);

/// The metric that decides the case's verdict: of those with the worst one a time, else the one
/// that changed most. Null if the case's verdict is not one of its metrics'.
const MetricVerdict* deciding_metric(const CaseVerdict& verdict);

/// The first cause in brief, else the first line of the reason.
std::string first_reason(const CaseVerdict& verdict);

/// What users feel of a case, worst first.
enum class Effect {
    wrong,
    failed,  ///< it did not run to its end
    slower,
    missing,
    counter,     ///< only counters are worse
    unmeasured,  ///< invalid, or a metric was not collected
    unclear,
    warned,
    acknowledged,
    no_baseline,
    better,
    none,  ///< it passed or was skipped
};

std::string_view to_text(Effect effect);
Effect effect_of(const CaseVerdict& verdict);

/// Cases of a suite with the same effect for the same reason. Made by explain/.
struct CaseGroup {
    Effect effect = Effect::none;
    std::string sentence;  ///< the reason: "more instructions (25690112 → 146145280), in row_scan"
    std::vector<std::int64_t> cases;  ///< positions in the suite's cases, worst first

    bool operator==(const CaseGroup&) const = default;
};

/// One relation for one set of cases that belong together.
struct RelationVerdict {
    std::string relation;  ///< "transpose/swizzled.gpu_time <= 0.25 * transpose/naive.gpu_time"
    std::string leading;   ///< id of the first case: with the relation, it identifies the instance
    SourcePlace place;
    /// pass (holds), regressed (broken), error (a case or metric was not measured) or skipped.
    Verdict verdict = Verdict::pass;
    std::string unit;
    std::optional<double> left, right;  ///< in `unit`; absent if it could not be evaluated
    std::string sentence;               ///< what is compared, with both values, or why it is not

    bool operator==(const RelationVerdict&) const = default;
};

struct SuiteVerdict {
    std::string name;
    std::string file;
    std::string baseline_file;       ///< empty: there is none
    std::vector<std::string> notes;  ///< notes on the whole suite
    std::vector<CaseVerdict> cases;  ///< in the Run's order; `missing` ones last
    std::vector<RelationVerdict> relations = {};
    std::string summary = {};            ///< one sentence; with the groups it is made by explain/
    std::vector<CaseGroup> groups = {};  ///< worst first; without cases that passed or were skipped

    bool operator==(const SuiteVerdict&) const = default;
};

struct VerdictDocument {
    std::string tool_version;
    std::string started_at;
    double wall_s = 0;
    bool interrupted = false;
    bool verify_only = false;  ///< results were checked; nothing was measured
    std::string backend;
    Environment environment;
    Policy policy;
    int exit_code = 0;
    std::vector<SuiteVerdict> suites;
    std::string summary = {};  ///< of all suites, one sentence

    bool operator==(const VerdictDocument&) const = default;
};

/// Null if the document has no such case.
const CaseVerdict* find_case(const VerdictDocument& document, std::string_view suite,
                             std::string_view id);

/// Number of cases per verdict, over all suites.
std::map<Verdict, std::int64_t> count_verdicts(const VerdictDocument& document);
/// Number of inconclusive cases per doubt.
std::map<Doubt, std::int64_t> count_doubts(const SuiteVerdict& suite);
std::map<Doubt, std::int64_t> count_doubts(const VerdictDocument& document);

}  // namespace perfgate::model
