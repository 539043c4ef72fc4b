// SPDX-License-Identifier: Apache-2.0
#include "model/run.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "model/shared_json.hpp"
#include "model/text.hpp"

namespace perfgate::model {

namespace {

constexpr std::string_view schema = "perfgate.run";
constexpr std::int64_t oldest_version = 1;  // each metric has its batches
constexpr std::int64_t version = 2;

}  // namespace

// Static, not in an unnamed namespace: the templates find read and write by their arguments.

// --- writing

struct WriteParam {
    JsonWriter& json;
    void operator()(double value) const { json.real(value); }  // stays apart from an integer
    void operator()(bool value) const { json.value(value); }
    void operator()(std::int64_t value) const { json.value(value); }
    void operator()(const std::string& value) const { json.value(value); }
};

static void write(JsonWriter& json, const MetricDefinition& definition) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "unit", definition.unit);
    write_field(json, "direction", to_text(definition.direction));
    write_field(json, "class", to_text(definition.metric_class));
    write_field(json, "fold", to_text(definition.fold));
    write_field(json, "description", definition.description);
    json.end_object();
}

static void write(JsonWriter& json, const GateRule& rule) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "metric", rule.metric);
    write_field(json, "worse", rule.tolerance.worse);
    write_if_known(json, "better", rule.tolerance.better);
    write_unless_default(json, "abs", rule.tolerance.abs);
    write_unless_default(json, "cross_board", rule.cross_board);
    json.end_object();
}

static void write(JsonWriter& json, const NotCollected& entry) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "metric", entry.metric);
    write_field(json, "reason", entry.reason);
    json.end_object();
}

static void write(JsonWriter& json, const Verification& verification) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "passed", verification.passed);
    write_field(json, "seed", verification.seed);
    write_unless_default(json, "detail", verification.detail);
    json.end_object();
}

static void write(JsonWriter& json, const Work& work) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "flops", work.flops);
    write_field(json, "bytes", work.bytes);
    write_unless_default(json, "arithmetic", work.arithmetic);
    json.end_object();
}

static void write(JsonWriter& json, const std::array<std::int64_t, 3>& sizes) {
    json.begin_array(JsonLayout::compact);
    for (const std::int64_t size : sizes) json.value(size);
    json.end_array();
}

void write(JsonWriter& json, const Kernel& kernel) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "name", kernel.name);
    write_field(json, "grid", kernel.grid);
    write_field(json, "block", kernel.block);
    write_field(json, "registers", kernel.registers);
    write_field(json, "static_smem", kernel.static_smem);
    write_field(json, "dynamic_smem", kernel.dynamic_smem);
    write_field(json, "local_bytes", kernel.local_bytes);
    write_unless_default(json, "theoretical_occupancy", kernel.theoretical_occupancy);
    write_unless_default(json, "duration_ns", kernel.duration_ns);
    write_unless_default(json, "metrics", kernel.metrics);
    if (kernel.cluster != std::array<std::int64_t, 3>{})
        write_field(json, "cluster", kernel.cluster);
    if (kernel.carveout) write_field(json, "carveout", *kernel.carveout);
    write_unless_default(json, "cooperative", kernel.cooperative);
    write_unless_default(json, "code", kernel.code);
    write_unless_default(json, "arguments", kernel.arguments);
    json.end_object();
}

static void write(JsonWriter& json, const Reading& reading) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "process", reading.process);
    write_field(json, "device", reading.device);
    write_field(json, "state", reading.state);
    json.end_object();
}

