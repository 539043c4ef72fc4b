// SPDX-License-Identifier: Apache-2.0
// What is wrong with a suite's cases as a whole: repeated cases, overrides that match none, cases
// that no metric gates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "suite/problems.hpp"
#include "suite/suite.hpp"

namespace perfgate::suite {

/// Cases are equal if they are equal with the workload's defaults filled in.
void check_duplicates(const Suite& suite, const model::WorkloadCatalogue& workloads,
                      Problems& problems);

/// Gives each case the overrides that match it. `all_known` false: an override that matches none
/// may be for cases that are not known.
void apply_overrides(Suite& suite, bool all_known, Work& work, Problems& problems);

/// Resolves every case for each device that the suite names. `entry_is_good`, by entry: cases of
/// entries with problems are left out.
void check_settings(const Suite& suite, const std::vector<bool>& entry_is_good, Work& work,
                    Problems& problems);

/// No tolerance may be so wide that nothing fails. Not for a review, which reads what was.
void check_tolerances(const Suite& suite, Problems& problems);

/// Whether the override may be for cases that are not known yet.
bool may_match_unknown(const Suite& suite, const Override& over);

std::string matches_none_message(const Override& over, std::string_view whose);

/// The message for a case to which no gated metric applies; `device` empty: on any.
std::string no_gate_message(const SuiteCase& suite_case, const std::string& device);

/// The message for a program's case that is said to be deterministic.
std::string unknown_outputs_message(const SuiteCase& suite_case);

}  // namespace perfgate::suite
