// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "document/json_writer.hpp"
#include "model/text.hpp"
#include "runner/self_test.hpp"

namespace perfgate::runner {

std::string write_json(const SelfTestOutcome& outcome, const SelfTestRequest& request) {
    using document::JsonLayout;
    using document::write_field;
    document::JsonWriter json(JsonLayout::lines);
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", "perfgate.selftest");
    write_field(json, "version", std::int64_t{2});
    write_field(json, "device", outcome.environment.device.name);
    write_field(json, "seed", request.seed);
    write_field(json, "tolerance", request.tolerance);
    write_field(json, "wall_s", outcome.wall_s);
    write_field(json, "interrupted", outcome.interrupted);
    write_field(json, "promised", static_cast<std::int64_t>(outcome.report.promised));
    write_field(json, "kept", static_cast<std::int64_t>(outcome.report.kept));
    write_field(json, "problems", outcome.report.problems);
    write_field(json, "exit_code", std::int64_t{outcome.exit_code});
    json.key("sizes");
    json.begin_array(JsonLayout::lines);
    for (const gate::SizeTally& size : outcome.report.sizes) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "size", size.size);
        write_field(json, "cases", static_cast<std::int64_t>(size.cases));
        write_field(json, "regressed", static_cast<std::int64_t>(size.regressed));
        write_field(json, "inconclusive", static_cast<std::int64_t>(size.inconclusive));
        write_field(json, "improved", static_cast<std::int64_t>(size.improved));
        write_field(json, "pass", static_cast<std::int64_t>(size.passed));
        write_field(json, "not_judged", static_cast<std::int64_t>(size.unjudged));
        json.end_object();
    }
    json.end_array();
    json.key("cases");
    json.begin_array(JsonLayout::lines);
    for (const gate::CaseTally& of_case : outcome.report.cases) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "suite", of_case.name.first);
        write_field(json, "id", of_case.name.second);
        if (of_case.minimum_detectable_change) {
            write_field(json, "minimum_detectable_change", *of_case.minimum_detectable_change);
        }
        json.key("verdicts");
        json.begin_object(JsonLayout::compact);
        for (const auto& [size, verdict] : of_case.by_size) {
            write_field(json, model::number_text(size), model::to_text(verdict));
        }
        json.end_object();
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.finish() + "\n";
}

}  // namespace perfgate::runner
