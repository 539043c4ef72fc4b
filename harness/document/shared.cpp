// SPDX-License-Identifier: Apache-2.0
#include "document/shared.hpp"

namespace perfgate::model {

// Static, not in an unnamed namespace: the templates find read and write by their arguments.

void write(JsonWriter& json, const BoardState& state) {
    json.begin_object(JsonLayout::compact);
    write_if_known(json, "sm_clock_mhz", state.sm_clock_mhz);
    write_if_known(json, "memory_clock_mhz", state.memory_clock_mhz);
    write_if_known(json, "max_sm_clock_mhz", state.max_sm_clock_mhz);
    write_if_known(json, "max_memory_clock_mhz", state.max_memory_clock_mhz);
    write_if_known(json, "temperature_c", state.temperature_c);
    write_if_known(json, "power_w", state.power_w);
    write_if_known(json, "power_limit_w", state.power_limit_w);
    write_unless_default(json, "throttle_reasons", state.throttle_reasons);
    write_if_known(json, "persistence_mode", state.persistence_mode);
    write_if_known(json, "ecc", state.ecc);
    write_unless_default(json, "other_processes", state.other_processes);
    json.end_object();
}

void read(JsonValue value, BoardState& state) {
    read_optional(value, "sm_clock_mhz", state.sm_clock_mhz);
    read_optional(value, "memory_clock_mhz", state.memory_clock_mhz);
    read_optional(value, "max_sm_clock_mhz", state.max_sm_clock_mhz);
    read_optional(value, "max_memory_clock_mhz", state.max_memory_clock_mhz);
    read_optional(value, "temperature_c", state.temperature_c);
    read_optional(value, "power_w", state.power_w);
    read_optional(value, "power_limit_w", state.power_limit_w);
    read_optional(value, "throttle_reasons", state.throttle_reasons);
    read_optional(value, "persistence_mode", state.persistence_mode);
    read_optional(value, "ecc", state.ecc);
    read_optional(value, "other_processes", state.other_processes);
}

void write(JsonWriter& json, const Device& device) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "key", device.key);
    write_field(json, "name", device.name);
    write_unless_default(json, "chip", device.chip);
    write_unless_default(json, "compute_capability", device.compute_capability);
    write_field(json, "memory_bytes", device.memory_bytes);
    write_unless_default(json, "mig_profile", device.mig_profile);
    write_unless_default(json, "board", device.board);
    write_unless_default(json, "multiprocessors", device.multiprocessors);
    write_unless_default(json, "l2_bytes", device.l2_bytes);
    json.end_object();
}

void read(JsonValue value, Device& device) {
    read_field(value, "key", device.key);
    read_field(value, "name", device.name);
    read_optional(value, "chip", device.chip);
    read_optional(value, "compute_capability", device.compute_capability);
    read_optional(value, "memory_bytes", device.memory_bytes);
    read_optional(value, "mig_profile", device.mig_profile);
    read_optional(value, "board", device.board);
    read_optional(value, "multiprocessors", device.multiprocessors);
    read_optional(value, "l2_bytes", device.l2_bytes);
}

void write(JsonWriter& json, const Ceilings& ceilings) {
    json.begin_object(JsonLayout::compact);
    write_unless_default(json, "copy_bytes_per_s", ceilings.copy_bytes_per_s);
    write_unless_default(json, "matrix_flops_per_s", ceilings.matrix_flops_per_s);
    write_unless_default(json, "problem", ceilings.problem);
    json.end_object();
}

void read(JsonValue value, Ceilings& ceilings) {
    if (const auto copy = value.find("copy_bytes_per_s")) {
        ceilings.copy_bytes_per_s = copy->number();
        require_not_negative(*copy, ceilings.copy_bytes_per_s);
    }
    if (const auto rates = value.find("matrix_flops_per_s")) {
        read(*rates, ceilings.matrix_flops_per_s);
        for (const auto& [type, rate] : ceilings.matrix_flops_per_s) {
            require_not_negative(*rates, rate);
        }
    }
    read_optional(value, "problem", ceilings.problem);
}

void write(JsonWriter& json, const Environment& environment) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "device", environment.device);
    write_unless_default(json, "driver", environment.driver);
    write_unless_default(json, "cuda_driver", environment.cuda_driver);
    write_unless_default(json, "cuda_toolkit", environment.cuda_toolkit);
    write_unless_default(json, "cupti", environment.cupti);
    write_unless_default(json, "os", environment.os);
    write_unless_default(json, "kernel", environment.kernel);
    write_unless_default(json, "cpu", environment.cpu);
    write_unless_default(json, "cores", environment.cores);
    write_field(json, "before", environment.before);
    write_field(json, "after", environment.after);
    write_unless_default(json, "ceilings", environment.ceilings);
    json.end_object();
}

