// SPDX-License-Identifier: Apache-2.0
#include "measure/protocol.hpp"

#include <fmt/format.h>

#include <random>

#include "model/error.hpp"
#include "model/json_reader.hpp"
#include "model/json_writer.hpp"
#include "model/shared_json.hpp"

// The read and write functions of each type stand in the type's namespace, where those of vectors
// and fields find them.
namespace perfgate::model {
namespace {

constexpr ParamType param_types[] = {ParamType::boolean, ParamType::integer, ParamType::real,
                                     ParamType::text};
constexpr Target targets[] = {Target::host, Target::cuda};
constexpr Submission submissions[] = {Submission::async, Submission::synchronous,
                                      Submission::graph};

}  // namespace

static void write(JsonWriter& json, const ParamInfo& info) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "name", info.name);
    write_field(json, "help", info.help);
    write_field(json, "type", to_text(info.type));
    write_field(json, "minimum", std::to_string(info.minimum));
    write_field(json, "maximum", std::to_string(info.maximum));
    write_field(json, "choices", info.choices);
    if (info.default_value) {
        json.key("default");
        std::visit([&](const auto& value) { write(json, value); }, *info.default_value);
    }
    json.end_object();
}

static std::int64_t read_signed(JsonValue object, std::string_view key) {
    const std::string text(object.at(key).text());
    try {
        return std::stoll(text);
    } catch (const std::exception&) {
        object.fail(fmt::format("{}: '{}' is no integer", key, text));
    }
}

static void read(JsonValue value, ParamInfo& info) {
    read_field(value, "name", info.name);
    read_field(value, "help", info.help);
    read_choice(value.at("type"), param_types, info.type);
    info.minimum = read_signed(value, "minimum");
    info.maximum = read_signed(value, "maximum");
    read_field(value, "choices", info.choices);
    const auto found = value.find("default");
    if (!found) return;
    switch (info.type) {
        case ParamType::boolean:
            info.default_value = found->boolean();
            break;
        case ParamType::integer:
            info.default_value = found->integer();
            break;
        case ParamType::real:
            info.default_value = found->number();
            break;
        case ParamType::text:
            info.default_value = std::string(found->text());
            break;
    }
}

static void write(JsonWriter& json, const VariantInfo& info) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "name", info.name);
    write_field(json, "help", info.help);
    write_field(json, "target", to_text(info.target));
    write_field(json, "submission", to_text(info.submission));
    write_field(json, "min_compute_capability",
                static_cast<std::int64_t>(info.min_compute_capability));
    write_field(json, "built", info.built);
    json.end_object();
}

static void read(JsonValue value, VariantInfo& info) {
    read_field(value, "name", info.name);
    read_field(value, "help", info.help);
    read_choice(value.at("target"), targets, info.target);
    read_choice(value.at("submission"), submissions, info.submission);
    info.min_compute_capability = static_cast<int>(value.at("min_compute_capability").integer());
    read_field(value, "built", info.built);
}

static void write(JsonWriter& json, const WorkloadInfo& info) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "name", info.name);
    write_field(json, "help", info.help);
    write_field(json, "plugin", info.plugin);
    write_field(json, "params", info.params);
    write_field(json, "variants", info.variants);
    json.end_object();
}

static void read(JsonValue value, WorkloadInfo& info) {
    read_field(value, "name", info.name);
    read_field(value, "help", info.help);
    read_field(value, "plugin", info.plugin);
    read_field(value, "params", info.params);
    read_field(value, "variants", info.variants);
}

}  // namespace perfgate::model

