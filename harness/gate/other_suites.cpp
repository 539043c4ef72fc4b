// SPDX-License-Identifier: Apache-2.0
#include "gate/other_suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gate/sentence.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

bool is_of_all_suites(const model::Run& run) {
    return !run.interrupted && !run.verify_only && !run.shard && run.selections.empty() &&
           std::none_of(run.suites.begin(), run.suites.end(),
                        [](const model::SuiteResult& suite) { return suite.partial; });
}

bool has_suite(const model::Run& run, const std::string& suite) {
    const auto is_named = [&](const auto& each) { return each.name == suite; };
    return std::any_of(run.suites.begin(), run.suites.end(), is_named) ||
           (run.shard && std::any_of(run.shard->whole.begin(), run.shard->whole.end(), is_named));
}

std::vector<model::SuiteVerdict> missing_suites(const model::Run& run,
                                                const BaselineSet& baselines) {
    std::vector<model::SuiteVerdict> missing;
    if (!is_of_all_suites(run)) return missing;
    for (const auto& [name, stored] : baselines) {
        if (has_suite(run, name)) continue;
        model::SuiteVerdict& verdict = missing.emplace_back();
        verdict.name = name;
        verdict.baseline_file = stored.file;
        for (const auto& [id, expected] : stored.baseline.cases) {
            model::CaseVerdict& missing_case = verdict.cases.emplace_back();
            missing_case.workload = id.substr(0, id.find('/'));
            missing_case.id = id;
            missing_case.verdict = model::Verdict::missing;
            missing_case.reason = fmt::format(
                "in the baseline of the suite '{}', which was not given: measure it too, or drop "
                "its baseline with 'perfgate baseline prune --all-suites'",
                util::printable(name));
        }
    }
    return missing;
}

std::string other_suites_note(const model::Run& run, const std::vector<std::string>& suites,
                              const model::Policy& policy) {
    const bool all = is_of_all_suites(run);
    if (suites.empty() || policy.complete == all) return {};
    return fmt::format(
        "{} with a baseline of this device {} not given and not judged as missing: "
        "{} ({})",
        util::counted(suites.size(), "suite"), suites.size() == 1 ? "was" : "were",
        name_list(suites),
        policy.complete ? "only a part of the cases was to be measured"
                        : "with 'complete: true' in the config, run and compare make them missing");
}

}  // namespace perfgate::gate
