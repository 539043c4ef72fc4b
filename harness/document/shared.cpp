// SPDX-License-Identifier: Apache-2.0
#include "document/shared.hpp"

#include <optional>

#include "model/relation.hpp"

namespace perfgate::document {

using model::Batch;
using model::MetricSeries;

PERFGATE_FIELDS(model::BoardState,
                optional(sm_clock_mhz, memory_clock_mhz, max_sm_clock_mhz, max_memory_clock_mhz,
                         temperature_c, power_w, power_limit_w, throttle_reasons, persistence_mode,
                         ecc, other_processes))
template void describe(Reader&, model::BoardState&);
template void describe(Writer&, const model::BoardState&);

PERFGATE_FIELDS(model::Device, required(key, name), optional(chip, compute_capability),
                always(memory_bytes), optional(mig_profile, board, multiprocessors, l2_bytes))
template void describe(Reader&, model::Device&);
template void describe(Writer&, const model::Device&);

PERFGATE_FIELDS(model::Environment, required(device),
                optional(driver, cuda_driver, cuda_toolkit, cupti, os, kernel, cpu, cores),
                always(before, after), optional(ceilings))
template void describe(Reader&, model::Environment&);
template void describe(Writer&, const model::Environment&);

PERFGATE_FIELDS(model::Tail, required(slowest_tenth, p99))

PERFGATE_FIELDS(util::OtherWork, with(required, waited, is_share), with(required, busy, is_share))

PERFGATE_FIELDS(Batch, required(process, device, seed), optional(round),
                named(optional, renamed("excluded", "set_aside", 2), excluded),
                optional(sm_clock_mhz, run, detail), required(samples), optional(tail, other_work))

PERFGATE_FIELDS(MetricSeries, also(describe_value(archive, of)), optional(detail),
                required(batches))
template void describe(Reader&, MetricSeries&);
template void describe(Writer&, const MetricSeries&);

const Form<MetricSeries> all_batches{
    [](JsonWriter& json, const MetricSeries& series) { write(json, series); },
    [](JsonValue value, MetricSeries& series) { read(value, series); }};

/// {"kind":"host to device","bytes":4096,"from":"pinned","to":"device"}
PERFGATE_FIELDS(model::MemoryOperation, required(kind, bytes), optional(from, to))
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
            value.fail("expected a parameter's value (a boolean, a number or a string), found {}",
                       to_text(value.kind()));
    }
}

namespace {

/// Board and seed of a case's metrics that are a single value.
struct Once {
    std::string device;
    std::uint64_t seed = 0;
};

PERFGATE_FIELDS(Once, required(device, seed))

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

using model::ExpressionStep;

PERFGATE_FIELDS(model::OperandMetric, required(operand, metric))

// Not in an unnamed namespace: the archives find read and write by their arguments.

static void write(JsonWriter& json, const ExpressionStep& step) {
    std::visit([&](const auto& value) { write(json, value); }, step);
}

static void read(JsonValue value, ExpressionStep& step) {
    switch (value.kind()) {
        case JsonKind::object:
            return read(value, step.emplace<model::OperandMetric>());
        case JsonKind::text:
            return read(value, step.emplace<model::Operator>());
        default:
            return read(value, step.emplace<double>());
    }
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Relation>& of) {
    const auto& operands = of.operands;
    const auto is_not_empty = [](JsonValue value, const std::vector<std::string>& read_operands) {
        if (read_operands.empty()) value.fail("expected at least one operand");
    };
    const auto is_a_side = [&](JsonValue value, const model::PostfixExpression& expression) {
        if (is_complete(expression, operands.size())) return;
        value.fail("expected a number or a metric of an operand, or two of them and '*' or '/'");
    };
    const auto one_case_per_operand = [&](JsonValue value, const auto& instances) {
        auto next = instances.begin();
        value.elements([&](JsonValue instance) {
            if ((next++)->size() == operands.size()) return;
            instance.fail("expected {} case ids, one per operand", operands.size());
        });
    };
    PERFGATE_GROUPS(required(left_text, comparator, right_text), optional(place, reason, unit),
                    with(required, operands, is_not_empty), with(required, left, is_a_side),
                    with(required, right, is_a_side),
                    with(required, instances, lines, one_case_per_operand));
}
template void describe(Reader&, model::Relation&);
template void describe(Writer&, const model::Relation&);

}  // namespace perfgate::document
