// SPDX-License-Identifier: Apache-2.0
#include "document/plan.hpp"

#include <optional>
#include <vector>

#include "document/shared.hpp"

namespace perfgate::document {

using model::PlannedCase;
using model::PlannedSuite;

template <>
inline constexpr JsonLayout layout_of<PlannedSuite> = JsonLayout::lines;

namespace {

constexpr Schema plan_schema{"perfgate.list", 1, 1};

// What a reader of the list wants to know of them; it is not read back.

const Form<std::vector<model::Relation>> relations_in_brief{
    [](JsonWriter& json, const std::vector<model::Relation>& relations) {
        json.begin_array(JsonLayout::lines);
        for (const model::Relation& relation : relations) {
            json.begin_object(JsonLayout::compact);
            write_field(json, "relation", to_text(relation));
            write_field(json, "line", relation.place.line);
            write_field(json, "operands", relation.operands);
            write_field(json, "instances", relation.instances);
            json.end_object();
        }
        json.end_array();
    },
    nullptr};

const Form<std::optional<model::SourceKernel>> source_in_brief{
    [](JsonWriter& json, const std::optional<model::SourceKernel>& source) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "file", source->file);
        write_field(json, "kernel", source->kernel);
        write_field(json, "grid", source->grid);
        write_field(json, "block", source->block);
        write_field(json, "shared_bytes", source->shared_bytes);
        write_field(json, "memory_bytes", model::memory_bytes_of(*source));
        write_field(json, "check", to_text(source->check.kind));
        write_unless_default(json, "against", source->check.against);
        write_unless_default(json, "flops", source->work.flops);
        write_unless_default(json, "bytes", source->work.bytes);
        write_unless_default(json, "arithmetic", source->work.arithmetic);
        json.end_object();
    },
    nullptr};

}  // namespace

template <class Archive>
void describe(Archive& archive, Described<Archive, PlannedCase>& planned) {
    archive.derived("id", [&] { return case_id(planned.spec); });
    archive.required("workload", planned.spec.workload);
    archive.required("variant", planned.spec.variant);
    archive.required("params", planned.spec.params);
    archive.required("cache", planned.spec.cache);
    archive.required("target", planned.target);
    archive.required("submission", planned.submission);
    archive.required("line", planned.place.line);
    archive.required("tags", planned.tags);
    archive.required("metrics", planned.metrics);
    archive.required("gates", planned.gates);
    archive.required("precision", planned.precision);
    archive.required("time_budget_s", planned.time_budget_s);
    archive.required("seed", planned.seed);
    archive.optional("deterministic", planned.deterministic);
    archive.optional("skip_reason", planned.skip_reason);
    const model::SourceKernel* kernel = planned.subject->kernel();
    const auto source = kernel != nullptr ? std::optional(*kernel) : std::nullopt;
    archive.optional("source", source, source_in_brief);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, PlannedSuite>& suite) {
    archive.required("name", suite.name);
    archive.required("file", suite.file);
    archive.optional("description", suite.description);
    archive.required("partial", suite.partial);
    archive.required("cases", suite.cases, lines);
    archive.optional("relations", suite.relations, relations_in_brief);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Plan>& plan) {
    archive.required("suites", plan.suites, lines);
}

std::string write_plan(const model::Plan& plan) {
    return write_document(plan_schema, plan);
}

}  // namespace perfgate::document
