// SPDX-License-Identifier: Apache-2.0
#include "runner/same_sides.hpp"

#include <cstddef>
#include <set>

namespace perfgate::runner {

std::map<std::string, std::vector<std::string>> same_program_notes(const BothPlans& plans) {
    std::map<std::string, std::vector<std::string>> notes;
    for (std::size_t s = 0; s < plans.head.suites.size(); ++s) {
        const model::PlannedSuite& suite = plans.head.suites[s];
        std::set<std::size_t> asked;
        std::set<std::string> of_suite;
        for (std::size_t c = 0; c < suite.cases.size(); ++c) {
            const model::PlannedCase& planned = suite.cases[c];
            if (!planned.skip_reason.empty()) continue;
            // The cases of a group have the same files.
            if (planned.group && !asked.insert(*planned.group).second) continue;
            std::string note = planned.subject->same_as(*plans.base.suites[s].cases[c].subject);
            if (!note.empty()) of_suite.insert(std::move(note));
        }
        if (!of_suite.empty()) notes[suite.name] = {of_suite.begin(), of_suite.end()};
    }
    return notes;
}

}  // namespace perfgate::runner
