// SPDX-License-Identifier: Apache-2.0
#include "document/verdict.hpp"

#include "document/shared.hpp"

namespace perfgate::document {

using model::Bound;
using model::CodeChange;
using model::Doubt;
using model::Effect;
using model::OnChange;
using model::Verdict;

namespace {

constexpr Schema verdict_schema{"perfgate.verdict", 1, 3};

}  // namespace

template <>
inline constexpr JsonLayout layout_of<model::CaseVerdict> = JsonLayout::lines;
template <>
inline constexpr JsonLayout layout_of<model::SuiteVerdict> = JsonLayout::lines;

template <class Archive>
void describe(Archive& archive, Described<Archive, model::ChangeInterval>& interval) {
    archive.required("low", interval.low);
    archive.required("high", interval.high);
    archive.required("level", interval.level);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::TailVerdict>& tail) {
    archive.required("baseline", tail.baseline);
    archive.required("measured", tail.measured);
    archive.required("tolerance", tail.tolerance);
    archive.required("beyond", tail.beyond);
    archive.optional("p95", tail.p95);
    archive.optional("p99", tail.p99);
    archive.optional("max", tail.max);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::MetricVerdict>& verdict) {
    archive.required("metric", verdict.metric);
    archive.required("unit", verdict.unit);
    archive.required("verdict", verdict.verdict);
    archive.optional("reason_code", verdict.doubt);
    archive.optional("baseline", verdict.baseline);
    archive.optional("measured", verdict.measured);
    archive.optional("change", verdict.change);
    archive.optional("interval", verdict.interval);
    archive.optional("tolerance", verdict.tolerance);
    archive.optional(renamed("minimum_detectable_change", "sees", 2),
                     verdict.minimum_detectable_change);
    archive.optional("baseline_clock_mhz", verdict.baseline_clock_mhz);
    archive.optional("measured_clock_mhz", verdict.measured_clock_mhz);
    archive.optional("sentence", verdict.sentence);
    archive.optional("baseline_batches", verdict.baseline_batches);
    archive.optional("measured_batches", verdict.measured_batches);
    archive.optional("warns", verdict.warns);
    archive.optional("tail", verdict.tail);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Figure>& figure) {
    archive.required("metric", figure.metric);
    archive.required("unit", figure.unit);
    archive.required("before", figure.before);
    archive.required("after", figure.after);
    archive.optional("detail", figure.detail);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Cause>& cause) {
    archive.required("rule", cause.rule);
    archive.required("sentence", cause.sentence);
    archive.optional("figures", cause.figures);
    archive.optional("brief", cause.brief);
    archive.optional("place", cause.place);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::CeilingShare>& ceiling) {
    archive.required("bound", ceiling.bound);
    archive.required("ceiling", ceiling.ceiling);
    archive.required("ceiling_share", ceiling.share);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::CaseVerdict>& verdict) {
    archive.required("workload", verdict.workload);
    archive.required("id", verdict.id);
    archive.optional("place", verdict.place);
    archive.required("verdict", verdict.verdict);
    archive.optional("reason_code", verdict.doubt);
    archive.optional("reason", verdict.reason);
    archive.optional("log", verdict.log);
    archive.always("wall_s", verdict.wall_s);
    archive.always("metrics", verdict.metrics, lines);
    archive.optional("notes", verdict.notes);
    archive.inlined("bound", verdict.ceiling);
    archive.optional("baseline_values", verdict.baseline_values);
    archive.optional("baseline_details", verdict.baseline_details);
    archive.optional("baseline_kernels", verdict.baseline_kernels, run_lengths);
    archive.optional("why", verdict.why, lines);
    archive.optional("code", verdict.code);
    archive.optional("changed_kernels", verdict.changed_kernels);
    archive.optional("baseline_revision", verdict.baseline_revision);
    archive.optional("baseline_recorded_at", verdict.baseline_recorded_at);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::RelationVerdict>& verdict) {
    archive.required("relation", verdict.relation);
    archive.required("leading", verdict.leading);
    archive.optional("place", verdict.place);
    archive.required("verdict", verdict.verdict);
    archive.optional("unit", verdict.unit);
    archive.optional("left", verdict.left);
    archive.optional("right", verdict.right);
    archive.optional("sentence", verdict.sentence);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::CaseGroup>& group) {
    archive.required("effect", group.effect);
    archive.optional("sentence", group.sentence);
    archive.required("cases", group.cases);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::SuiteVerdict>& verdict) {
    archive.required("name", verdict.name);
    archive.always("file", verdict.file);
    archive.optional("baseline_file", verdict.baseline_file);
    archive.optional("notes", verdict.notes);
    archive.required("cases", verdict.cases, lines);
    archive.optional("relations", verdict.relations, lines);
    archive.optional("summary", verdict.summary);
    archive.optional("groups", verdict.groups, lines);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::ChangePolicy>& changed) {
    archive.always("board", changed.board);
    archive.always("driver", changed.driver);
    archive.always("cuda_toolkit", changed.cuda_toolkit);
    archive.always("cupti", changed.cupti);
    archive.always("tool_version", changed.tool_version);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::SeverityPolicy>& severity) {
    archive.optional("exact", severity.exact);
    archive.optional("counter", severity.counter);
    archive.optional("timing", severity.timing);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Policy>& policy) {
    const model::Policy usual;
    const auto is_probability = [](JsonValue value, double number) {
        if (!(number > 0 && number < 1)) value.fail("expected a probability between 0 and 1");
    };
    const auto is_factor = [](JsonValue value, double number) {
        if (!(number > 1)) value.fail("expected a factor above 1");
    };
    archive.required("no_baseline_fails", policy.no_baseline_fails);
    archive.required("inconclusive_fails", policy.inconclusive_fails);
    archive.optional("false_alarms", policy.false_alarms, absent_if(usual.false_alarms),
                     is_probability);
    archive.optional("rounds", policy.rounds, absent_if(usual.rounds));
    archive.optional("acknowledgement_days", policy.acknowledgement_days,
                     absent_if(usual.acknowledgement_days));
    archive.optional("changed", policy.changed);
    archive.optional("not_shown_fails", policy.not_shown_fails);
    archive.optional("severity", policy.severity);
    archive.optional("too_good", policy.too_good, absent_if(usual.too_good), is_factor);
    archive.optional("improvement_days", policy.improvement_days,
                     absent_if(usual.improvement_days));
    archive.optional("improved_fails", policy.improved_fails);
    archive.optional("complete", policy.complete);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::VerdictDocument>& document) {
    const auto is_exit_code = [](JsonValue value, int code) {
        if (code > 255) value.fail("expected an exit code, 0 to 255");
    };
    archive.always("tool_version", document.tool_version);
    archive.always("started_at", document.started_at);
    archive.always("wall_s", document.wall_s);
    archive.always("interrupted", document.interrupted);
    archive.optional("verify_only", document.verify_only);
    archive.required("backend", document.backend);
    archive.required("environment", document.environment);
    archive.always("policy", document.policy);
    archive.required("exit_code", document.exit_code, is_exit_code);
    archive.required("suites", document.suites, lines);
    archive.optional("summary", document.summary);
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
