// SPDX-License-Identifier: Apache-2.0
// What `validate` says of Python kernels beside what the reader of suites does.
#pragma once

#include <string>
#include <vector>

#include "kinds/kind.hpp"

namespace perfgate::python {

/// Names the workloads whose cases are known when their file has run.
kinds::Findings check_kernels(const kinds::Machine& machine,
                              const std::vector<kinds::SuiteCase>& cases,
                              const std::vector<std::string>& architectures);

}  // namespace perfgate::python
