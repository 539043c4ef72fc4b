// SPDX-License-Identifier: Apache-2.0
// The cases that a benchmark may report, which its suite does not list, as far as the suite's
// overrides tell them apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/suite.hpp"

namespace perfgate::review {

/// A case with the overrides of each state that match it. Its id is the pattern of an override, or
/// "A and B" for a case that matches both.
struct PossibleCase {
    std::string id;
    bool of_two = false;  ///< patterns
    suite::SuiteCase before, after;
    std::int64_t line = 0;  ///< of the override in the later state, or of the benchmark
};

/// Cases that a benchmark in both states may report: one for each pattern, then one for each two
/// patterns that have a case in common, because the last override that states a tolerance decides.
/// Nothing if there are too many.
std::optional<std::vector<PossibleCase>> possible_cases(const suite::Suite& before,
                                                        const suite::SuiteCase& old_case,
                                                        const suite::Suite& after,
                                                        const suite::SuiteCase& new_case);

}  // namespace perfgate::review
