// SPDX-License-Identifier: Apache-2.0
// Joins the gate's verdicts with the measured values: reports show both.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::report {

struct JoinedCase {
    const model::CaseVerdict* verdict = nullptr;  ///< never null
    const model::CaseResult* result = nullptr;    ///< null: not in the run (`missing`)
};

struct JoinedSuite {
    const model::SuiteVerdict* verdict = nullptr;  ///< never null
    std::vector<JoinedCase> cases;                 ///< in the document's order
};

/// Points into both documents, which must outlive it.
std::vector<JoinedSuite> join(const model::VerdictDocument& document, const model::Run& run);

/// The cases of a group that need attention, worst first.
struct JoinedGroup {
    model::Effect effect = model::Effect::none;
    std::string_view sentence;  ///< its reason; untrusted
    std::vector<JoinedCase> cases;
};

/// By the verdict's groups. Cases that need attention and are in none follow, each with its own
/// reason: none is lost.
std::vector<JoinedGroup> groups_of(const JoinedSuite& suite, const model::Policy& policy);

/// One metric of one case: gated, only measured, or not collected.
struct MetricRow {
    std::string_view metric;
    std::string_view unit;
    const model::MetricSeries* series = nullptr;         ///< null: not measured
    const model::MetricVerdict* verdict = nullptr;       ///< null: not gated
    const model::NotCollected* not_collected = nullptr;  ///< null: collected, or not requested

    /// What the gate judged, or the run's value.
    std::optional<double> measured() const;
};

/// Every metric of either side, by name.
std::vector<MetricRow> metric_rows(const JoinedCase& joined);

/// The values of a metric of a case: those that the gate judged, so that all reports show the same,
/// or, if it did not judge the metric, the run's.
struct Value {
    std::string_view metric, unit;
    std::optional<double> baseline, measured, change;
    std::optional<model::ChangeInterval> interval = std::nullopt;
    std::optional<double> minimum_detectable_change = std::nullopt;
};

/// Nothing where neither side has a value.
std::optional<Value> find_value(const JoinedCase& joined, std::string_view metric);

/// The metric that decides the verdict, where it was measured; else the case's time.
std::optional<Value> find_deciding(const JoinedCase& joined);

/// Both values, with the digits that tell them apart, and how the value moved ("+10.2 %", "-12.5
/// points"); empty where there is none.
struct ValueTexts {
    std::string before, after, moved;
};
ValueTexts texts_of(const std::optional<double>& before, const std::optional<double>& after,
                    std::string_view unit);

/// "+10.2 %", "-12.5 points"; empty without values on both sides.
std::string moved_text(const Value& value);

/// "gpu_time 400.0 µs → 444.4 µs (+11.1 %)"; the change only if it is asked for.
std::string values_text(const Value& value, bool with_change);

/// Whether values on both sides decide the case.
bool is_compared(const JoinedCase& joined);

/// Whether it also has a cause, so that short_reason says more than the gate's sentences.
bool is_explained(const JoinedCase& joined);

/// What the deciding metric did, why and where, in a line: "gpu_time 60.8 µs → 199.8 µs (+228.7 %);
/// narrower loads (...), in blend_kernel"; the change only if it is asked for. Untrusted.
std::string short_reason(const JoinedCase& joined, bool with_change);

/// ", in filter_bank_kernel": the first with other machine code; empty: none has.
std::string in_kernel(const model::CaseVerdict& verdict);

/// The line that a cause names, else the one at which the first kernel with other machine code
/// begins; in the folder in which the run worked. Line 0: there is none.
model::SourcePlace line_to_look_at(const JoinedCase& joined);

/// "changed: gemm_tiled, kernels/gemm/tiled.cu:41", of the kernels with other machine code; empty
/// if there is none. Untrusted.
std::string changed_source(const JoinedCase& joined);

/// What it took to compile and tune the case, and what was chosen; empty: nothing. Untrusted.
std::string preparation_of(const JoinedCase& joined);

/// The case's time: the first of model::time_metrics that it has, or else its first gated metric.
std::optional<Value> find_time(const JoinedCase& joined);

}  // namespace perfgate::report
