// SPDX-License-Identifier: Apache-2.0
#include "model/shared_json.hpp"
#include "model/verdict.hpp"

namespace perfgate::model {

namespace {

constexpr std::string_view schema = "perfgate.verdict";
constexpr std::int64_t version = 1;

}  // namespace

// Static, not in an unnamed namespace: the templates find read and write by their arguments.

static void write(JsonWriter& json, const MetricVerdict& verdict) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "metric", verdict.metric);
    write_field(json, "unit", verdict.unit);
    write_field(json, "verdict", to_text(verdict.verdict));
    write_if_known(json, "baseline", verdict.baseline);
    write_if_known(json, "measured", verdict.measured);
    write_if_known(json, "change", verdict.change);
    write_unless_default(json, "tolerance", verdict.tolerance);
    write_if_known(json, "sees", verdict.sees);
    write_if_known(json, "baseline_clock_mhz", verdict.baseline_clock_mhz);
    write_if_known(json, "measured_clock_mhz", verdict.measured_clock_mhz);
    write_unless_default(json, "sentence", verdict.sentence);
    write_unless_default(json, "baseline_batches", verdict.baseline_batches);
    write_unless_default(json, "measured_batches", verdict.measured_batches);
    json.end_object();
}

static void write(JsonWriter& json, const Figure& figure) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "metric", figure.metric);
    write_field(json, "unit", figure.unit);
    write_field(json, "before", figure.before);
    write_field(json, "after", figure.after);
    json.end_object();
}

static void write(JsonWriter& json, const Cause& cause) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "rule", cause.rule);
    write_field(json, "sentence", cause.sentence);
    write_unless_default(json, "figures", cause.figures);
    json.end_object();
}

static void write(JsonWriter& json, const CaseVerdict& verdict) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "workload", verdict.workload);
    write_field(json, "id", verdict.id);
    write_unless_default(json, "place", verdict.place);
    write_field(json, "verdict", to_text(verdict.verdict));
    write_unless_default(json, "reason", verdict.reason);
    write_unless_default(json, "log", verdict.log);
    write_field(json, "wall_s", verdict.wall_s);
    json.key("metrics");
    json.begin_array(JsonLayout::lines);
    for (const MetricVerdict& metric : verdict.metrics) write(json, metric);
    json.end_array();
    write_unless_default(json, "notes", verdict.notes);
    if (verdict.ceiling) {
        write_field(json, "bound", to_text(verdict.ceiling->bound));
        write_field(json, "ceiling", verdict.ceiling->ceiling);
        write_field(json, "ceiling_share", verdict.ceiling->share);
    }
    write_unless_default(json, "baseline_values", verdict.baseline_values);
    if (!verdict.why.empty()) {
        json.key("why");
        json.begin_array(JsonLayout::lines);
        for (const Cause& cause : verdict.why) write(json, cause);
        json.end_array();
    }
    if (verdict.code != CodeChange::unknown) write_field(json, "code", to_text(verdict.code));
    json.end_object();
}

static void write(JsonWriter& json, const RelationVerdict& verdict) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "relation", verdict.relation);
    write_field(json, "leading", verdict.leading);
    write_unless_default(json, "place", verdict.place);
    write_field(json, "verdict", to_text(verdict.verdict));
    write_unless_default(json, "unit", verdict.unit);
    write_if_known(json, "left", verdict.left);
    write_if_known(json, "right", verdict.right);
    write_unless_default(json, "sentence", verdict.sentence);
    json.end_object();
}

static void write(JsonWriter& json, const SuiteVerdict& verdict) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "name", verdict.name);
    write_field(json, "file", verdict.file);
    write_unless_default(json, "baseline_file", verdict.baseline_file);
    write_unless_default(json, "notes", verdict.notes);
    json.key("cases");
    json.begin_array(JsonLayout::lines);
    for (const CaseVerdict& result : verdict.cases) write(json, result);
    json.end_array();
    if (!verdict.relations.empty()) {
        json.key("relations");
        json.begin_array(JsonLayout::lines);
        for (const RelationVerdict& relation : verdict.relations) write(json, relation);
        json.end_array();
    }
    json.end_object();
}

