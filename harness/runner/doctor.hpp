// SPDX-License-Identifier: Apache-2.0
// Whether this machine can measure, as `doctor` reports it.
#pragma once

#include <string>
#include <vector>

#include "measure/backend.hpp"
#include "runner/devices.hpp"

namespace perfgate::runner {

/// Asks a worker. One that cannot start, or does not answer, is a problem of its own.
std::vector<measure::Diagnosis> diagnose(const BackendChoice& choice);

/// Whether one is a problem; warnings are not.
bool has_problem(const std::vector<measure::Diagnosis>& diagnoses);

/// Schema perfgate.doctor.
std::string write_json(const std::vector<measure::Diagnosis>& diagnoses);

}  // namespace perfgate::runner
