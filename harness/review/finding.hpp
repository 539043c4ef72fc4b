// SPDX-License-Identifier: Apache-2.0
// One way in which a change weakens the gate.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/case.hpp"
#include "review/expectations.hpp"

namespace perfgate::review {

enum class Loosening {
    suite_removed,
    suite_repeated,  ///< another one has its name
    case_removed,
    case_skipped,  ///< an override skips it
    tolerance_raised,
    severity_lowered,  ///< a gate that failed only warns
    gate_removed,      ///< a metric that had a tolerance has none
    relation_removed,  ///< or changed to one that is not known to be as strict
    measured_less,     ///< less precision or time for a case
    check_removed,     ///< a result is verified less
    case_changed,      ///< what a case runs, measures or checks
    tag_removed,       ///< a run with --tag does not select the case any more
    policy_lowered,    ///< of a profile
    profile_removed,
    baseline_removed,    ///< of a suite, a case or a metric
    baseline_raised,     ///< an expected value is worse than before
    baseline_weakened,   ///< a planted regression fails by the old one and not by the new one
    baseline_edited,     ///< clock, board, code or another circumstance of times that are the same
    baseline_refreshed,  ///< measured anew: what changed of it and is not listed case by case
    anchor_raised,       ///< the value that accepted changes are accumulated against
    not_compared,        ///< unit or method changed: the gate cannot compare it
    acknowledged,        ///< a regression is acknowledged, for longer, or a larger one
    history_rewritten,   ///< a ledger lost entries
    unreadable,          ///< the file cannot be read
};

std::string_view to_text(Loosening kind);  ///< "tolerance raised"

struct Finding {
    Loosening kind = Loosening::unreadable;
    model::SourcePlace place;        ///< in the later state, if it is there
    std::string subject;             ///< what it is about: a metric, a key of a profile, a relation
    std::string before, after;       ///< in words; may be empty
    std::vector<std::string> cases;  ///< sorted ids; empty if it is not about cases

    bool operator==(const Finding&) const = default;
};

// Collects findings: cases with the same change share one finding.

class Findings {
  public:
    /// `case_id` empty: it is about no case.
    void add(Loosening kind, const model::SourcePlace& place, const std::string& subject,
             const std::string& before, const std::string& after, const std::string& case_id = {}) {
        std::set<std::string>& cases =
            found_[{kind, place.file, place.line, subject, before, after}];
        if (!case_id.empty()) cases.insert(case_id);
    }

    std::vector<Finding> take() && {
        std::vector<Finding> findings;
        for (const auto& [key, cases] : found_) {
            const auto& [kind, file, line, subject, before, after] = key;
            findings.push_back(
                {kind, {file, line}, subject, before, after, {cases.begin(), cases.end()}});
        }
        return findings;
    }

  private:
    using Key =
        std::tuple<Loosening, std::string, std::int64_t, std::string, std::string, std::string>;
    std::map<Key, std::set<std::string>> found_;
};

void compare_suites(const Expectations& before, const Expectations& after, Findings& findings);
void compare_baselines(const Expectations& before, const Expectations& after, Findings& findings);

}  // namespace perfgate::review
