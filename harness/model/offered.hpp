// SPDX-License-Identifier: Apache-2.0
// Whether a worker that offers these workloads has a case.
#pragma once

#include <string>

#include "model/case.hpp"
#include "model/catalogue.hpp"

namespace perfgate::model {

/// "it has no workload 'gemm'"; empty: it is offered, whatever the values of its parameters.
std::string why_not_offered(const CaseSpec& spec, const WorkloadCatalogue& offered);

}  // namespace perfgate::model