static void read_verdict(JsonValue object, Verdict& out) {
    using enum Verdict;
    read_choice(object.at("verdict"),
                {pass, improved, skipped, acknowledged, no_baseline, inconclusive, invalid,
                 not_collected, error, missing, incorrect, regressed},
                out);
}

static void read(JsonValue value, MetricVerdict& verdict) {
    read_field(value, "metric", verdict.metric);
    read_field(value, "unit", verdict.unit);
    read_verdict(value, verdict.verdict);
    read_optional(value, "baseline", verdict.baseline);
    read_optional(value, "measured", verdict.measured);
    read_optional(value, "change", verdict.change);
    read_optional(value, "tolerance", verdict.tolerance);
    read_optional(value, "sees", verdict.sees);
    read_optional(value, "baseline_clock_mhz", verdict.baseline_clock_mhz);
    read_optional(value, "measured_clock_mhz", verdict.measured_clock_mhz);
    read_optional(value, "sentence", verdict.sentence);
    read_optional(value, "baseline_batches", verdict.baseline_batches);
    read_optional(value, "measured_batches", verdict.measured_batches);
}

static void read(JsonValue value, Figure& figure) {
    read_field(value, "metric", figure.metric);
    read_field(value, "unit", figure.unit);
    read_field(value, "before", figure.before);
    read_field(value, "after", figure.after);
}

static void read(JsonValue value, Cause& cause) {
    read_field(value, "rule", cause.rule);
    read_field(value, "sentence", cause.sentence);
    read_optional(value, "figures", cause.figures);
}

static void read(JsonValue value, CaseVerdict& verdict) {
    read_field(value, "workload", verdict.workload);
    read_field(value, "id", verdict.id);
    read_optional(value, "place", verdict.place);
    read_verdict(value, verdict.verdict);
    read_optional(value, "reason", verdict.reason);
    read_optional(value, "log", verdict.log);
    read_optional(value, "wall_s", verdict.wall_s);
    read_optional(value, "metrics", verdict.metrics);
    read_optional(value, "notes", verdict.notes);
    if (const auto bound = value.find("bound")) {
        CeilingShare& ceiling = verdict.ceiling.emplace();
        read_choice(*bound, {Bound::memory, Bound::compute, Bound::neither}, ceiling.bound);
        read_field(value, "ceiling", ceiling.ceiling);
        read_field(value, "ceiling_share", ceiling.share);
    }
    read_optional(value, "baseline_values", verdict.baseline_values);
    read_optional(value, "why", verdict.why);
    if (const auto code = value.find("code")) {
        using enum CodeChange;
        read_choice(*code, {unknown, unchanged, device_unchanged, changed}, verdict.code);
    }
}

static void read(JsonValue value, RelationVerdict& verdict) {
    read_field(value, "relation", verdict.relation);
    read_field(value, "leading", verdict.leading);
    read_optional(value, "place", verdict.place);
    read_verdict(value, verdict.verdict);
    read_optional(value, "unit", verdict.unit);
    read_optional(value, "left", verdict.left);
    read_optional(value, "right", verdict.right);
    read_optional(value, "sentence", verdict.sentence);
}

static void read(JsonValue value, SuiteVerdict& verdict) {
    read_field(value, "name", verdict.name);
    read_optional(value, "file", verdict.file);
    read_optional(value, "baseline_file", verdict.baseline_file);
    read_optional(value, "notes", verdict.notes);
    read_field(value, "cases", verdict.cases);
    read_optional(value, "relations", verdict.relations);
}

/// The members of ChangePolicy by their names in documents.
template <typename Changed, typename Visit>
static void each_circumstance(Changed& changed, const Visit& visit) {
    visit("board", changed.board);
    visit("driver", changed.driver);
    visit("cuda_toolkit", changed.cuda_toolkit);
    visit("cupti", changed.cupti);
    visit("tool_version", changed.tool_version);
}

