// SPDX-License-Identifier: Apache-2.0
#include "document/run.hpp"

#include "document/shared.hpp"

namespace perfgate::document {

namespace {

constexpr Schema verdict_schema{"perfgate.verdict", 1, 3};

}  // namespace

template <>
inline constexpr JsonLayout layout_of<model::CaseVerdict> = JsonLayout::lines;
template <>
inline constexpr JsonLayout layout_of<model::SuiteVerdict> = JsonLayout::lines;

PERFGATE_FIELDS(model::ChangeInterval, required(low, high, level))

PERFGATE_FIELDS(model::TailVerdict, required(baseline, measured, tolerance, beyond),
                optional(p95, p99, max))

PERFGATE_FIELDS(model::MetricVerdict, required(metric, unit, verdict),
                named(optional, "reason_code", doubt),
                optional(baseline, measured, change, interval, tolerance),
                named(optional, renamed("minimum_detectable_change", "sees", 2),
                      minimum_detectable_change),
                optional(baseline_clock_mhz, measured_clock_mhz, sentence, baseline_batches,
                         measured_batches, warns, tail))

PERFGATE_FIELDS(model::Figure, required(metric, unit, before, after), optional(detail))

PERFGATE_FIELDS(model::Cause, required(rule, sentence), optional(figures, brief, place))

PERFGATE_FIELDS(model::CeilingShare, required(bound, ceiling),
                named(required, "ceiling_share", share))

PERFGATE_FIELDS(model::CaseVerdict, required(workload, id), optional(place), required(verdict),
                named(optional, "reason_code", doubt), optional(reason, log), always(wall_s),
                with(always, metrics, lines), optional(notes),
                also(archive.inlined("bound", of.ceiling)),
                optional(baseline_values, baseline_details),
                with(optional, baseline_kernels, run_lengths), with(optional, why, lines),
                optional(code, changed_kernels, baseline_revision, baseline_recorded_at))

PERFGATE_FIELDS(model::RelationVerdict, required(relation, leading), optional(place),
                required(verdict), optional(unit, left, right, sentence))

PERFGATE_FIELDS(model::CaseGroup, required(effect), optional(sentence), required(cases))

PERFGATE_FIELDS(model::SuiteVerdict, required(name), always(file), optional(baseline_file, notes),
                with(required, cases, lines), with(optional, relations, lines), optional(summary),
                with(optional, groups, lines))

PERFGATE_FIELDS(model::ChangePolicy, always(board, driver, cuda_toolkit, cupti, tool_version))

PERFGATE_FIELDS(model::SeverityPolicy, optional(exact, counter, timing))

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Policy>& of) {
    const model::Policy usual;
    const auto is_probability = [](JsonValue value, double number) {
        if (!(number > 0 && number < 1)) value.fail("expected a probability between 0 and 1");
    };
    const auto is_factor = [](JsonValue value, double number) {
        if (!(number > 1)) value.fail("expected a factor above 1");
    };
    PERFGATE_GROUPS(required(no_baseline_fails, inconclusive_fails),
                    with(optional, false_alarms, absent_if(usual.false_alarms), is_probability),
                    with(optional, rounds, absent_if(usual.rounds)),
                    with(optional, acknowledgement_days, absent_if(usual.acknowledgement_days)),
                    optional(changed, not_shown_fails, severity),
                    with(optional, too_good, absent_if(usual.too_good), is_factor),
                    with(optional, improvement_days, absent_if(usual.improvement_days)),
                    optional(improved_fails, complete));
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::VerdictDocument>& of) {
    const auto is_exit_code = [](JsonValue value, int code) {
        if (code > 255) value.fail("expected an exit code, 0 to 255");
    };
    PERFGATE_GROUPS(always(tool_version, started_at, wall_s, interrupted), optional(verify_only),
                    required(backend, environment), always(policy),
                    with(required, exit_code, is_exit_code), with(required, suites, lines),
                    optional(summary));
}

std::string write_verdict(const model::VerdictDocument& document) {
    return write_document(verdict_schema, document);
}

model::VerdictDocument parse_verdict(std::string_view json, std::string_view source) {
    JsonDocument parsed(std::string(json), source);
    model::VerdictDocument document;
    read_document(parsed, verdict_schema, document);
    return document;
}

}  // namespace perfgate::document
