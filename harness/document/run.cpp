// SPDX-License-Identifier: Apache-2.0
#include "document/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "document/shared.hpp"
#include "util/text.hpp"

namespace perfgate::document {

using model::CaseStatus;
using model::Direction;
using model::Fold;
using model::MetricClass;

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

template <class Archive>
void describe(Archive& archive, Described<Archive, model::MetricDefinition>& definition) {
    archive.required("unit", definition.unit);
    archive.required("direction", definition.direction);
    archive.required("class", definition.metric_class);
    archive.required("fold", definition.fold);
    archive.always("description", definition.description);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::NotCollected>& entry) {
    archive.required("metric", entry.metric);
    archive.required("reason", entry.reason);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Verification>& verification) {
    archive.required("passed", verification.passed);
    archive.required("seed", verification.seed);
    archive.optional("detail", verification.detail);
}

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

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Reading>& reading) {
    archive.required("process", reading.process);
    archive.required("device", reading.device);
    archive.required("state", reading.state);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::SetVariable>& variable) {
    archive.required("name", variable.name);
    archive.optional("value", variable.value);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Settled>& settled) {
    archive.optional("base", settled.base);
    archive.optional("problem", settled.problem);
    archive.optional("before", settled.before, lines);
    archive.optional("after", settled.after, lines);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::CodeFinding>& finding) {
    archive.optional("base", finding.base);
    archive.required("change", finding.change);
    archive.optional("time", finding.time);
    archive.optional("place", finding.place);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::CaseResult>& result) {
    archive.derived("id", [&] { return case_id(result.spec); });
    archive.required("workload", result.spec.workload);
    archive.required("variant", result.spec.variant);
    archive.always("params", result.spec.params);
    archive.always("cache", result.spec.cache);
    archive.optional("place", result.place);
    archive.optional("tags", result.tags);
    archive.optional("gates", result.gates);
    archive.required("status", result.status);
    archive.optional("reason", result.reason);
    archive.optional("log", result.log);
    archive.optional("verification", result.verification);
    archive.optional("work", result.work);
    archive.always("wall_s", result.wall_s, not_negative);
    archive.optional("kernels", result.kernels, run_lengths);
    if (archive.has("metrics")) describe_metrics(archive, result.metrics);
    archive.optional("not_collected", result.not_collected);
    archive.optional("not_applicable", result.not_applicable);
    archive.optional("readings", result.readings, lines);
    archive.optional("host_code", result.host_code);
    archive.optional("libraries", result.libraries);
    archive.optional("memory_operations", result.memory_operations);
    archive.optional("command", result.command);
    archive.optional("env", result.env);
    archive.optional("source", result.source);
    archive.optional("measured_as", result.measured_as);
    archive.optional("was", result.was);
    archive.optional("instance", result.instance);
    archive.optional("max_overhead", result.max_overhead, not_negative);
    archive.optional("unchanged", result.unchanged);
    archive.optional("skipped_by_suite", result.skipped_by_suite);
    archive.optional("notes", result.notes);
    archive.optional("settled", result.settled);
    archive.optional("machine_code", result.code);
}
template void describe(Reader&, model::CaseResult&);
template void describe(Writer&, const model::CaseResult&);

/// The gate looks cases up by their ids: two cases with one id would hide each other.
static void refuse_duplicates(JsonValue value, const std::vector<model::CaseResult>& cases) {
    std::set<std::string> ids;
    auto result = cases.begin();
    value.elements([&](JsonValue element) {
        std::string id = case_id((result++)->spec);
        if (ids.count(id) != 0) {
            element.fail(fmt::format("the case {} appears twice", util::printable(id)));
        }
        ids.insert(std::move(id));
    });
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::SuiteResult>& suite) {
    archive.required("name", suite.name);
    archive.always("file", suite.file);
    archive.optional("description", suite.description);
    archive.always("partial", suite.partial);
    archive.required("cases", suite.cases, lines, refuse_duplicates);
    archive.optional("relations", suite.relations, lines);
}

/// Baselines and verdicts are looked up by the suite's name.
static void refuse_duplicate_suites(JsonValue value,
                                    const std::vector<model::SuiteResult>& suites) {
    std::set<std::string> names;
    auto suite = suites.begin();
    value.elements([&](JsonValue element) {
        const std::string& name = (suite++)->name;
        if (!names.insert(name).second) {
            element.fail(fmt::format("the suite '{}' appears twice", util::printable(name)));
        }
    });
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::ShardedSuite>& suite) {
    archive.required("name", suite.name);
    archive.optional("partial", suite.partial);
    archive.required("cases", suite.cases, lines);
    archive.optional("gates", suite.gates);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Selection>& selection) {
    archive.optional("filters", selection.filters);
    archive.optional("tags", selection.tags);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Shard>& shard) {
    archive.required("index", shard.index);
    archive.required("count", shard.count);
    archive.check([&](JsonValue value) {
        if (shard.index >= 1 && shard.index <= shard.count) return;
        value.at("index").fail("expected a number from 1 to count");
    });
    archive.required("whole", shard.whole, lines);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Run>& run) {
    const auto name_them = [](JsonValue, std::map<std::string, model::MetricDefinition>& read) {
        for (auto& [name, definition] : read) definition.name = name;
    };
    archive.always("tool_version", run.tool_version);
    archive.optional("git_revision", run.git_revision);
    archive.optional("pull_request", run.pull_request);
    archive.always("started_at", run.started_at);
    archive.always("wall_s", run.wall_s, not_negative);
    archive.optional("phase_s", run.phase_s);
    archive.always("interrupted", run.interrupted);
    archive.optional("verify_only", run.verify_only);
    archive.required("backend", run.backend);
    archive.required("environment", run.environment);
    archive.always("metric_definitions", run.metric_definitions, lines, name_them);
    archive.optional("shard", run.shard);
    archive.optional("selections", run.selections);
    archive.optional("options", run.options);
    archive.required("suites", run.suites, lines, refuse_duplicate_suites);
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