namespace perfgate::measure {

using model::JsonDocument;
using model::JsonLayout;
using model::JsonValue;
using model::JsonWriter;
using model::read_field;
using model::write_field;

namespace {

constexpr Diagnosis::Level levels[] = {Diagnosis::Level::ok, Diagnosis::Level::warning,
                                       Diagnosis::Level::problem};

}  // namespace

std::string_view to_text(Diagnosis::Level level) {
    switch (level) {
        case Diagnosis::Level::ok:
            return "ok";
        case Diagnosis::Level::warning:
            return "warning";
        case Diagnosis::Level::problem:
            return "problem";
    }
    return "problem";
}

static void write(JsonWriter& json, const ListedDevice& listed) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "id", listed.id);
    json.key("device");
    write(json, listed.device);
    json.end_object();
}

static void read(JsonValue value, ListedDevice& listed) {
    read_field(value, "id", listed.id);
    read(value.at("device"), listed.device);
}

static void write(JsonWriter& json, const CaseSettings& settings) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "metrics", settings.metrics);
    write_field(json, "seed", settings.seed);
    write_field(json, "verify_seed", settings.verify_seed);
    write_field(json, "precision", settings.precision);
    write_field(json, "time_budget_s", settings.time_budget_s);
    if (settings.added_work) write_field(json, "added_work", *settings.added_work);
    write_field(json, "process", settings.process);
    write_field(json, "round", settings.round);
    write_field(json, "times_only", settings.times_only);
    write_field(json, "verify_only", settings.verify_only);
    write_field(json, "code_only", settings.code_only);
    json.end_object();
}

static void read(JsonValue value, CaseSettings& settings) {
    read_field(value, "metrics", settings.metrics);
    read_field(value, "seed", settings.seed);
    read_field(value, "verify_seed", settings.verify_seed);
    read_field(value, "precision", settings.precision);
    read_field(value, "time_budget_s", settings.time_budget_s);
    if (const auto added = value.find("added_work")) settings.added_work = added->number();
    read_field(value, "process", settings.process);
    read_field(value, "round", settings.round);
    read_field(value, "times_only", settings.times_only);
    read_field(value, "verify_only", settings.verify_only);
    read_field(value, "code_only", settings.code_only);
}

static void write(JsonWriter& json, const CountersRequest::Job& job) {
    json.begin_object(JsonLayout::compact);
    json.key("result");
    write(json, job.result);
    json.key("settings");
    write(json, job.settings);
    json.end_object();
}

static void read(JsonValue value, CountersRequest::Job& job) {
    read(value.at("result"), job.result);
    read(value.at("settings"), job.settings);
}

static void write(JsonWriter& json, const Capabilities& capabilities) {
    json.begin_object(JsonLayout::compact);
    json.key("environment");
    write(json, capabilities.environment);
    json.key("workloads");
    model::write(json, capabilities.workloads);
    write_field(json, "timing", capabilities.timing);
    write_field(json, "kernel_records", capabilities.kernel_records);
    write_field(json, "kernel_records_problem", capabilities.kernel_records_problem);
    json.end_object();
}

static void read(JsonValue value, Capabilities& capabilities) {
    read(value.at("environment"), capabilities.environment);
    model::read(value.at("workloads"), capabilities.workloads);
    read_field(value, "timing", capabilities.timing);
    read_field(value, "kernel_records", capabilities.kernel_records);
    read_field(value, "kernel_records_problem", capabilities.kernel_records_problem);
}

static void write(JsonWriter& json, const Diagnosis& diagnosis) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "level", to_text(diagnosis.level));
    write_field(json, "topic", diagnosis.topic);
    write_field(json, "detail", diagnosis.detail);
    write_field(json, "remedy", diagnosis.remedy);
    json.end_object();
}

static void read(JsonValue value, Diagnosis& diagnosis) {
    const std::string_view level = value.at("level").text();
    for (const Diagnosis::Level candidate : levels)
        if (level == to_text(candidate)) diagnosis.level = candidate;
    read_field(value, "topic", diagnosis.topic);
    read_field(value, "detail", diagnosis.detail);
    read_field(value, "remedy", diagnosis.remedy);
}