void write(JsonWriter& json, const CaseResult& result) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "id", case_id(result.spec));
    write_field(json, "workload", result.spec.workload);
    write_field(json, "variant", result.spec.variant);
    json.key("params");
    json.begin_object(JsonLayout::compact);
    for (const auto& [name, value] : result.spec.params) {
        json.key(name);
        std::visit(WriteParam{json}, value);
    }
    json.end_object();
    write_field(json, "cache", to_text(result.spec.cache));
    write_unless_default(json, "place", result.place);
    write_unless_default(json, "tags", result.tags);
    write_unless_default(json, "gates", result.gates);
    write_field(json, "status", to_text(result.status));
    write_unless_default(json, "reason", result.reason);
    write_unless_default(json, "log", result.log);
    if (result.verification) write_field(json, "verification", *result.verification);
    if (result.work) write_field(json, "work", *result.work);
    write_field(json, "wall_s", result.wall_s);
    if (!result.kernels.empty()) {
        json.key("kernels");
        json.begin_array(JsonLayout::lines);
        for (const Kernel& kernel : result.kernels) write(json, kernel);
        json.end_array();
    }
    write_metrics(json, result.metrics);
    write_unless_default(json, "not_collected", result.not_collected);
    write_unless_default(json, "not_applicable", result.not_applicable);
    if (!result.readings.empty()) {
        json.key("readings");
        json.begin_array(JsonLayout::lines);
        for (const Reading& reading : result.readings) write(json, reading);
        json.end_array();
    }
    write_unless_default(json, "host_code", result.host_code);
    write_unless_default(json, "unchanged", result.unchanged);
    write_unless_default(json, "skipped_by_suite", result.skipped_by_suite);
    json.end_object();
}

static void write(JsonWriter& json, const SuiteResult& suite) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "name", suite.name);
    write_field(json, "file", suite.file);
    write_unless_default(json, "description", suite.description);
    write_field(json, "partial", suite.partial);
    json.key("cases");
    json.begin_array(JsonLayout::lines);
    for (const CaseResult& result : suite.cases) write(json, result);
    json.end_array();
    if (!suite.relations.empty()) {
        json.key("relations");
        json.begin_array(JsonLayout::lines);
        for (const Relation& relation : suite.relations) write(json, relation);
        json.end_array();
    }
    json.end_object();
}

static void write(JsonWriter& json, const ShardedSuite& suite) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "name", suite.name);
    write_unless_default(json, "partial", suite.partial);
    json.key("cases");
    json.begin_array(JsonLayout::lines);
    for (const std::string& id : suite.cases) json.value(id);
    json.end_array();
    write_unless_default(json, "gates", suite.gates);
    json.end_object();
}

static void write(JsonWriter& json, const Selection& selection) {
    json.begin_object(JsonLayout::compact);
    write_unless_default(json, "filters", selection.filters);
    write_unless_default(json, "tags", selection.tags);
    json.end_object();
}

static void write(JsonWriter& json, const Shard& shard) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "index", shard.index);
    write_field(json, "count", shard.count);
    json.key("whole");
    json.begin_array(JsonLayout::lines);
    for (const ShardedSuite& suite : shard.whole) write(json, suite);
    json.end_array();
    json.end_object();
}

// --- reading

static void read(JsonValue value, ParamValue& param) {
    switch (value.kind()) {
        case JsonKind::boolean:
            param = value.boolean();
            return;
        case JsonKind::integer:
            param = value.integer();
            return;
        case JsonKind::real:
            param = value.number();
            return;
        case JsonKind::text:
            param = std::string(value.text());
            return;
        default:
            value.fail(
                fmt::format("expected a parameter's value (a boolean, a number or a "
                            "string), found {}",
                            to_text(value.kind())));
    }
}

static void read_not_negative(const JsonValue& object, std::string_view key, double& out) {
    if (const auto value = object.find(key)) {
        out = value->number();
        require_not_negative(*value, out);
    }
}

static void read(JsonValue value, MetricDefinition& definition) {
    using enum Direction;
    read_field(value, "unit", definition.unit);
    read_choice(value.at("direction"), {lower, higher, none}, definition.direction);
    read_choice(value.at("class"), {MetricClass::exact, MetricClass::counter, MetricClass::timing},
                definition.metric_class);
    read_choice(value.at("fold"), {Fold::sum, Fold::max, Fold::ratio, Fold::weighted_mean},
                definition.fold);
    read_optional(value, "description", definition.description);
}

static void read(JsonValue value, GateRule& rule) {
    read_field(value, "metric", rule.metric);
    read_field(value, "worse", rule.tolerance.worse);
    require_not_negative(value.at("worse"), rule.tolerance.worse);
    if (const auto better = value.find("better")) {
        rule.tolerance.better = better->number();
        require_not_negative(*better, *rule.tolerance.better);
    }
    read_not_negative(value, "abs", rule.tolerance.abs);
    read_not_negative(value, "cross_board", rule.cross_board);
}

