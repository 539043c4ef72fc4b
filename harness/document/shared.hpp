// SPDX-License-Identifier: Apache-2.0
// The JSON of the values that more than one document has: device and environment, metric series,
// places, cases. Of the model room and of the worker protocol.
#pragma once

#include "model/environment.hpp"
#include "document/json_reader.hpp"
#include "document/json_writer.hpp"
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

/// What each form of a series begins with: unit, value, method.
void write_value(JsonWriter& json, const MetricSeries& series);
void read_value(const JsonValue& object, MetricSeries& series);

/// All batches, in one line.
void write(JsonWriter& json, const MetricSeries& series);
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

using Metrics = std::map<std::string, MetricSeries>;

/// A case's metrics: `"metrics": {…}`, each on a line of its own. Of most there is one value alone,
/// from the first process: those are written without batches, and `"once": {…}` before says of
/// which board and seed they are. `write_series` writes the others.
void write_metrics(JsonWriter& json, const Metrics& metrics,
                   void (*write_series)(JsonWriter&, const MetricSeries&) = write);
/// Reads both from the object of a case; `read_series` reads what has more than a value.
void read_metrics(JsonValue object, Metrics& metrics,
                  void (*read_series)(JsonValue, MetricSeries&) = read);

}  // namespace perfgate::model
