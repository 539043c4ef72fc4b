// SPDX-License-Identifier: Apache-2.0
// The JSON of the values that more than one document has: device and environment, metric series,
// places, cases. Of the model room and of the worker protocol.
#pragma once

#include "model/environment.hpp"
#include "model/json_reader.hpp"
#include "model/json_writer.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"

namespace perfgate::model {

void write(JsonWriter& json, const BoardState& state);  ///< one line
void read(JsonValue value, BoardState& state);

void write(JsonWriter& json, const Device& device);  ///< one line
void read(JsonValue value, Device& device);

void write(JsonWriter& json, const Ceilings& ceilings);  ///< one line
void read(JsonValue value, Ceilings& ceilings);

void write(JsonWriter& json, const Environment& environment);
void read(JsonValue value, Environment& environment);

void write(JsonWriter& json, const MetricSeries& series);  ///< one line
void read(JsonValue value, MetricSeries& series);

void write(JsonWriter& json, const SourcePlace& place);
void read(JsonValue value, SourcePlace& place);

void write(JsonWriter& json, const Relation& relation);
/// Throws where the steps are no expression.
void read(JsonValue value, Relation& relation);

void write(JsonWriter& json, const Kernel& kernel);  ///< one line
void read(JsonValue value, Kernel& kernel);

void write(JsonWriter& json, const CaseResult& result);
void read(JsonValue value, CaseResult& result);

/// `"metrics": {…}`, each metric on a line of its own.
void write_metrics(JsonWriter& json, const std::map<std::string, MetricSeries>& metrics);

}  // namespace perfgate::model
