// SPDX-License-Identifier: Apache-2.0
// Times on the host that others' work lengthened (util/other_work.hpp): judged a second time,
// without what that explains.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gate/rule.hpp"

namespace perfgate::gate {

struct Undisturbed {
    /// The rule judged what the times would have been.
    Judgement judgement;
    /// Shares, means over the processes of the baseline and of the run.
    double waited_before = 0, waited = 0, busy_before = 0, busy = 0;
};

/// One of each comparison: absent for what was measured in pairs, or has a process of which nothing
/// is known (as whatever is no time on the host), and where others made no difference.
std::vector<std::optional<Undisturbed>> judge_undisturbed(std::span<const Comparison> comparisons,
                                                          const Rule& rule);

/// "other work ran: the processes waited 23 % of their time for a processor (1 % in the …"
std::string other_work_words(const Undisturbed& undisturbed);

}  // namespace perfgate::gate