static void write(JsonWriter& json, const CaseFacts& facts) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "unsupported", facts.unsupported);
    write_field(json, "memory_bytes", facts.memory_bytes);
    write_field(json, "flops", facts.work.flops);
    write_field(json, "bytes", facts.work.bytes);
    write_field(json, "arithmetic", facts.work.arithmetic);
    write_field(json, "needs_reset", facts.needs_reset);
    json.end_object();
}

static void read(JsonValue value, CaseFacts& facts) {
    read_field(value, "unsupported", facts.unsupported);
    read_field(value, "memory_bytes", facts.memory_bytes);
    read_field(value, "flops", facts.work.flops);
    read_field(value, "bytes", facts.work.bytes);
    read_field(value, "arithmetic", facts.work.arithmetic);
    read_field(value, "needs_reset", facts.needs_reset);
}

namespace {

/// The list functions of the model are templates that look here for the elements' own.
template <class T>
void write_list(JsonWriter& json, std::string_view key, const std::vector<T>& values) {
    json.key(key);
    json.begin_array(JsonLayout::compact);
    for (const T& value : values) write(json, value);
    json.end_array();
}

template <class T>
std::vector<T> read_list(JsonValue object, std::string_view key) {
    std::vector<T> values;
    object.at(key).elements([&](JsonValue element) { read(element, values.emplace_back()); });
    return values;
}

/// {"<kind>": <name>, …fields…}
template <class Fields>
std::string message(std::string_view kind, std::string_view name, Fields&& fields) {
    JsonWriter json(JsonLayout::compact);
    json.begin_object(JsonLayout::compact);
    write_field(json, kind, name);
    fields(json);
    json.end_object();
    return json.finish();
}

constexpr auto no_fields = [](JsonWriter&) {};

struct RequestWriter {
    std::string operator()(const DevicesRequest& request) const {
        return message("do", "devices",
                       [&](JsonWriter& json) { write_field(json, "wanted", request.wanted); });
    }
    std::string operator()(const DescribeRequest&) const {
        return message("do", "describe", no_fields);
    }
    std::string operator()(const DiagnoseRequest&) const {
        return message("do", "diagnose", no_fields);
    }
    std::string operator()(const BoardStateRequest&) const {
        return message("do", "board_state", no_fields);
    }
    std::string operator()(const CeilingsRequest&) const {
        return message("do", "ceilings", no_fields);
    }
    std::string operator()(const FactsRequest& request) const {
        return message("do", "facts",
                       [&](JsonWriter& json) { write_list(json, "cases", request.cases); });
    }
    std::string operator()(const MeasureRequest& request) const {
        return message("do", "measure", [&](JsonWriter& json) {
            json.key("result");
            write(json, request.result);
            json.key("settings");
            write(json, request.settings);
        });
    }
    std::string operator()(const CountersRequest& request) const {
        return message("do", "counters",
                       [&](JsonWriter& json) { write_list(json, "jobs", request.jobs); });
    }
};

struct ReplyWriter {
    std::string operator()(const PhaseReply& reply) const {
        return message("reply", "phase",
                       [&](JsonWriter& json) { write_field(json, "phase", reply.phase); });
    }
    std::string operator()(const DevicesReply& reply) const {
        return message("reply", "devices",
                       [&](JsonWriter& json) { write_list(json, "devices", reply.devices); });
    }
    std::string operator()(const DescribeReply& reply) const {
        return message("reply", "describe", [&](JsonWriter& json) {
            json.key("capabilities");
            write(json, reply.capabilities);
        });
    }
    std::string operator()(const DiagnoseReply& reply) const {
        return message("reply", "diagnose",
                       [&](JsonWriter& json) { write_list(json, "diagnoses", reply.diagnoses); });
    }
    std::string operator()(const BoardStateReply& reply) const {
        return message("reply", "board_state", [&](JsonWriter& json) {
            model::Environment environment;
            environment.before = reply.state;
            json.key("environment");
            write(json, environment);
        });
    }
    std::string operator()(const CeilingsReply& reply) const {
        return message("reply", "ceilings", [&](JsonWriter& json) {
            json.key("ceilings");
            write(json, reply.ceilings);
        });
    }
    std::string operator()(const FactsReply& reply) const {
        return message("reply", "facts",
                       [&](JsonWriter& json) { write_list(json, "facts", reply.facts); });
    }
    std::string operator()(const MeasureReply& reply) const {
        return message("reply", "measure", [&](JsonWriter& json) {
            json.key("result");
            write(json, reply.result);
            write_field(json, "device_lost", reply.device_lost);
        });
    }
    std::string operator()(const CountersReply& reply) const {
        return message("reply", "counters",
                       [&](JsonWriter& json) { write_list(json, "results", reply.results); });
    }
    std::string operator()(const FailedReply& reply) const {
        return message("reply", "failed", [&](JsonWriter& json) {
            write_field(json, "message", reply.message);
            write_field(json, "usage", reply.usage);
            write_field(json, "device_lost", reply.device_lost);
        });
    }
};

}  // namespace

