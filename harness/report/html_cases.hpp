// SPDX-License-Identifier: Apache-2.0
// The cases in the data of the HTML report. Repeated texts (tolerances, methods, kernel names,
// tags) are written once, and the values of a case are one flat list, so that browsers can open a
// page of 10,000 cases.
#pragma once

#include <vector>

#include "document/json_writer.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "report/joined.hpp"

namespace perfgate::report {

/// The fields `cases`, `texts` and `metrics`, to which the cases refer by number.
void write_html_cases(document::JsonWriter& json, const std::vector<JoinedSuite>& suites,
                      const model::Policy& policy, const model::Run& run);

}  // namespace perfgate::report
