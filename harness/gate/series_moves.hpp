// SPDX-License-Identifier: Apache-2.0
// Series that were not measured: a measured one moved, to try what the gate says of it.
#pragma once

#include <string>

#include "model/run.hpp"

namespace perfgate::gate {

/// The series moved by a part of its estimate: a factor where that is positive. What is not
/// negative does not become so, and shares end at 100 %.
model::MetricSeries moved(model::MetricSeries series, double estimate, double amount,
                          const std::string& metric);

}  // namespace perfgate::gate