std::string make_label(std::uint64_t number) {
    std::random_device random;
    return fmt::format("{}:{:08x}{:08x}", number, random(), random());
}

Labelled split_label(std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return {};
    return {line.substr(0, space), line.substr(space + 1)};
}

std::string write_request(const Request& request) {
    return std::visit(RequestWriter{}, request);
}

std::string write_reply(const Reply& reply) {
    return std::visit(ReplyWriter{}, reply);
}

Request parse_request(std::string_view line) {
    const JsonDocument document(std::string(line), "request");
    const JsonValue root = document.root();
    const std::string_view what = root.at("do").text();
    if (what == "devices") return DevicesRequest{std::string(root.at("wanted").text())};
    if (what == "describe") return DescribeRequest{};
    if (what == "diagnose") return DiagnoseRequest{};
    if (what == "board_state") return BoardStateRequest{};
    if (what == "ceilings") return CeilingsRequest{};
    if (what == "facts") return FactsRequest{read_list<model::CaseResult>(root, "cases")};
    if (what == "measure") {
        MeasureRequest request;
        read(root.at("result"), request.result);
        read(root.at("settings"), request.settings);
        return request;
    }
    if (what == "counters") return CountersRequest{read_list<CountersRequest::Job>(root, "jobs")};
    root.fail(fmt::format("unknown request '{}'", what));
}

Reply parse_reply(std::string_view line) {
    const JsonDocument document(std::string(line), "worker's reply");
    const JsonValue root = document.root();
    const std::string_view what = root.at("reply").text();
    if (what == "phase") return PhaseReply{std::string(root.at("phase").text())};
    if (what == "devices") return DevicesReply{read_list<ListedDevice>(root, "devices")};
    if (what == "describe") {
        DescribeReply reply;
        read(root.at("capabilities"), reply.capabilities);
        return reply;
    }
    if (what == "diagnose") return DiagnoseReply{read_list<Diagnosis>(root, "diagnoses")};
    if (what == "board_state") {
        model::Environment environment;
        read(root.at("environment"), environment);
        return BoardStateReply{environment.before};
    }
    if (what == "ceilings") {
        CeilingsReply reply;
        read(root.at("ceilings"), reply.ceilings);
        return reply;
    }
    if (what == "facts") return FactsReply{read_list<CaseFacts>(root, "facts")};
    if (what == "measure") {
        MeasureReply reply;
        read(root.at("result"), reply.result);
        read_field(root, "device_lost", reply.device_lost);
        return reply;
    }
    if (what == "counters") return CountersReply{read_list<model::CaseResult>(root, "results")};
    if (what == "failed") {
        FailedReply reply;
        read_field(root, "message", reply.message);
        read_field(root, "usage", reply.usage);
        read_field(root, "device_lost", reply.device_lost);
        return reply;
    }
    root.fail(fmt::format("unknown reply '{}'", what));
}

}  // namespace perfgate::measure
