// SPDX-License-Identifier: Apache-2.0
// Compiles the sources of a plan before it is measured, and those of suites when they are
// validated.
#pragma once

#include <string>
#include <vector>

#include "kinds/kind.hpp"

namespace perfgate::source {

/// Sets the code of the cases; it is in <out>/sources, where it replaces that of earlier runs. A
/// source that does not compile is a problem of its own cases.
bool compile_sources(const kinds::Machine& machine, const std::vector<model::PlannedCase*>& cases);

/// Compiles each source once for each kernel and architecture.
kinds::Findings check_sources(const kinds::Machine& machine,
                              const std::vector<kinds::SuiteCase>& cases,
                              const std::vector<std::string>& architectures);

/// The major number of a driver's "13.0": NVRTC must not be newer. 0 if it is none.
int major_of(const std::string& version);

}  // namespace perfgate::source
