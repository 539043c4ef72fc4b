// SPDX-License-Identifier: Apache-2.0
#include "gate/suite_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gate/overhead.hpp"
#include "gate/provenance_change.hpp"
#include "gate/sentence.hpp"
#include "model/selection.hpp"
#include "model/unknown_cases.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::CaseVerdict;
using model::MetricVerdict;
using model::SuiteVerdict;
using model::Verdict;

bool contains(const std::vector<std::string>& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

/// By severity; of inconclusive ones by what explains more.
std::pair<int, int> rank(const MetricVerdict& metric) {
    return {model::severity(metric.verdict), static_cast<int>(metric.doubt)};
}

/// The case's verdict and reason from its metrics'.
void finish_case(CaseVerdict& verdict, bool expected) {
    const MetricVerdict* worst = nullptr;
    for (const MetricVerdict& metric : verdict.metrics) {
        if (worst == nullptr || rank(metric) > rank(*worst)) worst = &metric;
    }
    if (worst == nullptr || model::severity(verdict.verdict) >= model::severity(worst->verdict)) {
        return;
    }
    verdict.verdict = worst->verdict;
    verdict.doubt = worst->doubt;
    if (worst->verdict == Verdict::no_baseline && !expected) {
        verdict.reason =
            fmt::format("no baseline for this case: accept its values with {}", refresh_remedy);
        return;
    }
    verdict.reason = worst->sentence;
    const auto as_bad = std::count_if(
        verdict.metrics.begin(), verdict.metrics.end(),
        [&](const MetricVerdict& metric) { return metric.verdict == worst->verdict; });
    if (as_bad > 1) verdict.reason += fmt::format(" (and {} more)", as_bad - 1);
}

/// Differences of provenance that all compared cases share are reported once, for the suite.
void hoist_notes(const model::Run& run, const model::SuiteResult& suite,
                 const model::Baseline& baseline, const model::ChangePolicy& policy,
                 SuiteVerdict& verdict) {
    const auto compared = [&](const CaseVerdict& candidate) {
        return !candidate.metrics.empty() && baseline.cases.contains(candidate.id);
    };
    const auto first = std::find_if(verdict.cases.begin(), verdict.cases.end(), compared);
    if (first == verdict.cases.end()) return;
    const auto index = static_cast<std::size_t>(first - verdict.cases.begin());
    for (const std::string& note :
         provenance_notes(run, suite.cases.at(index), baseline.cases.at(first->id), policy)) {
        const bool shared = std::all_of(
            verdict.cases.begin(), verdict.cases.end(), [&](const CaseVerdict& candidate) {
                return !compared(candidate) || contains(candidate.notes, note);
            });
        if (!shared) continue;
        verdict.notes.push_back(note);
        for (CaseVerdict& owner : verdict.cases) std::erase(owner.notes, note);
    }
}

/// Cases of the suite that this run need not have, because another shard has them.
std::set<std::string> of_other_shards(const model::Run& run, const std::string& suite) {
    if (!run.shard) return {};
    for (const model::ShardedSuite& whole : run.shard->whole) {
        if (whole.name == suite) return {whole.cases.begin(), whole.cases.end()};
    }
    return {};
}

/// Whether cases were selected before the run was divided.
bool is_partial(const model::Run& run, const model::SuiteResult& suite) {
    if (!run.shard) return suite.partial;
    return std::any_of(run.shard->whole.begin(), run.shard->whole.end(),
                       [&](const model::ShardedSuite& whole) {
                           return whole.name == suite.name && whole.partial;
                       });
}

/// A note about cases of the baseline that the run does not have, if it is not known whether it
/// should.
std::string not_judged_note(const std::vector<std::string>& ids, bool selection_known) {
    return fmt::format("{} of the baseline {} not in the run and not judged as missing: {} ({})",
                       util::counted(ids.size(), "case"), ids.size() == 1 ? "is" : "are",
                       selection_known
                           ? "the run was selected with --tag and the baseline stores no tags; "
                             "'perfgate baseline refresh' stores them"
                           : "the run document does not say how its cases were selected",
                       name_list(ids));
}

/// What stands for this case of a benchmark that failed before it reported any, or that the suite
/// skips; null: nothing does.
const model::CaseResult* unknown_case_of(const model::SuiteResult& suite, const std::string& id) {
    const auto found =
        std::find_if(suite.cases.begin(), suite.cases.end(), [&](const model::CaseResult& result) {
            return model::stands_for(result.spec, id) &&
                   (result.status == model::CaseStatus::error || result.skipped_by_suite);
        });
    return found == suite.cases.end() ? nullptr : &*found;
}

void add_missing(const model::Run& run, const model::SuiteResult& suite,
                 const model::Baseline& baseline, SuiteVerdict& verdict) {
    std::set<std::string> present = of_other_shards(run, suite.name);
    for (const CaseVerdict& case_verdict : verdict.cases) present.insert(case_verdict.id);
    const bool partial = is_partial(run, suite);
    std::vector<std::string> not_judged;
    for (const auto& [id, expected] : baseline.cases) {
        if (present.contains(id)) continue;
        std::optional<bool> covered = covers(run.selections, id, expected.tags);
        // Nothing was deselected: the suite no longer has the case, whatever its tags.
        if (!covered && !partial) covered = true;
        if (partial && run.selections.empty()) covered.reset();
        if (!covered) not_judged.push_back(id);
        if (!covered.value_or(false)) continue;
        CaseVerdict& missing = verdict.cases.emplace_back();
        missing.workload = id.substr(0, id.find('/'));
        missing.id = id;
        missing.place.file = suite.file;
        if (const model::CaseResult* unknown = unknown_case_of(suite, id)) {
            const bool failed = unknown->status == model::CaseStatus::error;
            missing.verdict = failed ? Verdict::error : Verdict::skipped;
            missing.reason = (failed ? "not measured, because its benchmark failed: " : "") +
                             util::printable(unknown->reason, 1000);
            continue;
        }
        missing.verdict = Verdict::missing;
        missing.reason = fmt::format(
            "in the baseline and not in the run: put the case back into the suite, or drop it "
            "from the baseline with {}",
            refresh_remedy);
    }
    if (!not_judged.empty()) {
        verdict.notes.push_back(not_judged_note(not_judged, !run.selections.empty()));
    }
}

}  // namespace

void finish_suite(const model::Run& run, const model::SuiteResult& suite,
                  const model::Baseline* baseline, const model::ChangePolicy& policy,
                  SuiteVerdict& verdict) {
    for (CaseVerdict& case_verdict : verdict.cases) {
        finish_case(case_verdict, baseline != nullptr && baseline->cases.contains(case_verdict.id));
    }
    if (baseline != nullptr) hoist_notes(run, suite, *baseline, policy, verdict);
    if (run.interrupted) {
        verdict.notes.emplace_back(
            "the run was interrupted: cases that it did not reach are not judged");
    } else if (baseline != nullptr) {
        add_missing(run, suite, *baseline, verdict);
    }
    for (std::string& note : overhead_notes(suite)) verdict.notes.push_back(std::move(note));
}

}  // namespace perfgate::gate
