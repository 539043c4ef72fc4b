// SPDX-License-Identifier: Apache-2.0
// Suites that have a baseline of the run's device and were not given to the run: with the policy
// `complete`, their cases are missing as a case is that its suite no longer has.
#pragma once

#include <string>
#include <vector>

#include "gate/baseline_set.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// Whether the run is to have every suite: it measured to its end, and nothing was selected. A
/// shard is not; what `merge` makes of all shards is.
bool is_of_all_suites(const model::Run& run);

/// Whether the run, or another shard of it, was given the suite.
bool has_suite(const model::Run& run, const std::string& suite);

/// One verdict for each baseline of a suite that the run was not given.
std::vector<model::SuiteVerdict> missing_suites(const model::Run& run,
                                                const BaselineSet& baselines);

/// Names suites that could have been judged and were not; empty: there are none, or they are
/// judged, or only a part was to be measured and nobody asks for all.
std::string other_suites_note(const model::Run& run, const std::vector<std::string>& suites,
                              const model::Policy& policy);

}  // namespace perfgate::gate
