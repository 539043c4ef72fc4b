// SPDX-License-Identifier: Apache-2.0
// Improvements that nobody accepts. Their baseline does not see what gets worse again, up to the
// old value: the slack. With the policy they fail after days, counted from the run that first noted
// them (StoredBaseline::improved) to the run's start, so that a stored run is always judged alike.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gate/rule.hpp"
#include "gate/settle.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

class Unaccepted {
  public:
    Unaccepted(const model::Policy& policy, const std::string& started_at);

    /// Makes an improvement inconclusive that is older than the policy allows, if the policy fails
    /// it. `first_seen` is a time, empty if no run noted it; `warns`: its gate fails nothing.
    void age(std::size_t suite, const std::string& first_seen, const std::string& id,
             const Comparison& comparison, bool warns, Decision& decision);

    /// One note for each suite with improvements that were noted, or are noted now.
    void note(std::vector<model::SuiteVerdict>& verdicts) const;

  private:
    struct OfSuite {
        std::set<std::string> cases, too_old;
        bool fails = false;  ///< one that is too old has a gate that fails
        std::string oldest;  ///< day; empty: all are new
        double slack = -1;   ///< the largest, as a fraction of the measured value
        std::string widest;  ///< id of its case
    };

    const model::Policy& policy_;
    std::string day_;
    std::map<std::size_t, OfSuite> suites_;
};

}  // namespace perfgate::gate
