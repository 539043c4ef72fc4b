// SPDX-License-Identifier: Apache-2.0
// Descriptions of the values that more than one document or message has: device and environment,
// metric series, kernels, relations, a case's result.
#pragma once

#include <map>
#include <string>

#include "document/archive.hpp"
#include "model/environment.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"

namespace perfgate::document {

template <>
inline constexpr JsonLayout layout_of<model::Environment> = JsonLayout::lines;
template <>
inline constexpr JsonLayout layout_of<model::Relation> = JsonLayout::lines;
template <>
inline constexpr JsonLayout layout_of<model::CaseResult> = JsonLayout::lines;

// Those that are only declared are instantiated for both archives where they are defined.
template <class Archive>
void describe(Archive& archive, Described<Archive, model::BoardState>& state);
template <class Archive>
void describe(Archive& archive, Described<Archive, model::Device>& device);
template <class Archive>
void describe(Archive& archive, Described<Archive, model::Ceilings>& ceilings) {
    archive.optional("copy_bytes_per_s", ceilings.copy_bytes_per_s, not_negative);
    archive.optional("matrix_flops_per_s", ceilings.matrix_flops_per_s, not_negative);
    archive.optional("problem", ceilings.problem);
}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::GateRule>& rule) {
    archive.required("metric", rule.metric);
    archive.required("worse", rule.tolerance.worse, not_negative);
    archive.optional("better", rule.tolerance.better, not_negative);
    archive.optional("abs", rule.tolerance.abs, not_negative);
    archive.optional("severity", rule.tolerance.severity);
    archive.optional("tail", rule.tolerance.tail, not_negative);
    archive.optional("cross_board", rule.cross_board, not_negative);
}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::Work>& work) {
    archive.always("flops", work.flops, not_negative);
    archive.always("bytes", work.bytes, not_negative);
    archive.optional("arithmetic", work.arithmetic);
}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::Environment>& environment);
template <class Archive>
void describe(Archive& archive, Described<Archive, model::MetricSeries>& series);
template <class Archive>
void describe(Archive& archive, Described<Archive, model::SourcePlace>& place) {
    archive.required("file", place.file);
    archive.required("line", place.line);
}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::Kernel>& kernel) {
    archive.required("name", kernel.name);
    archive.always("grid", kernel.grid);
    archive.always("block", kernel.block);
    archive.always("registers", kernel.registers);
    archive.always("static_smem", kernel.static_smem);
    archive.always("dynamic_smem", kernel.dynamic_smem);
    archive.always("local_bytes", kernel.local_bytes);
    archive.optional("theoretical_occupancy", kernel.theoretical_occupancy, not_negative);
    archive.optional("duration_ns", kernel.duration_ns, not_negative);
    archive.optional("metrics", kernel.metrics);
    archive.optional("cluster", kernel.cluster);
    archive.optional("carveout", kernel.carveout);
    archive.optional("cooperative", kernel.cooperative);
    archive.optional("code", kernel.code);
    archive.optional("arguments", kernel.arguments);
    archive.optional("argument_words", kernel.argument_words);
    archive.optional("launches", kernel.launches, not_negative);
    archive.optional("time_ns", kernel.time_ns, not_negative);
    archive.optional("source", kernel.source);
    archive.optional("waves", kernel.waves);
    archive.optional("code_bytes", kernel.code_bytes);
    archive.optional("stack_bytes", kernel.stack_bytes);
}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::MemoryOperation>& operation);
template <class Archive>
void describe(Archive& archive, Described<Archive, model::Relation>& relation);
template <class Archive>
void describe(Archive& archive, Described<Archive, model::CaseResult>& result);

void write(JsonWriter& json, const model::ParamValue& value);
void read(JsonValue value, model::ParamValue& param);

/// As its text, in every version.
inline void write(JsonWriter& json, const model::Method& method) {
    json.value(to_text(method));
}
inline void read(JsonValue value, model::Method& method) {
    method = model::from_text(value.text());
}

/// What each form of a series begins with: unit, value, method.
template <class Archive>
void describe_value(Archive& archive, Described<Archive, model::MetricSeries>& series) {
    archive.required("unit", series.unit);
    archive.required("value", series.value);
    archive.required("method", series.method);
}

/// All batches of a series.
extern const Form<model::MetricSeries> all_batches;

/// Kernels, each on a line; from version 3, consecutive ones that are equal are one with a "count".
extern const Form<std::vector<model::Kernel>> run_lengths;

using Metrics = std::map<std::string, model::MetricSeries>;

/// A case's metrics: `"metrics": {…}`, each on a line of its own. Of most there is one value alone,
/// from the first process: those are written without batches, and `"once": {…}` before says of
/// which board and seed they are. `form` is that of the others.
void describe_metrics(Writer& writer, const Metrics& metrics,
                      const Form<model::MetricSeries>& form = all_batches);
void describe_metrics(Reader& reader, Metrics& metrics,
                      const Form<model::MetricSeries>& form = all_batches);

}  // namespace perfgate::document
