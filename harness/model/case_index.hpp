// SPDX-License-Identifier: Apache-2.0
// The position of a case in a Run or its Plan: both have the same cases in the same order.
#pragma once

#include <compare>
#include <cstddef>

#include "model/run.hpp"

namespace perfgate::model {

struct CaseIndex {
    std::size_t suite = 0;  ///< of Run::suites
    std::size_t index = 0;  ///< of SuiteResult::cases

    // clang-tidy takes the 0 that its result is compared with for a pointer.
    auto operator<=>(const CaseIndex&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Throws std::out_of_range if the run has no such case.
inline const CaseResult& case_at(const Run& run, const CaseIndex& at) {
    return run.suites.at(at.suite).cases.at(at.index);
}

}  // namespace perfgate::model
