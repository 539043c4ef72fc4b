// SPDX-License-Identifier: Apache-2.0
#include "baseline/prune.hpp"

#include <algorithm>
#include <utility>

#include "gate/renames.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

/// Whether nobody knows if the case is gone.
bool is_unknown(const std::string& id, const model::BaselineCase& expected,
                const KnownCases& cases) {
    return std::ranges::any_of(cases.reported, [&](const auto& reported) {
        return model::stands_for(reported.spec, id) &&
               (reported.known_at.empty() || reported.known_at < expected.provenance.recorded_at);
    });
}

void require_whole(const model::Run& run, const model::SuiteResult& suite) {
    if (!suite.partial && !run.interrupted && !run.shard) return;
    throw util::InputError(
        "suite {}: the run has only some of its cases ({}), so it does not show which are gone: "
        "measure the whole suite",
        util::printable(suite.name),
        run.interrupted ? "interrupted"
        : run.shard     ? "a shard"
                        : "selected with --filter or --tag");
}

}  // namespace

void add_reported(const model::Run& run, const std::string& suite_name, KnownCases& cases) {
    for (const model::SuiteResult& suite : run.suites) {
        if (suite.name != suite_name) continue;
        require_whole(run, suite);
        for (KnownCases::Reported& reported : cases.reported) {
            std::set<std::string> ids;
            bool failed = false;
            for (const model::CaseResult& result : suite.cases) {
                std::string id = model::case_id(result.spec);
                if (!model::stands_for(reported.spec, id)) continue;
                failed = failed || model::stands_for_cases(result.spec);
                ids.insert(std::move(id));
                if (!result.was.empty()) ids.insert(result.was);
            }
            if (failed || ids.empty()) continue;
            cases.ids.merge(ids);
            reported.known_at = std::max(reported.known_at, run.started_at);
        }
    }
}

Pruned prune(model::Baseline baseline, const KnownCases& cases, const Acceptance& acceptance) {
    Pruned pruned;
    for (const auto& [id, expected] : baseline.cases) {
        if (cases.ids.contains(gate::without_former_params(id, expected))) continue;
        if (is_unknown(id, expected, cases)) {
            ++pruned.unknown;
            continue;
        }
        pruned.entries.push_back(ledger_entry(model::LedgerAction::prune, id, acceptance));
    }
    for (const model::LedgerEntry& entry : pruned.entries) baseline.cases.erase(entry.id);
    pruned.baseline = std::move(baseline);
    return pruned;
}

}  // namespace perfgate::baseline
