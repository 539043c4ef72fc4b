// SPDX-License-Identifier: Apache-2.0
#include "document/plan.hpp"

#include <vector>

#include "document/shared.hpp"

namespace perfgate::document {

namespace {

void write_relation(JsonWriter& json, const model::Relation& relation) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "relation", to_text(relation));
    write_field(json, "line", relation.place.line);
    write_field(json, "operands", relation.operands);
    write_field(json, "instances", relation.instances);
    json.end_object();
}

void write_gates(JsonWriter& json, const std::vector<model::GateRule>& gates) {
    json.key("gates");
    json.begin_array(JsonLayout::compact);
    for (const model::GateRule& gate : gates) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "metric", gate.metric);
        write_field(json, "worse", gate.tolerance.worse);
        write_if_known(json, "better", gate.tolerance.better);
        write_field(json, "abs", gate.tolerance.abs);
        if (gate.tolerance.severity) {
            write_field(json, "severity", to_text(*gate.tolerance.severity));
        }
        write_field(json, "cross_board", gate.cross_board);
        json.end_object();
    }
    json.end_array();
}

void write_source(JsonWriter& json, const model::SourceKernel& source) {
    json.key("source");
    json.begin_object(JsonLayout::compact);
    write_field(json, "file", source.file);
    write_field(json, "kernel", source.kernel);
    write_field(json, "grid", source.grid);
    write_field(json, "block", source.block);
    write_field(json, "shared_bytes", source.shared_bytes);
    write_field(json, "memory_bytes", model::memory_bytes_of(source));
    write_field(json, "check", to_text(source.check.kind));
    write_unless_default(json, "against", source.check.against);
    write_unless_default(json, "flops", source.work.flops);
    write_unless_default(json, "bytes", source.work.bytes);
    write_unless_default(json, "arithmetic", source.work.arithmetic);
    json.end_object();
}

void write_case(JsonWriter& json, const model::PlannedCase& planned) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "id", model::case_id(planned.spec));
    write_field(json, "workload", planned.spec.workload);
    write_field(json, "variant", planned.spec.variant);
    write_field(json, "params", planned.spec.params);
    write_field(json, "cache", to_text(planned.spec.cache));
    write_field(json, "target", to_text(planned.target));
    write_field(json, "submission", to_text(planned.submission));
    write_field(json, "line", planned.place.line);
    write_field(json, "tags", planned.tags);
    write_field(json, "metrics", planned.metrics);
    write_gates(json, planned.gates);
    write_field(json, "precision", planned.precision);
    write_field(json, "time_budget_s", planned.time_budget_s);
    write_field(json, "seed", planned.seed);
    write_unless_default(json, "deterministic", planned.deterministic);
    write_unless_default(json, "skip_reason", planned.skip_reason);
    if (const auto* kernel = planned.subject->kernel()) write_source(json, *kernel);
    json.end_object();
}

}  // namespace

std::string write_plan(const model::Plan& plan) {
    JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", "perfgate.list");
    write_field(json, "version", std::int64_t{1});
    json.key("suites");
    json.begin_array(JsonLayout::lines);
    for (const model::PlannedSuite& planned : plan.suites) {
        json.begin_object(JsonLayout::lines);
        write_field(json, "name", planned.name);
        write_field(json, "file", planned.file);
        write_unless_default(json, "description", planned.description);
        write_field(json, "partial", planned.partial);
        json.key("cases");
        json.begin_array(JsonLayout::lines);
        for (const model::PlannedCase& item : planned.cases) write_case(json, item);
        json.end_array();
        if (!planned.relations.empty()) {
            json.key("relations");
            json.begin_array(JsonLayout::lines);
            for (const model::Relation& relation : planned.relations) {
                write_relation(json, relation);
            }
            json.end_array();
        }
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.finish();
}

}  // namespace perfgate::document
