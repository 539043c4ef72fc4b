// SPDX-License-Identifier: Apache-2.0
#include "baseline/improvements.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace perfgate::baseline {

namespace {

using model::LedgerAction;
using model::LedgerEntry;
using model::MetricVerdict;
using model::Verdict;

bool is_improved(const MetricVerdict& metric) {
    return metric.verdict == Verdict::improved ||
           (metric.verdict == Verdict::inconclusive && metric.doubt == model::Doubt::unaccepted);
}

/// An undecided metric stays as it is known, improved or not.
bool is_undecided(const MetricVerdict& metric) {
    return metric.verdict != Verdict::pass && metric.verdict != Verdict::regressed &&
           metric.verdict != Verdict::warned && metric.verdict != Verdict::acknowledged;
}

}  // namespace

FirstSeen first_seen(const model::Ledger& ledger) {
    std::vector<const LedgerEntry*> entries;
    entries.reserve(ledger.entries.size());
    for (const LedgerEntry& entry : ledger.entries) entries.push_back(&entry);
    std::ranges::stable_sort(entries, {}, &LedgerEntry::at);
    FirstSeen seen;
    for (const LedgerEntry* entry : entries) {
        if (entry->action != LedgerAction::improved) {
            if (entry->action == LedgerAction::acknowledge) continue;
            seen.erase(entry->id);
            for (const auto& [id, digest] : entry->digests) seen.erase(id);
            for (const std::string& id : entry->removed) seen.erase(id);
            continue;
        }
        const std::map<std::string, std::string> before = std::move(seen[entry->id]);
        std::map<std::string, std::string>& now = seen[entry->id];
        now.clear();
        for (const auto& [metric, change] : entry->changes) {
            const auto known = before.find(metric);
            now[metric] = known == before.end() ? entry->at : known->second;
        }
        if (now.empty()) seen.erase(entry->id);
    }
    return seen;
}

std::vector<LedgerEntry> improvement_entries(const model::SuiteVerdict& verdict,
                                             const FirstSeen& known, const model::Run& run) {
    std::vector<LedgerEntry> entries;
    for (const model::CaseVerdict& of_case : verdict.cases) {
        const auto found = known.find(of_case.id);
        const std::map<std::string, std::string> none;
        const std::map<std::string, std::string>& before =
            found == known.end() ? none : found->second;
        LedgerEntry entry;
        bool changed = false;
        for (const MetricVerdict& metric : of_case.metrics) {
            const bool was = before.contains(metric.metric);
            const bool is = is_improved(metric) || (was && is_undecided(metric));
            changed = changed || was != is;
            if (!is) continue;
            entry.changes[metric.metric] = {metric.unit, metric.baseline,
                                            metric.measured.value_or(0), std::nullopt};
        }
        if (!changed) continue;
        entry.id = of_case.id;
        entry.action = LedgerAction::improved;
        entry.at = entry.recorded_at = run.started_at;
        entry.git_revision = run.git_revision;
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace perfgate::baseline