static void write(JsonWriter& json, const ChangePolicy& changed) {
    json.begin_object(JsonLayout::compact);
    each_circumstance(changed, [&](std::string_view name, OnChange on_change) {
        write_field(json, name, to_text(on_change));
    });
    json.end_object();
}

static void read(JsonValue value, ChangePolicy& changed) {
    each_circumstance(changed, [&](std::string_view name, OnChange& on_change) {
        if (const auto found = value.find(name)) {
            read_choice(*found, {OnChange::accept, OnChange::warn, OnChange::refuse}, on_change);
        }
    });
}

static void write(JsonWriter& json, const Policy& policy) {
    const Policy usual;
    json.begin_object(JsonLayout::compact);
    write_field(json, "no_baseline_fails", policy.no_baseline_fails);
    write_field(json, "inconclusive_fails", policy.inconclusive_fails);
    if (policy.false_alarms != usual.false_alarms) {
        write_field(json, "false_alarms", policy.false_alarms);
    }
    if (policy.rounds != usual.rounds) write_field(json, "rounds", policy.rounds);
    if (policy.acknowledgement_days != usual.acknowledgement_days) {
        write_field(json, "acknowledgement_days", policy.acknowledgement_days);
    }
    write_unless_default(json, "changed", policy.changed);
    json.end_object();
}

static void read(JsonValue value, Policy& policy) {
    read_field(value, "no_baseline_fails", policy.no_baseline_fails);
    read_field(value, "inconclusive_fails", policy.inconclusive_fails);
    read_optional(value, "false_alarms", policy.false_alarms);
    if (!(policy.false_alarms > 0 && policy.false_alarms < 1)) {
        value.at("false_alarms").fail("expected a probability between 0 and 1");
    }
    read_optional(value, "rounds", policy.rounds);
    if (policy.rounds < 0) value.at("rounds").fail("expected a number of rounds from 0");
    read_optional(value, "acknowledgement_days", policy.acknowledgement_days);
    if (policy.acknowledgement_days < 0) {
        value.at("acknowledgement_days").fail("expected a number of days from 0");
    }
    read_optional(value, "changed", policy.changed);
}

std::string write_verdict(const VerdictDocument& document) {
    JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", schema);
    write_field(json, "version", version);
    write_field(json, "tool_version", document.tool_version);
    write_field(json, "started_at", document.started_at);
    write_field(json, "wall_s", document.wall_s);
    write_field(json, "interrupted", document.interrupted);
    write_unless_default(json, "verify_only", document.verify_only);
    write_field(json, "backend", document.backend);
    write_field(json, "environment", document.environment);
    write_field(json, "policy", document.policy);
    write_field(json, "exit_code", static_cast<std::int64_t>(document.exit_code));
    json.key("suites");
    json.begin_array(JsonLayout::lines);
    for (const SuiteVerdict& suite : document.suites) write(json, suite);
    json.end_array();
    json.end_object();
    return json.finish();
}

VerdictDocument parse_verdict(std::string_view json, std::string_view source) {
    const JsonDocument parsed(std::string(json), source);
    const JsonValue root = check_schema(parsed, schema, version);
    VerdictDocument document;
    read_optional(root, "tool_version", document.tool_version);
    read_optional(root, "started_at", document.started_at);
    read_optional(root, "wall_s", document.wall_s);
    read_optional(root, "interrupted", document.interrupted);
    read_optional(root, "verify_only", document.verify_only);
    read_field(root, "backend", document.backend);
    read_field(root, "environment", document.environment);
    read_optional(root, "policy", document.policy);
    const std::int64_t exit_code = root.at("exit_code").count();
    if (exit_code > 255) root.at("exit_code").fail("expected an exit code, 0 to 255");
    document.exit_code = static_cast<int>(exit_code);
    read_field(root, "suites", document.suites);
    return document;
}

}  // namespace perfgate::model
