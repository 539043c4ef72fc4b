// SPDX-License-Identifier: Apache-2.0
// The protocol between coordinator and worker: one line per message, a request down, replies up. A
// line is a label, a space and a JSON object. The label has the request's number and a nonce, and
// every reply repeats it, so that a reply to another request is detected. A worker answers each
// request with any number of `phase` replies, followed by one other reply.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "measure/backend.hpp"
#include "measure/case_measurement.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// Which devices `wanted` names; opens none.
struct DevicesRequest {
    std::string wanted;
};
struct DescribeRequest {};
struct DiagnoseRequest {};
struct BoardStateRequest {};
struct CeilingsRequest {};
/// Loads the plugins and runs the scripts among them, without opening the device.
struct LoadRequest {};

/// What plugins report about the cases: support and memory.
struct FactsRequest {
    std::vector<model::CaseResult> cases;  ///< only `spec` is used
};

struct MeasureRequest {
    model::CaseResult result;  ///< spec, place, tags and gates
    CaseSettings settings;
};

struct CountersRequest {
    using Job = MeasureRequest;  ///< `result` as measured
    std::vector<Job> jobs;
};

/// The machine code of a case, without measuring it.
struct CodeRequest {
    model::CaseResult result;  ///< only `spec` is used
    CaseSettings settings;
};

using Request = std::variant<DevicesRequest, DescribeRequest, DiagnoseRequest, BoardStateRequest,
                             CeilingsRequest, LoadRequest, FactsRequest, MeasureRequest,
                             CountersRequest, CodeRequest>;

/// Phases with their own time limits in the coordinator: "loading <file>" before each plugin file,
/// then `loaded_phase`, and `open_phase` once the backend is ready.
inline constexpr std::string_view loading_phase = "loading ";
inline constexpr std::string_view loaded_phase = "loaded";
inline constexpr std::string_view open_phase = "open";

struct PhaseReply {
    std::string phase;
};
struct DevicesReply {
    std::vector<ListedDevice> devices;
};
struct DescribeReply {
    Capabilities capabilities;
};
struct DiagnoseReply {
    std::vector<Diagnosis> diagnoses;
};
struct BoardStateReply {
    model::BoardState state;
};
struct CeilingsReply {
    model::Ceilings ceilings;
};
struct LoadedReply {
    bool used_device = false;  ///< a script has opened it
};
struct FactsReply {
    std::vector<CaseFacts> facts;
};
struct MeasureReply {
    model::CaseResult result;
    bool device_lost = false;  ///< the worker ends after this
};
struct CountersReply {
    std::vector<model::CaseResult> results;
};
struct CodeReply {
    model::CaseCode code;
};
/// The request failed as a whole; `usage`: the input was wrong (exit code 2).
struct FailedReply {
    std::string message;
    bool usage = false;
    bool device_lost = false;
};

using Reply = std::variant<PhaseReply, DevicesReply, DescribeReply, DiagnoseReply, BoardStateReply,
                           CeilingsReply, LoadedReply, FactsReply, MeasureReply, CountersReply,
                           CodeReply, FailedReply>;

/// A label that nobody can know before the request is sent: "17:9f86d081884c7d65".
std::string make_label(std::uint64_t number);
struct Labelled {
    std::string_view label, message;
};
/// Splits a line. Both parts are empty if it has no label.
Labelled split_label(std::string_view line);

std::string write_request(const Request& request);
Request parse_request(std::string_view line);
std::string write_reply(const Reply& reply);
Reply parse_reply(std::string_view line);

}  // namespace perfgate::measure
