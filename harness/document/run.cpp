// SPDX-License-Identifier: Apache-2.0
#include "document/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

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
inline constexpr Direction choices<Direction>[] = {Direction::lower, Direction::higher,
                                                   Direction::none};
template <>
inline constexpr MetricClass choices<MetricClass>[] = {MetricClass::exact, MetricClass::counter,
                                                       MetricClass::timing};
template <>
inline constexpr Fold choices<Fold>[] = {Fold::sum, Fold::max, Fold::ratio, Fold::weighted_mean};
template <>
inline constexpr model::Cache choices<model::Cache>[] = {model::Cache::cold, model::Cache::hot};
template <>
inline constexpr CaseStatus choices<CaseStatus>[] = {CaseStatus::measured, CaseStatus::incorrect,
                                                     CaseStatus::error, CaseStatus::invalid,
                                                     CaseStatus::skipped};

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

}  // namespace perfgate::document
