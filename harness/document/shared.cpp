// SPDX-License-Identifier: Apache-2.0
#include "document/shared.hpp"

#include <fmt/format.h>

#include <optional>

namespace perfgate::document {

using model::Batch;
using model::MetricSeries;

template <class Archive>
void describe(Archive& archive, Described<Archive, model::BoardState>& state) {
    archive.optional("sm_clock_mhz", state.sm_clock_mhz);
    archive.optional("memory_clock_mhz", state.memory_clock_mhz);
    archive.optional("max_sm_clock_mhz", state.max_sm_clock_mhz);
    archive.optional("max_memory_clock_mhz", state.max_memory_clock_mhz);
    archive.optional("temperature_c", state.temperature_c);
    archive.optional("power_w", state.power_w);
    archive.optional("power_limit_w", state.power_limit_w);
    archive.optional("throttle_reasons", state.throttle_reasons);
    archive.optional("persistence_mode", state.persistence_mode);
    archive.optional("ecc", state.ecc);
    archive.optional("other_processes", state.other_processes);
}
template void describe(Reader&, model::BoardState&);
template void describe(Writer&, const model::BoardState&);

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Device>& device) {
    archive.required("key", device.key);
    archive.required("name", device.name);
    archive.optional("chip", device.chip);
    archive.optional("compute_capability", device.compute_capability);
    archive.always("memory_bytes", device.memory_bytes);
    archive.optional("mig_profile", device.mig_profile);
    archive.optional("board", device.board);
    archive.optional("multiprocessors", device.multiprocessors);
    archive.optional("l2_bytes", device.l2_bytes);
}
template void describe(Reader&, model::Device&);
template void describe(Writer&, const model::Device&);

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Environment>& environment) {
    archive.required("device", environment.device);
    archive.optional("driver", environment.driver);
    archive.optional("cuda_driver", environment.cuda_driver);
    archive.optional("cuda_toolkit", environment.cuda_toolkit);
    archive.optional("cupti", environment.cupti);
    archive.optional("os", environment.os);
    archive.optional("kernel", environment.kernel);
    archive.optional("cpu", environment.cpu);
    archive.optional("cores", environment.cores);
    archive.always("before", environment.before);
    archive.always("after", environment.after);
    archive.optional("ceilings", environment.ceilings);
}
template void describe(Reader&, model::Environment&);
template void describe(Writer&, const model::Environment&);

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Tail>& tail) {
    archive.required("slowest_tenth", tail.slowest_tenth);
    archive.required("p99", tail.p99);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Batch>& batch) {
    archive.required("process", batch.process);
    archive.required("device", batch.device);
    archive.required("seed", batch.seed);
    archive.optional("round", batch.round);
    archive.optional(renamed("excluded", "set_aside", 2), batch.excluded);
    archive.optional("sm_clock_mhz", batch.sm_clock_mhz);
    archive.optional("run", batch.run);
    archive.optional("detail", batch.detail);
    archive.required("samples", batch.samples);
    archive.optional("tail", batch.tail);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, MetricSeries>& series) {
    describe_value(archive, series);
    archive.optional("detail", series.detail);
    archive.required("batches", series.batches);
}
template void describe(Reader&, MetricSeries&);
template void describe(Writer&, const MetricSeries&);

const Form<MetricSeries> all_batches{
    [](JsonWriter& json, const MetricSeries& series) { write(json, series); },
    [](JsonValue value, MetricSeries& series) { read(value, series); }};

/// {"kind":"host to device","bytes":4096,"from":"pinned","to":"device"}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::MemoryOperation>& operation) {
    archive.required("kind", operation.kind);
    archive.required("bytes", operation.bytes);
    archive.optional("from", operation.from);
    archive.optional("to", operation.to);
}
template void describe(Reader&, model::MemoryOperation&);
template void describe(Writer&, const model::MemoryOperation&);

namespace {

struct WriteParam {
    JsonWriter& json;
    void operator()(double value) const { json.real(value); }  // stays apart from an integer
    void operator()(bool value) const { json.value(value); }
    void operator()(std::int64_t value) const { json.value(value); }
    void operator()(const std::string& value) const { json.value(value); }
};

}  // namespace

void write(JsonWriter& json, const model::ParamValue& value) {
    std::visit(WriteParam{json}, value);
}

void read(JsonValue value, model::ParamValue& param) {
    switch (value.kind()) {
        case JsonKind::boolean:
            param = value.boolean();
            return;
        case JsonKind::integer:
            param = value.integer();
            return;
        case JsonKind::real:
            param = value.number();
            return;
        case JsonKind::text:
            param = std::string(value.text());
            return;
        default:
            value.fail(
                fmt::format("expected a parameter's value (a boolean, a number or a "
                            "string), found {}",
                            to_text(value.kind())));
    }
}

namespace {

/// Board and seed of a case's metrics that are a single value.
struct Once {
    std::string device;
    std::uint64_t seed = 0;
};

template <class Archive>
void describe(Archive& archive, Described<Archive, Once>& once) {
    archive.required("device", once.device);
    archive.required("seed", once.seed);
}

Batch batch_of(const Once& once, double value) {
    Batch batch;
    batch.device = once.device;
    batch.seed = once.seed;
    batch.samples = {value};
    return batch;
}

bool is_value_alone(const MetricSeries& series, const Once& once) {
    return series.detail.empty() && series.batches.size() == 1 &&
           series.batches[0] == batch_of(once, series.value);
}

/// Board and seed of the first such series of a case: all series of one process share them.
std::optional<Once> once_of(const Metrics& metrics) {
    for (const auto& [name, series] : metrics) {
        if (series.batches.size() != 1) continue;
        Once once{series.batches[0].device, series.batches[0].seed};
        if (is_value_alone(series, once)) return once;
    }
    return std::nullopt;
}

}  // namespace

void describe_metrics(Writer& writer, const Metrics& metrics, const Form<MetricSeries>& form) {
    const std::optional<Once> once = once_of(metrics);
    if (once) writer.required("once", *once);
    JsonWriter& json = writer.json();
    json.key("metrics");
    json.begin_object(JsonLayout::lines);
    for (const auto& [name, series] : metrics) {
        json.key(name);
        if (!once || !is_value_alone(series, *once)) {
            form.write(json, series);
            continue;
        }
        json.begin_object(JsonLayout::compact);
        describe_value(writer, series);
        json.end_object();
    }
    json.end_object();
}

void describe_metrics(Reader& reader, Metrics& metrics, const Form<MetricSeries>& form) {
    std::optional<Once> once;
    reader.optional("once", once);
    constexpr std::size_t fields_of_value_alone = 3;
    reader.object().at("metrics").members([&](std::string_view name, JsonValue value) {
        MetricSeries& series = metrics.emplace_hint(metrics.end(), name, MetricSeries())->second;
        if (!once || value.kind() != JsonKind::object || value.size() != fields_of_value_alone) {
            return form.read(value, series);
        }
        Reader alone(value);
        describe_value(alone, series);
        series.batches.push_back(batch_of(*once, series.value));
    });
}

}  // namespace perfgate::document
