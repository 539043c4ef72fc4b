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
PERFGATE_FIELDS(model::Ceilings, with(optional, copy_bytes_per_s, not_negative),
                with(optional, matrix_flops_per_s, not_negative),
                with(optional, link_bytes_per_s, not_negative), optional(problem))
PERFGATE_FIELDS(model::GateRule, required(metric),
                named(required, "worse", tolerance.worse, not_negative),
                named(optional, "better", tolerance.better, not_negative),
                named(optional, "abs", tolerance.abs, not_negative),
                named(optional, "severity", tolerance.severity),
                named(optional, "tail", tolerance.tail, not_negative),
                with(optional, cross_board, not_negative))
PERFGATE_FIELDS(model::Work, with(always, flops, not_negative), with(always, bytes, not_negative),
                optional(arithmetic))
template <class Archive>
void describe(Archive& archive, Described<Archive, model::Environment>& environment);
template <class Archive>
void describe(Archive& archive, Described<Archive, model::MetricSeries>& series);
PERFGATE_FIELDS(model::SourcePlace, required(file, line))
PERFGATE_FIELDS(model::Kernel, required(name),
                always(grid, block, registers, static_smem, dynamic_smem, local_bytes),
                with(optional, theoretical_occupancy, not_negative),
                with(optional, duration_ns, not_negative),
                optional(metrics, cluster, carveout, cooperative, code, arguments, argument_words),
                with(optional, launches, not_negative), with(optional, time_ns, not_negative),
                optional(source, waves, code_bytes, stack_bytes))
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
