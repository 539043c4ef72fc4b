// SPDX-License-Identifier: Apache-2.0
// The environment of a run in the data of the HTML report.
#pragma once

#include "document/json_writer.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::report {

/// Rows of a label and text: device, tools, clocks, machine, command. What is not known has no row.
void write_facts(document::JsonWriter& json, const model::VerdictDocument& document,
                 const model::Run& run);

/// The ceilings that were measured, in bytes and operations per second.
void write_ceilings(document::JsonWriter& json, const model::Ceilings& ceilings);

}  // namespace perfgate::report
