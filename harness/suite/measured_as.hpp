// SPDX-License-Identifier: Apache-2.0
// What a case is measured as (model/measured_as.hpp), from its suite.
#pragma once

#include <string>

#include "model/measured_as.hpp"
#include "model/plan.hpp"

namespace perfgate::suite {

/// A part of a program's activity, or a result of a benchmark. Folders are as in the suite.
model::MeasuredAs measured_as(const model::Command& command, const model::Piece& piece);

/// A source's kernel: what it works on. File, kernel, launch and compiling are code, whose changes
/// are judged.
model::MeasuredAs measured_as(const model::SourceKernel& kernel);

}  // namespace perfgate::suite
