// SPDX-License-Identifier: Apache-2.0
// Whether this machine can measure, as `doctor` reports it.
#pragma once

#include <string>
#include <vector>

#include "measure/backend.hpp"
#include "runner/devices.hpp"

namespace perfgate::runner {

/// Asks a worker, and looks for NVRTC. A worker that cannot start, or does not answer, is a problem
/// of its own.
std::vector<measure::Diagnosis> diagnose(const BackendChoice& choice);

/// Which NVRTC compiles the sources that suites name, of at most this major version (0: any).
measure::Diagnosis diagnose_nvrtc(int newest_major);

/// Whether one is a problem; warnings are not.
bool has_problem(const std::vector<measure::Diagnosis>& diagnoses);

/// Schema perfgate.doctor.
std::string write_json(const std::vector<measure::Diagnosis>& diagnoses);

}  // namespace perfgate::runner
