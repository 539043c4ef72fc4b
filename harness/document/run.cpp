// SPDX-License-Identifier: Apache-2.0
#include "document/run.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "document/shared.hpp"
#include "util/text.hpp"

namespace perfgate::document {

namespace {

constexpr Schema run_schema{"perfgate.run", 1,
                            3};  // 1: each metric has its batches; 2: each kernel is written out

}  // namespace

template <>
inline constexpr JsonLayout layout_of<model::SuiteResult> = JsonLayout::lines;
template <>
inline constexpr JsonLayout layout_of<model::ShardedSuite> = JsonLayout::lines;
template <>
inline constexpr JsonLayout layout_of<model::Shard> = JsonLayout::lines;

PERFGATE_FIELDS(model::MetricDefinition, required(unit, direction),
                named(required, "class", metric_class), required(fold), always(description))

PERFGATE_FIELDS(model::NotCollected, required(metric, reason))

PERFGATE_FIELDS(model::Verification, required(passed, seed), optional(detail))

static void write_kernels(JsonWriter& json, const std::vector<model::Kernel>& kernels) {
    const bool counted = json.version() == 0 || json.version() >= 3;
    json.begin_array(JsonLayout::lines);
    for (auto kernel = kernels.begin(); kernel != kernels.end();) {
        const auto next = counted
                              ? std::find_if(kernel, kernels.end(),
                                             [&](const auto& other) { return other != *kernel; })
                              : kernel + 1;
        json.begin_object(JsonLayout::compact);
        Writer writer(json);
        describe(writer, *kernel);
        if (next - kernel > 1) write_field(json, "count", std::int64_t{next - kernel});
        json.end_object();
        kernel = next;
    }
    json.end_array();
}

static void read_kernels(JsonValue value, std::vector<model::Kernel>& kernels) {
    kernels.clear();
    if (value.kind() == JsonKind::array) kernels.reserve(value.size());
    value.elements([&](JsonValue element) {
        model::Kernel kernel;
        read(element, kernel);
        const auto count = element.find("count");
        if (count) kernels.insert(kernels.end(), count->repetition(2) - 1, kernel);
        kernels.push_back(std::move(kernel));
    });
}

const Form<std::vector<model::Kernel>> run_lengths{write_kernels, read_kernels};

PERFGATE_FIELDS(model::Reading, required(process, device, state))

PERFGATE_FIELDS(model::SetVariable, required(name), optional(value))

PERFGATE_FIELDS(model::Settled, optional(base, problem), with(optional, before, lines),
                with(optional, after, lines))

PERFGATE_FIELDS(model::CodeFinding, optional(base), required(change), optional(time, place))

PERFGATE_FIELDS(model::CaseResult, also(archive.derived("id", [&] { return case_id(of.spec); })),
                named(required, "workload", spec.workload),
                named(required, "variant", spec.variant), named(always, "params", spec.params),
                named(always, "cache", spec.cache), optional(place, tags, gates), required(status),
                optional(reason, log, verification, work), with(always, wall_s, not_negative),
                with(optional, kernels, run_lengths),
                also(if (archive.has("metrics")) describe_metrics(archive, of.metrics)),
                optional(not_collected, not_applicable), with(optional, readings, lines),
                optional(host_code, libraries, memory_operations, command, env, source, measured_as,
                         was, instance),
                with(optional, max_overhead, not_negative),
                optional(unchanged, skipped_by_suite, notes, settled),
                named(optional, "machine_code", code))
template void describe(Reader&, model::CaseResult&);
template void describe(Writer&, const model::CaseResult&);

/// The gate looks cases up by their ids: two cases with one id would hide each other.
static void refuse_duplicates(JsonValue value, const std::vector<model::CaseResult>& cases) {
    std::set<std::string> ids;
    auto result = cases.begin();
    value.elements([&](JsonValue element) {
        std::string id = case_id((result++)->spec);
        if (ids.count(id) != 0) {
            element.fail("the case {} appears twice", util::printable(id));
        }
        ids.insert(std::move(id));
    });
}

PERFGATE_FIELDS(model::SuiteResult, required(name), always(file), optional(description),
                always(partial), with(required, cases, lines, refuse_duplicates),
                with(optional, relations, lines))

/// Baselines and verdicts are looked up by the suite's name.
static void refuse_duplicate_suites(JsonValue value,
                                    const std::vector<model::SuiteResult>& suites) {
    std::set<std::string> names;
    auto suite = suites.begin();
    value.elements([&](JsonValue element) {
        const std::string& name = (suite++)->name;
        if (!names.insert(name).second) {
            element.fail("the suite '{}' appears twice", util::printable(name));
        }
    });
}

PERFGATE_FIELDS(model::ShardedSuite, required(name), optional(partial),
                with(required, cases, lines), optional(gates))

PERFGATE_FIELDS(model::Selection, optional(filters, tags))

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Shard>& of) {
    PERFGATE_GROUPS(required(index, count));
    archive.check([&](JsonValue value) {
        if (of.index >= 1 && of.index <= of.count) return;
        value.at("index").fail("expected a number from 1 to count");
    });
    PERFGATE_GROUPS(with(required, whole, lines));
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Run>& of) {
    const auto name_them = [](JsonValue, std::map<std::string, model::MetricDefinition>& read) {
        for (auto& [name, definition] : read) definition.name = name;
    };
    PERFGATE_GROUPS(always(tool_version), optional(git_revision, pull_request), always(started_at),
                    with(always, wall_s, not_negative), optional(phase_s), always(interrupted),
                    optional(verify_only), required(backend, environment),
                    with(always, metric_definitions, lines, name_them),
                    optional(shard, selections, options),
                    with(required, suites, lines, refuse_duplicate_suites));
}

std::string write_run(const model::Run& run) {
    return write_document(run_schema, run);
}

model::Run parse_run(std::string json, std::string_view source) {
    JsonDocument document(std::move(json), source);
    model::Run run;
    read_document(document, run_schema, run);
    return run;
}

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
void describe(Archive& archive, Described<Archive, model::PlannedCase>& of) {
    PERFGATE_GROUPS(also(archive.derived("id", [&] { return case_id(of.spec); })),
                    named(required, "workload", spec.workload),
                    named(required, "variant", spec.variant),
                    named(required, "params", spec.params), named(required, "cache", spec.cache),
                    required(target, submission), named(required, "line", place.line),
                    required(tags, metrics, gates, precision, time_budget_s, seed),
                    optional(deterministic, skip_reason));
    const model::SourceKernel* kernel = of.subject->kernel();
    const auto source = kernel != nullptr ? std::optional(*kernel) : std::nullopt;
    archive.optional("source", source, source_in_brief);
}

PERFGATE_FIELDS(PlannedSuite, required(name, file), optional(description), required(partial),
                with(required, cases, lines), with(optional, relations, relations_in_brief))

PERFGATE_FIELDS(model::Plan, with(required, suites, lines))

std::string write_plan(const model::Plan& plan) {
    return write_document(plan_schema, plan);
}

}  // namespace perfgate::document
