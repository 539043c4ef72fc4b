// SPDX-License-Identifier: Apache-2.0
// The custom JSON of github-action-benchmark, which draws it over the commits of a branch: a list
// of {name, unit, value, range, extra}. The action takes values of which smaller is better and
// others from two files. Gated metrics that were measured are in it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "document/json_writer.hpp"
#include "model/quantity.hpp"
#include "report/formats.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"

namespace perfgate::report {

namespace {

using document::JsonLayout;
using document::JsonWriter;

constexpr std::size_t longest_case_name = 500;

std::string line(std::string_view text) {
    std::string room;
    return std::string(plain_line(text, longest_case_name, room));
}

void write_metric(JsonWriter& json, const std::string& suite, const JoinedCase& joined,
                  const MetricRow& metric, double value) {
    json.begin_object(JsonLayout::compact);
    json.key("name");
    json.value(line(suite + ": " + joined.verdict->id + ' ' + std::string(metric.metric)));
    json.key("unit");
    json.value(line(metric.unit));
    json.key("value");
    json.value(value);
    if (metric.verdict != nullptr && metric.verdict->interval) {
        json.key("range");
        json.value(
            model::interval_text(metric.verdict->interval->low, metric.verdict->interval->high));
    }
    json.key("extra");
    json.value(line(
        to_text(metric.verdict != nullptr ? metric.verdict->verdict : joined.verdict->verdict)));
    json.end_object();
}

bool is_gated(const JoinedCase& joined, const MetricRow& metric) {
    if (metric.verdict != nullptr || joined.result == nullptr) return metric.verdict != nullptr;
    const std::vector<model::GateRule>& gates = joined.result->gates;
    return std::any_of(gates.begin(), gates.end(),
                       [&](const model::GateRule& gate) { return gate.metric == metric.metric; });
}

std::string written(const model::VerdictDocument& document, const model::Run& run,
                    model::Direction direction) {
    JsonWriter json;
    json.begin_array(JsonLayout::lines);
    for (const JoinedSuite& suite : join(document, run)) {
        for (const JoinedCase& joined : suite.cases) {
            for (const MetricRow& metric : metric_rows(joined)) {
                const auto definition = run.metric_definitions.find(std::string(metric.metric));
                if (!is_gated(joined, metric) || definition == run.metric_definitions.end() ||
                    definition->second.direction != direction) {
                    continue;
                }
                const std::optional<double> value = metric.measured();
                if (!value || !std::isfinite(*value)) continue;
                write_metric(json, suite.verdict->name, joined, metric, *value);
            }
        }
    }
    json.end_array();
    return json.finish();
}

}  // namespace

std::string write_smaller_is_better(const model::VerdictDocument& document, const model::Run& run,
                                    const Options& /*options*/) {
    return written(document, run, model::Direction::lower);
}

std::string write_bigger_is_better(const model::VerdictDocument& document, const model::Run& run,
                                   const Options& /*options*/) {
    return written(document, run, model::Direction::higher);
}

}  // namespace perfgate::report
