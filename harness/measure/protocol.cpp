// SPDX-License-Identifier: Apache-2.0
#include "measure/protocol.hpp"

#include <fmt/format.h>

#include <random>
#include <type_traits>

#include "document/kernel_code.hpp"
#include "document/shared.hpp"
#include "model/source_kernel.hpp"
#include "util/word_of.hpp"

namespace perfgate::document {

using measure::Diagnosis;
using model::ParamType;
using model::Submission;
using model::Target;

template <class Archive>
void describe(Archive& archive, Described<Archive, model::SourceArgument>& argument) {
    archive.required("role", argument.role);
    archive.required("type", argument.type);
    archive.required("elements", argument.elements);
    archive.required("fill", argument.fill);
    archive.required("integer", argument.integer, with_sign);
    archive.required("real", argument.real);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::SourceCheck>& check) {
    archive.required("kind", check.kind);
    archive.required("against", check.against);
    archive.required("rtol", check.rtol);
    archive.required("atol", check.atol);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::SourceCode>& code) {
    archive.required("file", code.file);
    archive.required("digest", code.digest);
    archive.required("kernel_symbol", code.kernel_symbol);
    archive.required("reference_symbol", code.reference_symbol);
}

/// What a worker needs of it: the code is compiled.
template <class Archive>
void describe(Archive& archive, Described<Archive, model::SourceKernel>& kernel) {
    archive.required("file", kernel.file);
    archive.required("folder", kernel.folder);
    archive.required("kernel", kernel.kernel);
    archive.required("grid", kernel.grid);
    archive.required("block", kernel.block);
    archive.required("shared_bytes", kernel.shared_bytes);
    archive.required("arguments", kernel.arguments);
    archive.required("check", kernel.check);
    archive.required("flops", kernel.work.flops);
    archive.required("bytes", kernel.work.bytes);
    archive.required("arithmetic", kernel.work.arithmetic);
    archive.required("code", kernel.code);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::ParamInfo>& info) {
    archive.required("name", info.name);
    archive.required("help", info.help);
    archive.required("type", info.type);
    archive.required("minimum", info.minimum, with_sign);
    archive.required("maximum", info.maximum, with_sign);
    archive.required("choices", info.choices);
    archive.optional("default", info.default_value);
    archive.optional("values", info.values);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::VariantInfo>& info) {
    archive.required("name", info.name);
    archive.required("help", info.help);
    archive.required("target", info.target);
    archive.required("submission", info.submission);
    archive.required("min_compute_capability", info.min_compute_capability);
    archive.required("not_built", info.not_built);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::WorkloadInfo>& info) {
    archive.required("name", info.name);
    archive.required("help", info.help);
    archive.required("plugin", info.plugin);
    archive.required("bundled", info.bundled);
    archive.required("params", info.params);
    archive.required("variants", info.variants);
}

}  // namespace perfgate::document

