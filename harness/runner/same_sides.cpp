// SPDX-License-Identifier: Apache-2.0
#include "runner/same_sides.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace fs = std::filesystem;

void require_different(std::string_view base_option, const std::string& base,
                       std::string_view head_option, const std::string& head) {
    std::error_code error;
    if (base.empty() || head.empty() || !fs::equivalent(base, head, error)) return;
    throw util::InputError(fmt::format(
        "{} {} and {} {} are the same: it would be compared with itself; to measure how much "
        "equal builds differ, copy it",
        base_option, util::printable(base), head_option, util::printable(head)));
}

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