static void read(JsonValue value, NotCollected& entry) {
    read_field(value, "metric", entry.metric);
    read_field(value, "reason", entry.reason);
}

static void read(JsonValue value, Verification& verification) {
    read_field(value, "passed", verification.passed);
    read_field(value, "seed", verification.seed);
    read_optional(value, "detail", verification.detail);
}

static void read(JsonValue value, Work& work) {
    read_not_negative(value, "flops", work.flops);
    read_not_negative(value, "bytes", work.bytes);
    read_optional(value, "arithmetic", work.arithmetic);
}

static void read(JsonValue value, std::array<std::int64_t, 3>& sizes) {
    std::vector<std::int64_t> read_sizes;
    read(value, read_sizes);
    if (read_sizes.size() != sizes.size()) {
        value.fail(fmt::format("expected 3 sizes, found {}", read_sizes.size()));
    }
    std::copy(read_sizes.begin(), read_sizes.end(), sizes.begin());
}

void read(JsonValue value, Kernel& kernel) {
    read_field(value, "name", kernel.name);
    read_optional(value, "grid", kernel.grid);
    read_optional(value, "block", kernel.block);
    read_optional(value, "registers", kernel.registers);
    read_optional(value, "static_smem", kernel.static_smem);
    read_optional(value, "dynamic_smem", kernel.dynamic_smem);
    read_optional(value, "local_bytes", kernel.local_bytes);
    read_not_negative(value, "theoretical_occupancy", kernel.theoretical_occupancy);
    read_not_negative(value, "duration_ns", kernel.duration_ns);
    read_optional(value, "metrics", kernel.metrics);
    read_optional(value, "cluster", kernel.cluster);
    read_optional(value, "carveout", kernel.carveout);
    read_optional(value, "cooperative", kernel.cooperative);
    read_optional(value, "code", kernel.code);
    read_optional(value, "arguments", kernel.arguments);
}

static void read(JsonValue value, Reading& reading) {
    read_field(value, "process", reading.process);
    read_field(value, "device", reading.device);
    read_field(value, "state", reading.state);
}

void read(JsonValue value, CaseResult& result) {
    read_field(value, "workload", result.spec.workload);
    read_field(value, "variant", result.spec.variant);
    read_optional(value, "params", result.spec.params);
    if (const auto cache = value.find("cache")) {
        read_choice(*cache, {Cache::cold, Cache::hot}, result.spec.cache);
    }
    read_optional(value, "place", result.place);
    read_optional(value, "tags", result.tags);
    read_optional(value, "gates", result.gates);
    read_choice(value.at("status"),
                {CaseStatus::measured, CaseStatus::incorrect, CaseStatus::error,
                 CaseStatus::invalid, CaseStatus::skipped},
                result.status);
    read_optional(value, "reason", result.reason);
    read_optional(value, "log", result.log);
    read_optional(value, "verification", result.verification);
    read_optional(value, "work", result.work);
    read_not_negative(value, "wall_s", result.wall_s);
    read_optional(value, "kernels", result.kernels);
    if (value.find("metrics")) read_metrics(value, result.metrics);
    read_optional(value, "not_collected", result.not_collected);
    read_optional(value, "not_applicable", result.not_applicable);
    read_optional(value, "readings", result.readings);
    read_optional(value, "host_code", result.host_code);
    read_optional(value, "unchanged", result.unchanged);
    read_optional(value, "skipped_by_suite", result.skipped_by_suite);
}

/// The gate looks cases up by their ids: two cases with one id would hide each other.
static void refuse_duplicate_cases(JsonValue suite, const SuiteResult& result) {
    std::set<std::string> ids;
    auto spec = result.cases.begin();
    suite.at("cases").elements([&](JsonValue value) {
        std::string id = case_id((spec++)->spec);
        if (ids.count(id) != 0) {
            value.fail(fmt::format("the case {} appears twice", printable(id, 200)));
        }
        ids.insert(std::move(id));
    });
}

