// SPDX-License-Identifier: Apache-2.0
// Compares two states of what is expected and lists what the later one takes away from the gate.
// What makes the gate stricter, or adds to it, is no finding. Only what documents say can be told:
// of the code of plugins, harness and workflows this knows nothing (SECURITY.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"
#include "review/expectations.hpp"

namespace perfgate::review {

enum class Loosening {
    suite_removed,
    case_removed,
    tolerance_raised,
    gate_removed,      ///< a metric that had a tolerance has none
    relation_removed,  ///< or changed to one that is not known to demand as much
    measured_less,     ///< less precision or time for a case
    tag_removed,       ///< a run with --tag does not select the case any more
    policy_lowered,    ///< of a profile
    profile_removed,
    baseline_removed,   ///< of a suite, a case or a metric
    baseline_raised,    ///< what is expected is worse than before
    anchor_raised,      ///< what accepted changes add up against
    not_compared,       ///< unit or method changed: the gate compares nothing with it
    acknowledged,       ///< a regression is let pass, longer, or a larger one
    history_rewritten,  ///< a ledger lost entries
    unreadable,         ///< nothing can be told of the file
};

std::string_view to_text(Loosening kind);  ///< "tolerance raised"

struct Finding {
    Loosening kind = Loosening::unreadable;
    model::SourcePlace place;        ///< in the later state where it is there
    std::string subject;             ///< what it is about: a metric, a key of a profile, a relation
    std::string before, after;       ///< in words; empty where there is nothing to say
    std::vector<std::string> cases;  ///< ids, sorted; empty where it is not about cases

    bool operator==(const Finding&) const = default;
};

/// One finding for all cases of a place that have the same in common; by kind, then place.
std::vector<Finding> loosened(const Expectations& before, const Expectations& after);

/// What the comparison says nothing of, a line each.
std::vector<std::string> not_reviewed(const Expectations& before, const Expectations& after);

}  // namespace perfgate::review
