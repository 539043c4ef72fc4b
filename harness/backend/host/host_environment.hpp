// SPDX-License-Identifier: Apache-2.0
// Facts about the machine that every backend reports: operating system, CPU, cores.
#pragma once

#include "model/environment.hpp"

namespace perfgate::backend {

/// Fills os, kernel, cpu and cores; leaves the rest unchanged.
void describe_host(model::Environment& environment);

}  // namespace perfgate::backend
