// SPDX-License-Identifier: Apache-2.0
// `perfgate bisect`: which commit after GOOD, up to BAD, made a case of a suite slower.
#pragma once

#include <string>

#include "runner/ab.hpp"

namespace perfgate::bisect {

struct Request {
    std::string good, bad;  ///< revisions of the suite's repository
    /// One suite, the selected cases, how they are measured and reported. The sides are empty.
    runner::AbRequest ab;
};

/// Compares BAD with GOOD as `ab` does and follows the case that is slower by most. Each step
/// builds one commit and measures it and GOOD's build in turns until it is decided (decision.hpp);
/// a commit that stays undecided, or cannot be built or measured, is skipped. Ends with the report
/// of the culprit against the commit before it. bisect.json in the output folder has every
/// decision: a restart goes on from there.
///
/// Returns 1 if it found a commit, or several of which one it is; if BAD is not shown to be slower
/// than GOOD, the exit code of that comparison; 130 if interrupted. Throws util::InputError if a
/// revision does not exist or GOOD is no ancestor of BAD, and as runner::compare_builds does.
int find_culprit(const Request& request);

/// One step of `git bisect run`: builds the working tree and compares it with GOOD by the suite's
/// tolerances. 0: no selected case is slower, which is shown; 1: one is; 125: neither is shown, or
/// the working tree cannot be built or measured. Throws util::Error where that says nothing of the
/// working tree, as of a GOOD that does not exist.
int step(const Request& request);

}  // namespace perfgate::bisect
