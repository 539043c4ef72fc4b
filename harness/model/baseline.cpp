// SPDX-License-Identifier: Apache-2.0
#include "model/baseline.hpp"

#include "model/shared_json.hpp"

namespace perfgate::model {

namespace {

constexpr std::string_view schema = "perfgate.baseline";
constexpr std::int64_t version = 1;

}  // namespace

// Static, not in an unnamed namespace: the templates find read and write by their arguments.

static void write(JsonWriter& json, const Provenance& provenance) {
    json.begin_object(JsonLayout::compact);
    write_unless_default(json, "board", provenance.board);
    write_unless_default(json, "driver", provenance.driver);
    write_unless_default(json, "cuda_toolkit", provenance.cuda_toolkit);
    write_unless_default(json, "cupti", provenance.cupti);
    write_unless_default(json, "tool_version", provenance.tool_version);
    write_unless_default(json, "git_revision", provenance.git_revision);
    write_unless_default(json, "recorded_at", provenance.recorded_at);
    write_unless_default(json, "accepted_by", provenance.accepted_by);
    write_unless_default(json, "reason", provenance.reason);
    json.end_object();
}

static void read(JsonValue value, Provenance& provenance) {
    read_optional(value, "board", provenance.board);
    read_optional(value, "driver", provenance.driver);
    read_optional(value, "cuda_toolkit", provenance.cuda_toolkit);
    read_optional(value, "cupti", provenance.cupti);
    read_optional(value, "tool_version", provenance.tool_version);
    read_optional(value, "git_revision", provenance.git_revision);
    read_optional(value, "recorded_at", provenance.recorded_at);
    read_optional(value, "accepted_by", provenance.accepted_by);
    read_optional(value, "reason", provenance.reason);
}

static void write(JsonWriter& json, const BaselineCase& expected) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "provenance", expected.provenance);
    write_metrics(json, expected.metrics);
    json.end_object();
}

static void read(JsonValue value, BaselineCase& expected) {
    read_optional(value, "provenance", expected.provenance);
    read_field(value, "metrics", expected.metrics);
}

std::string write_baseline(const Baseline& baseline) {
    JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", schema);
    write_field(json, "version", version);
    write_field(json, "suite", baseline.suite);
    write_field(json, "device", baseline.device);
    json.key("cases");
    json.begin_object(JsonLayout::lines);
    for (const auto& [id, expected] : baseline.cases) write_field(json, id, expected);
    json.end_object();
    json.end_object();
    return json.finish();
}

Baseline parse_baseline(std::string_view json, std::string_view source) {
    const JsonDocument document(json, source);
    const JsonValue root = check_schema(document, schema, version);
    Baseline baseline;
    read_field(root, "suite", baseline.suite);
    read_field(root, "device", baseline.device);
    read_field(root, "cases", baseline.cases);
    return baseline;
}

}  // namespace perfgate::model