namespace perfgate::measure {

using document::Described;

std::string_view to_text(Diagnosis::Level level) {
    return util::word_of<Diagnosis::Level::problem>(level, {"ok", "warning", "problem"});
}

// Templates, not in an unnamed namespace, because the archives find them by argument-dependent
// lookup.

template <class Archive>
void describe(Archive& archive, Described<Archive, ListedDevice>& listed) {
    archive.required("id", listed.id);
    archive.required("device", listed.device);
    archive.optional("uuid", listed.uuid);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CaseSettings>& settings) {
    archive.required("metrics", settings.metrics);
    archive.required("seed", settings.seed);
    archive.required("verify_seed", settings.verify_seed);
    archive.required("precision", settings.precision);
    archive.required("time_budget_s", settings.time_budget_s);
    archive.optional("added_work", settings.added_work);
    archive.required("process", settings.process);
    archive.required("round", settings.round);
    archive.required("times_only", settings.times_only);
    archive.optional("arguments_too", settings.arguments_too);
    archive.optional("untraced", settings.untraced);
    archive.required("verify_only", settings.verify_only);
    archive.required("code_only", settings.code_only);
    archive.required("deterministic", settings.deterministic);
    archive.optional("kernel", settings.kernel);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Capabilities>& capabilities) {
    archive.required("environment", capabilities.environment);
    archive.required("workloads", capabilities.workloads);
    archive.required("timing", capabilities.timing);
    archive.required("kernel_records", capabilities.kernel_records);
    archive.required("kernel_records_problem", capabilities.kernel_records_problem);
    archive.required("libraries", capabilities.libraries);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Diagnosis>& diagnosis) {
    archive.required("level", diagnosis.level);
    archive.required("topic", diagnosis.topic);
    archive.required("detail", diagnosis.detail);
    archive.required("remedy", diagnosis.remedy);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CaseFacts>& facts) {
    archive.required("unsupported", facts.unsupported);
    archive.required("memory_bytes", facts.memory_bytes);
    archive.required("flops", facts.work.flops);
    archive.required("bytes", facts.work.bytes);
    archive.required("arithmetic", facts.work.arithmetic);
    archive.required("needs_reset", facts.needs_reset);
}

// --- requests

template <class Archive>
void describe(Archive& archive, Described<Archive, DevicesRequest>& request) {
    archive.required("wanted", request.wanted);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, FactsRequest>& request) {
    archive.required("cases", request.cases);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, MeasureRequest>& request) {
    archive.required("result", request.result);
    archive.required("settings", request.settings);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CountersRequest>& request) {
    archive.required("jobs", request.jobs);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CodeRequest>& request) {
    archive.required("result", request.result);
    archive.required("settings", request.settings);
}

// --- replies

template <class Archive>
void describe(Archive& archive, Described<Archive, PhaseReply>& reply) {
    archive.required("phase", reply.phase);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, DevicesReply>& reply) {
    archive.required("devices", reply.devices);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, DescribeReply>& reply) {
    archive.required("capabilities", reply.capabilities);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, DiagnoseReply>& reply) {
    archive.required("diagnoses", reply.diagnoses);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, BoardStateReply>& reply) {
    archive.required("state", reply.state);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CeilingsReply>& reply) {
    archive.required("ceilings", reply.ceilings);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, LoadedReply>& reply) {
    archive.required("used_device", reply.used_device);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, FactsReply>& reply) {
    archive.required("facts", reply.facts);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, MeasureReply>& reply) {
    archive.required("result", reply.result);
    archive.required("device_lost", reply.device_lost);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CountersReply>& reply) {
    archive.required("results", reply.results);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CodeReply>& reply) {
    archive.required("code", reply.code);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, FailedReply>& reply) {
    archive.required("message", reply.message);
    archive.required("usage", reply.usage);
    archive.required("device_lost", reply.device_lost);
}

namespace {

/// Names of the messages, in the order of the variant.
constexpr std::string_view request_names[] = {"devices",  "describe", "diagnose", "board_state",
                                              "ceilings", "load",     "facts",    "measure",
                                              "counters", "code"};
constexpr std::string_view reply_names[] = {"phase",       "devices",  "describe", "diagnose",
                                            "board_state", "ceilings", "loaded",   "facts",
                                            "measure",     "counters", "code",     "failed"};
static_assert(std::size(request_names) == std::variant_size_v<Request>);
static_assert(std::size(reply_names) == std::variant_size_v<Reply>);

/// {"<kind>": <name>, …fields…}
template <class Message>
std::string write_message(std::string_view kind, std::string_view name, const Message& message) {
    document::JsonWriter json(document::JsonLayout::compact);
    json.begin_object(document::JsonLayout::compact);
    write_field(json, kind, name);
    document::Writer writer(json);
    std::visit(
        [&](const auto& fields) {
            if constexpr (!std::is_empty_v<std::decay_t<decltype(fields)>>) {
                describe(writer, fields);
            }
        },
        message);
    json.end_object();
    return json.finish();
}

/// Reads the alternative of this index, or one after it.
template <class Message, std::size_t index = 0>
Message read_message(document::JsonValue root, std::string_view name,
                     std::span<const std::string_view> names) {
    if constexpr (index < std::variant_size_v<Message>) {
        if (name != names[index]) return read_message<Message, index + 1>(root, name, names);
        std::variant_alternative_t<index, Message> fields;
        if constexpr (!std::is_empty_v<decltype(fields)>) read(root, fields);
        return fields;
    } else {
        root.fail(fmt::format("unknown message '{}'", name));
    }
}

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
    return write_message("do", request_names[request.index()], request);
}

std::string write_reply(const Reply& reply) {
    return write_message("reply", reply_names[reply.index()], reply);
}

Request parse_request(std::string_view line) {
    const document::JsonDocument message(std::string(line), "request");
    const document::JsonValue root = message.root();
    return read_message<Request>(root, root.at("do").text(), request_names);
}

Reply parse_reply(std::string_view line) {
    const document::JsonDocument message(std::string(line), "worker's reply");
    const document::JsonValue root = message.root();
    return read_message<Reply>(root, root.at("reply").text(), reply_names);
}

}  // namespace perfgate::measure
