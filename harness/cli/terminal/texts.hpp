// SPDX-License-Identifier: Apache-2.0
// What commands print on the terminal; each text is in a .cpp file of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "activity/difference.hpp"
#include "activity/profile.hpp"
#include "model/plan.hpp"
#include "runner/baselines.hpp"
#include "runner/self_test.hpp"
#include "suite/suite.hpp"

namespace perfgate::cli {

// A profile of a program (profile_tables.cpp): what the GPU did, what the host did, and what to
// look at.

struct ProfileTables {
    std::size_t rows = 10;    ///< at most, in each table
    std::size_t width = 100;  ///< columns; names are cut in the middle
    /// Of a terminal: tables lose columns until they fit. 0: not limited.
    std::size_t terminal = 0;
};

/// Everything from outside in it is printable.
std::string profile_text(const activity::Profile& profile, const ProfileTables& options = {});
std::string difference_text(const activity::ProfileDifference& difference,
                            const ProfileTables& options = {});

// `list` prints what suites would measure.

/// `suites` are those of the plan, in its order.
std::string plan_text(const model::Plan& plan, const std::vector<suite::Suite>& suites);

// What a refresh has done (verbs/baseline_refresh.cpp).

std::string refreshes_text(const std::vector<runner::RefreshedSuite>& refreshed, bool add_board);
/// The exit code: 0, or 4 if not all cases were stored.
int refresh_code(const std::vector<runner::RefreshedSuite>& refreshed);

// `baseline refresh --dry-run` shows what it would store.

std::string stored_diff_text(const runner::StoredDiff& result);

// The result of `selftest`.

std::string self_test_text(const runner::SelfTestOutcome& outcome,
                           const runner::SelfTestRequest& request);

}  // namespace perfgate::cli