void read(JsonValue value, Environment& environment) {
    read_field(value, "device", environment.device);
    read_optional(value, "driver", environment.driver);
    read_optional(value, "cuda_driver", environment.cuda_driver);
    read_optional(value, "cuda_toolkit", environment.cuda_toolkit);
    read_optional(value, "cupti", environment.cupti);
    read_optional(value, "os", environment.os);
    read_optional(value, "kernel", environment.kernel);
    read_optional(value, "cpu", environment.cpu);
    read_optional(value, "cores", environment.cores);
    read_optional(value, "before", environment.before);
    read_optional(value, "after", environment.after);
    read_optional(value, "ceilings", environment.ceilings);
}

void write_value(JsonWriter& json, const MetricSeries& series) {
    write_field(json, "unit", series.unit);
    write_field(json, "value", series.value);
    write_field(json, "method", series.method);
}

void read_value(const JsonValue& object, MetricSeries& series) {
    read_field(object, "unit", series.unit);
    read_field(object, "value", series.value);
    read_field(object, "method", series.method);
}

void write(JsonWriter& json, const MetricSeries& series) {
    json.begin_object(JsonLayout::compact);
    write_value(json, series);
    json.key("batches");
    json.begin_array(JsonLayout::compact);
    for (const Batch& batch : series.batches) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "process", batch.process);
        write_field(json, "device", batch.device);
        write_field(json, "seed", batch.seed);
        write_unless_default(json, "round", batch.round);
        write_unless_default(json, "set_aside", batch.set_aside);
        write_if_known(json, "sm_clock_mhz", batch.sm_clock_mhz);
        write_unless_default(json, "run", batch.run);
        write_field(json, "samples", batch.samples);
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

static void read(JsonValue value, Batch& batch) {
    read_field(value, "process", batch.process);
    read_field(value, "device", batch.device);
    read_field(value, "seed", batch.seed);
    read_field(value, "samples", batch.samples);
    read_optional(value, "round", batch.round);
    if (batch.round < 0) value.at("round").fail("expected a round from 0");
    read_optional(value, "set_aside", batch.set_aside);
    read_optional(value, "sm_clock_mhz", batch.sm_clock_mhz);
    read_optional(value, "run", batch.run);
}

void read(JsonValue value, MetricSeries& series) {
    read_value(value, series);
    read_field(value, "batches", series.batches);
}

void write(JsonWriter& json, const SourcePlace& place) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "file", place.file);
    write_field(json, "line", place.line);
    json.end_object();
}

void read(JsonValue value, SourcePlace& place) {
    read_field(value, "file", place.file);
    read_field(value, "line", place.line);
}

/// Where the values come from that a case's metrics have alone.
struct Once {
    std::string device;
    std::uint64_t seed = 0;
};

static Batch batch_of(const Once& once, double value) {
    Batch batch;
    batch.device = once.device;
    batch.seed = once.seed;
    batch.samples = {value};
    return batch;
}

static bool is_value_alone(const MetricSeries& series, const Once& once) {
    return series.batches.size() == 1 && series.batches[0] == batch_of(once, series.value);
}

/// Of the first such series of a case: those of one process have it in common.
static std::optional<Once> once_of(const Metrics& metrics) {
    for (const auto& [name, series] : metrics) {
        if (series.batches.size() != 1) continue;
        Once once{series.batches[0].device, series.batches[0].seed};
        if (is_value_alone(series, once)) return once;
    }
    return std::nullopt;
}

void write_metrics(JsonWriter& json, const Metrics& metrics,
                   void (*write_series)(JsonWriter&, const MetricSeries&)) {
    const std::optional<Once> once = once_of(metrics);
    if (once) {
        json.key("once");
        json.begin_object(JsonLayout::compact);
        write_field(json, "device", once->device);
        write_field(json, "seed", once->seed);
        json.end_object();
    }
    json.key("metrics");
    json.begin_object(JsonLayout::lines);
    for (const auto& [name, series] : metrics) {
        json.key(name);
        if (!once || !is_value_alone(series, *once)) {
            write_series(json, series);
            continue;
        }
        json.begin_object(JsonLayout::compact);
        write_value(json, series);
        json.end_object();
    }
    json.end_object();
}

void read_metrics(JsonValue object, Metrics& metrics,
                  void (*read_series)(JsonValue, MetricSeries&)) {
    std::optional<Once> once;
    if (const auto value = object.find("once")) {
        read_field(*value, "device", once.emplace().device);
        read_field(*value, "seed", once->seed);
    }
    constexpr std::size_t fields_of_value_alone = 3;
    object.at("metrics").members([&](std::string_view name, JsonValue value) {
        MetricSeries& series = metrics.emplace_hint(metrics.end(), name, MetricSeries())->second;
        if (!once || value.kind() != JsonKind::object || value.size() != fields_of_value_alone) {
            return read_series(value, series);
        }
        read_value(value, series);
        series.batches.push_back(batch_of(*once, series.value));
    });
}

}  // namespace perfgate::model
