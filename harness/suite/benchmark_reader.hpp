// SPDX-License-Identifier: Apache-2.0
// Reads how the results of a benchmark are read and gated: the keys `format`, `rows`, `case`,
// `axes`, `values` and `tolerances` of a benchmark entry.
#pragma once

#include "model/plan.hpp"
#include "suite/fields.hpp"
#include "suite/label_reader.hpp"

namespace perfgate::suite {

/// `fields` of the entry, which begins at `at`. Fills in `command.benchmark`, and returns the label
/// of all of its cases, which are not known yet.
Label read_benchmark(const Fields& fields, model::Command& command, Position at,
                     Problems& problems);

}  // namespace perfgate::suite