static void read(JsonValue value, SuiteResult& suite) {
    read_field(value, "name", suite.name);
    read_optional(value, "file", suite.file);
    read_optional(value, "description", suite.description);
    read_optional(value, "partial", suite.partial);
    read_field(value, "cases", suite.cases);
    read_optional(value, "relations", suite.relations);
    refuse_duplicate_cases(value, suite);
}

/// Baselines and verdicts are looked up by the suite's name.
static void refuse_duplicate_suites(JsonValue root, const Run& run) {
    std::set<std::string> names;
    auto suite = run.suites.begin();
    root.at("suites").elements([&](JsonValue value) {
        const std::string& name = (suite++)->name;
        if (!names.insert(name).second) {
            value.fail(fmt::format("the suite '{}' appears twice", printable(name, 200)));
        }
    });
}

static void read(JsonValue value, Selection& selection) {
    read_optional(value, "filters", selection.filters);
    read_optional(value, "tags", selection.tags);
}

static void read(JsonValue value, ShardedSuite& suite) {
    read_field(value, "name", suite.name);
    read_optional(value, "partial", suite.partial);
    read_field(value, "cases", suite.cases);
    read_optional(value, "gates", suite.gates);
}

static void read(JsonValue value, Shard& shard) {
    read_field(value, "index", shard.index);
    read_field(value, "count", shard.count);
    if (shard.index < 1 || shard.index > shard.count) {
        value.at("index").fail("expected a number from 1 to count");
    }
    read_field(value, "whole", shard.whole);
}

std::string_view to_text(CaseStatus status) {
    switch (status) {
        case CaseStatus::measured:
            return "measured";
        case CaseStatus::incorrect:
            return "incorrect";
        case CaseStatus::error:
            return "error";
        case CaseStatus::invalid:
            return "invalid";
        case CaseStatus::skipped:
            return "skipped";
    }
    return "unknown";
}

std::string write_run(const Run& run) {
    JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", schema);
    write_field(json, "version", version);
    write_field(json, "tool_version", run.tool_version);
    write_unless_default(json, "git_revision", run.git_revision);
    write_field(json, "started_at", run.started_at);
    write_field(json, "wall_s", run.wall_s);
    write_unless_default(json, "phase_s", run.phase_s);
    write_field(json, "interrupted", run.interrupted);
    write_unless_default(json, "verify_only", run.verify_only);
    write_field(json, "backend", run.backend);
    write_field(json, "environment", run.environment);
    json.key("metric_definitions");
    json.begin_object(JsonLayout::lines);
    for (const auto& [name, definition] : run.metric_definitions) {
        write_field(json, name, definition);
    }
    json.end_object();
    if (run.shard) write_field(json, "shard", *run.shard);
    write_unless_default(json, "selections", run.selections);
    json.key("suites");
    json.begin_array(JsonLayout::lines);
    for (const SuiteResult& suite : run.suites) write(json, suite);
    json.end_array();
    json.end_object();
    return json.finish();
}

Run parse_run(std::string json, std::string_view source) {
    const JsonDocument document(std::move(json), source);
    const JsonValue root = check_schema(document, schema, oldest_version, version);
    Run run;
    read_optional(root, "tool_version", run.tool_version);
    read_optional(root, "git_revision", run.git_revision);
    read_optional(root, "started_at", run.started_at);
    read_not_negative(root, "wall_s", run.wall_s);
    read_optional(root, "phase_s", run.phase_s);
    read_optional(root, "interrupted", run.interrupted);
    read_optional(root, "verify_only", run.verify_only);
    read_field(root, "backend", run.backend);
    read_field(root, "environment", run.environment);
    read_optional(root, "metric_definitions", run.metric_definitions);
    for (auto& [name, definition] : run.metric_definitions) definition.name = name;
    read_optional(root, "shard", run.shard);
    read_optional(root, "selections", run.selections);
    read_field(root, "suites", run.suites);
    refuse_duplicate_suites(root, run);
    return run;
}

std::string write_case_line(const CaseResult& result) {
    JsonWriter json(JsonLayout::compact);
    write(json, result);
    return json.finish();
}

CaseResult parse_case_line(std::string_view line, std::string_view source) {
    const JsonDocument document(std::string(line), source);
    CaseResult result;
    read(document.root(), result);
    return result;
}

}  // namespace perfgate::model
