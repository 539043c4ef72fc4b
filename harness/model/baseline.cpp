// SPDX-License-Identifier: Apache-2.0
#include "model/baseline.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/date.hpp"
#include "model/shared_json.hpp"

namespace perfgate::model {

namespace {

constexpr std::string_view schema = "perfgate.baseline";
constexpr std::int64_t oldest_version = 1;  // single values have batches, too
constexpr std::int64_t version = 2;

}  // namespace

// Static, not in an unnamed namespace: the templates find read and write by their arguments.

static void write(JsonWriter& json, const Provenance& provenance) {
    json.begin_object(JsonLayout::compact);
    write_unless_default(json, "board", provenance.board);
    write_unless_default(json, "driver", provenance.driver);
    write_unless_default(json, "cuda_toolkit", provenance.cuda_toolkit);
    write_unless_default(json, "cupti", provenance.cupti);
    write_unless_default(json, "tool_version", provenance.tool_version);
    write_unless_default(json, "git_revision", provenance.git_revision);
    write_unless_default(json, "recorded_at", provenance.recorded_at);
    write_unless_default(json, "accepted_by", provenance.accepted_by);
    write_unless_default(json, "reason", provenance.reason);
    write_unless_default(json, "wall_s", provenance.wall_s);
    json.end_object();
}

static void read(JsonValue value, Provenance& provenance) {
    read_optional(value, "board", provenance.board);
    read_optional(value, "driver", provenance.driver);
    read_optional(value, "cuda_toolkit", provenance.cuda_toolkit);
    read_optional(value, "cupti", provenance.cupti);
    read_optional(value, "tool_version", provenance.tool_version);
    read_optional(value, "git_revision", provenance.git_revision);
    read_optional(value, "recorded_at", provenance.recorded_at);
    read_optional(value, "accepted_by", provenance.accepted_by);
    read_optional(value, "reason", provenance.reason);
    if (const auto wall = value.find("wall_s")) {
        provenance.wall_s = wall->number();
        require_not_negative(*wall, provenance.wall_s);
    }
}

/// Whether the short form says all there is: one value per process, in order, nothing set aside.
static bool is_short(const MetricSeries& series) {
    if (series.batches.size() < 2) return false;
    const Batch& first = series.batches.front();
    std::int64_t process = 0;
    std::int64_t run = 0;
    for (const Batch& batch : series.batches) {
        const bool next_run = process > 0 && batch.run == run + 1;
        const Batch expected{process, first.device, first.seed,         {},
                             0,       {},           batch.sm_clock_mhz, next_run ? run + 1 : run};
        Batch found = batch;
        found.samples.clear();
        if (batch.samples.size() != 1 || !(found == expected) ||
            batch.sm_clock_mhz.has_value() != first.sm_clock_mhz.has_value()) {
            return false;
        }
        run = expected.run;
        ++process;
    }
    return true;
}

static void write_short(JsonWriter& json, const MetricSeries& series) {
    const Batch& first = series.batches.front();
    std::vector<std::int64_t> runs;
    std::vector<double> values;
    std::vector<double> clocks;
    for (const Batch& batch : series.batches) {
        if (runs.size() <= static_cast<std::size_t>(batch.run)) runs.push_back(0);
        ++runs.back();
        values.push_back(batch.samples.front());
        if (batch.sm_clock_mhz) clocks.push_back(*batch.sm_clock_mhz);
    }
    const bool repeated = std::all_of(values.begin(), values.end(),
                                      [&](double value) { return value == series.value; });
    json.begin_object(JsonLayout::compact);
    write_value(json, series);
    write_field(json, "device", first.device);
    write_field(json, "seed", first.seed);
    if (runs.size() > 1) write_field(json, "runs", runs);
    if (repeated) {
        write_field(json, "repeated", static_cast<std::int64_t>(values.size()));
    } else {
        write_field(json, "processes", values);
    }
    if (!clocks.empty()) write_field(json, "sm_clock_mhz", clocks);
    json.end_object();
}

static void read_short(JsonValue value, MetricSeries& series) {
    read_value(value, series);
    Batch batch;
    read_field(value, "device", batch.device);
    read_field(value, "seed", batch.seed);

    std::vector<double> values;
    if (const auto repeated = value.find("repeated")) {
        constexpr std::int64_t most = 100'000;
        const std::int64_t count = repeated->count();
        if (count < 2 || count > most) repeated->fail("expected a count from 2 to 100000");
        values.assign(static_cast<std::size_t>(count), series.value);
    } else {
        read_field(value, "processes", values);
        if (values.size() < 2) value.at("processes").fail("expected values of several processes");
    }
    std::vector<double> clocks;
    read_optional(value, "sm_clock_mhz", clocks);
    if (!clocks.empty() && clocks.size() != values.size()) {
        value.at("sm_clock_mhz").fail("expected as many clocks as processes");
    }
    std::vector<std::int64_t> runs;
    read_optional(value, "runs", runs);
    std::size_t left = values.size();
    for (const std::int64_t count : runs) {
        if (count < 1 || static_cast<std::size_t>(count) > left) {
            value.at("runs").fail("expected counts that add up to the number of processes");
        }
        left -= static_cast<std::size_t>(count);
    }
    if (!runs.empty() && left != 0) {
        value.at("runs").fail("expected counts that add up to the number of processes");
    }
    std::int64_t in_run = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        batch.process = static_cast<std::int64_t>(i);
        batch.samples = {values[i]};
        if (!clocks.empty()) batch.sm_clock_mhz = clocks[i];
        if (!runs.empty() && in_run == runs.at(static_cast<std::size_t>(batch.run))) {
            ++batch.run;
            in_run = 0;
        }
        ++in_run;
        series.batches.push_back(batch);
    }
}

