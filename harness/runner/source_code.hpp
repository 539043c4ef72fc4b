// SPDX-License-Identifier: Apache-2.0
// Compiles the sources of a plan before it is measured, and those of suites when they are
// validated.
#pragma once

#include <string>
#include <vector>

#include "model/plan.hpp"
#include "runner/choice.hpp"
#include "runner/devices.hpp"
#include "suite/suite.hpp"

namespace perfgate::runner {

/// Sets the code of every source's case that will be measured, for the device of `backend`; the
/// machine code is in <out>/sources, where it replaces that of earlier runs. A source that does not
/// compile is a problem of its own cases. Throws measure::Interrupted.
void compile_sources(const MeasuringChoice& choice, const OpenedBackend& backend,
                     model::Plan& plan);

/// The major number of a driver's "13.0": NVRTC must not be newer. 0 if it is none.
int major_of(const std::string& version);

/// What validating found out about sources.
struct SourceFindings {
    std::vector<std::string> done;      ///< "reduce.cu: block_reduce<256> compiles for sm_90 (…)"
    std::vector<std::string> warnings;  ///< what was not compiled, and why
    std::vector<std::string> problems;  ///< with the suite's place and the compiler's messages
};

/// Compiles each source of the suites for `architectures` ("90", "90a"), or if empty for those that
/// its entry names. Executes nothing of it, and needs no GPU.
SourceFindings validate_sources(const std::vector<suite::Suite>& suites,
                                const std::vector<std::string>& architectures);

}  // namespace perfgate::runner
