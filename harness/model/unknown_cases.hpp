// SPDX-License-Identifier: Apache-2.0
// A benchmark's cases are not known before it has run: one case of the variant unknown_cases stands
// for them.
#pragma once

#include <string_view>

#include "model/case.hpp"

namespace perfgate::model {

/// Whether `spec` stands for the case with this id, among others: for the cases of its benchmark
/// with the parameters of one combination of the matrix.
inline bool stands_for(const CaseSpec& spec, std::string_view id) {
    return spec.variant == unknown_cases && id.size() > spec.workload.size() &&
           id.starts_with(spec.workload) && id[spec.workload.size()] == '/' &&
           has_params(id, spec.params);
}

}  // namespace perfgate::model
