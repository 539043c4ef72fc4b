// SPDX-License-Identifier: Apache-2.0
#include "measure/protocol.hpp"

#include <fmt/format.h>

#include <random>
#include <type_traits>

#include "document/kernel_code.hpp"
#include "document/shared.hpp"
#include "model/source_kernel.hpp"
#include "util/text.hpp"

namespace perfgate::document {

using measure::Diagnosis;

PERFGATE_FIELDS(model::SourceArgument, required(role, type, elements, fill),
                with(required, integer, with_sign), required(real))

PERFGATE_FIELDS(model::SourceCheck, required(kind, against, rtol, atol))

PERFGATE_FIELDS(model::SourceCode, required(file, digest, kernel_symbol, reference_symbol))

/// What a worker needs of it: the code is compiled.
PERFGATE_FIELDS(model::SourceKernel,
                required(file, folder, kernel, grid, block, shared_bytes, arguments, check),
                named(required, "flops", work.flops), named(required, "bytes", work.bytes),
                named(required, "arithmetic", work.arithmetic), required(code))

PERFGATE_FIELDS(model::ParamInfo, required(name, help, type), with(required, minimum, with_sign),
                with(required, maximum, with_sign), required(choices),
                named(optional, "default", default_value), optional(values))

PERFGATE_FIELDS(model::VariantInfo,
                required(name, help, target, submission, min_compute_capability, not_built))

PERFGATE_FIELDS(model::WorkloadInfo, required(name, help, plugin, bundled, params, variants))

}  // namespace perfgate::document

namespace perfgate::measure {

std::string_view to_text(Diagnosis::Level level) {
    return util::word_of<Diagnosis::Level::problem>(level, {"ok", "warning", "problem"});
}

// Templates, not in an unnamed namespace, because the archives find them by argument-dependent
// lookup.

PERFGATE_FIELDS(ListedDevice, required(id, device), optional(uuid))

PERFGATE_FIELDS(CaseSettings, required(metrics, seed, verify_seed, precision, time_budget_s),
                optional(added_work), required(process, round, times_only),
                optional(arguments_too, untraced), required(verify_only, code_only, deterministic),
                optional(kernel))

PERFGATE_FIELDS(Capabilities, required(environment, workloads, timing, kernel_records,
                                       kernel_records_problem, libraries))

PERFGATE_FIELDS(Diagnosis, required(level, topic, detail, remedy))

PERFGATE_FIELDS(CaseFacts, required(unsupported, memory_bytes),
                named(required, "flops", work.flops), named(required, "bytes", work.bytes),
                named(required, "arithmetic", work.arithmetic), required(needs_reset))

// --- requests

PERFGATE_FIELDS(DevicesRequest, required(wanted))

PERFGATE_FIELDS(FactsRequest, required(cases))

PERFGATE_FIELDS(MeasureRequest, required(result, settings))

PERFGATE_FIELDS(CountersRequest, required(jobs))

PERFGATE_FIELDS(CodeRequest, required(result, settings))

// --- replies

PERFGATE_FIELDS(PhaseReply, required(phase))

PERFGATE_FIELDS(DevicesReply, required(devices))

PERFGATE_FIELDS(DescribeReply, required(capabilities))

PERFGATE_FIELDS(DiagnoseReply, required(diagnoses))

PERFGATE_FIELDS(BoardStateReply, required(state))

PERFGATE_FIELDS(CeilingsReply, required(ceilings))

PERFGATE_FIELDS(LoadedReply, required(used_device))

PERFGATE_FIELDS(FactsReply, required(facts))

PERFGATE_FIELDS(MeasureReply, required(result, device_lost))

PERFGATE_FIELDS(CountersReply, required(results))

PERFGATE_FIELDS(CodeReply, required(code))

PERFGATE_FIELDS(FailedReply, required(message, usage, device_lost))

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
