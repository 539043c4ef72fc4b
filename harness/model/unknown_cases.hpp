// SPDX-License-Identifier: Apache-2.0
// Cases that are not known before a program of theirs has run: one case stands for them, in suites
// and, where the program failed, in documents.
#pragma once

#include <string_view>

#include "model/case.hpp"

namespace perfgate::model {

inline bool stands_for_cases(const CaseSpec& spec) {
    return spec.variant == unknown_cases;
}

/// Whether `spec` stands for the case with this id, among others: for the cases of its workload
/// with the parameters of one combination of the matrix.
inline bool stands_for(const CaseSpec& spec, std::string_view id) {
    return stands_for_cases(spec) && id.size() > spec.workload.size() &&
           id.starts_with(spec.workload) && id[spec.workload.size()] == '/' &&
           has_params(id, spec.params);
}

}  // namespace perfgate::model