/// A series as baselines write it: short where that is enough.
static void read_stored(JsonValue value, MetricSeries& series) {
    if (value.kind() != JsonKind::object || value.find("batches")) {
        read(value, series);
    } else {
        read_short(value, series);
    }
}

static void write_stored(JsonWriter& json, const MetricSeries& series) {
    if (is_short(series)) {
        write_short(json, series);
    } else {
        write(json, series);
    }
}

static void write(JsonWriter& json, const Acknowledgement& acknowledgement) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "until", acknowledgement.until);
    write_unless_default(json, "by", acknowledgement.by);
    write_unless_default(json, "reason", acknowledgement.reason);
    json.key("known");
    write_stored(json, acknowledgement.known);
    json.end_object();
}

static void read(JsonValue value, Acknowledgement& acknowledgement) {
    read_field(value, "until", acknowledgement.until);
    if (!is_date(acknowledgement.until)) {
        value.at("until").fail("expected a day, as 2026-12-31");
    }
    read_optional(value, "by", acknowledgement.by);
    read_optional(value, "reason", acknowledgement.reason);
    read_stored(value.at("known"), acknowledgement.known);
}

static void write(JsonWriter& json, const BaselineCase& expected) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "provenance", expected.provenance);
    if (expected.tags) write_field(json, "tags", *expected.tags);
    write_unless_default(json, "anchors", expected.anchors);
    if (!expected.acknowledged.empty()) {
        json.key("acknowledged");
        json.begin_object(JsonLayout::lines);
        for (const auto& [name, known] : expected.acknowledged) write_field(json, name, known);
        json.end_object();
    }
    write_metrics(json, expected.metrics, write_stored);
    if (!expected.kernels.empty()) {
        json.key("kernels");
        json.begin_array(JsonLayout::lines);
        for (const Kernel& kernel : expected.kernels) write(json, kernel);
        json.end_array();
    }
    write_unless_default(json, "host_code", expected.host_code);
    json.end_object();
}

static void read(JsonValue value, BaselineCase& expected) {
    read_optional(value, "provenance", expected.provenance);
    if (value.find("tags")) read_field(value, "tags", expected.tags.emplace());
    read_optional(value, "anchors", expected.anchors);
    read_optional(value, "acknowledged", expected.acknowledged);
    read_metrics(value, expected.metrics, read_stored);
    read_optional(value, "kernels", expected.kernels);
    read_optional(value, "host_code", expected.host_code);
}

std::string write_baseline(const Baseline& baseline) {
    JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", schema);
    write_field(json, "version", version);
    write_field(json, "suite", baseline.suite);
    write_field(json, "device", baseline.device);
    json.key("cases");
    json.begin_object(JsonLayout::lines);
    for (const auto& [id, expected] : baseline.cases) write_field(json, id, expected);
    json.end_object();
    json.end_object();
    return json.finish();
}

Baseline parse_baseline(std::string json, std::string_view source) {
    const JsonDocument document(std::move(json), source);
    const JsonValue root = check_schema(document, schema, oldest_version, version);
    Baseline baseline;
    read_field(root, "suite", baseline.suite);
    read_field(root, "device", baseline.device);
    read_field(root, "cases", baseline.cases);
    return baseline;
}

}  // namespace perfgate::model
