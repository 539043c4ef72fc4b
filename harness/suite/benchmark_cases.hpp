// SPDX-License-Identifier: Apache-2.0
// The cases of a suite's benchmarks, which are known once these have run.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kinds/benchmark/formats/results.hpp"
#include "suite/suite.hpp"

namespace perfgate::suite {

/// What a run of a benchmark reported.
struct ReportedCases {
    std::vector<benchmark::Result> results;  ///< each once
    std::string problem;                     ///< why there are none; empty: there are
    std::string log;
};

/// Replaces what stands for the cases of a command by these, and resolves the suite's open
/// relations. A benchmark with a problem keeps its one case, which fails with it when it is
/// measured, as one that is not in `by_command` does; relations with it cannot be judged. Throws
/// util::InputError for an override that matches no case, for a label of `measure` with the name
/// of a result, for a relation with a case that no benchmark reports, and if there are too many
/// cases.
void set_reported_cases(const std::map<std::size_t, ReportedCases>& by_command, Suite& suite);

}  // namespace perfgate::suite
