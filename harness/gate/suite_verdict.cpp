// SPDX-License-Identifier: Apache-2.0
#include "gate/suite_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gate/invalid.hpp"
#include "gate/provenance_change.hpp"
#include "gate/sentence.hpp"
#include "model/case.hpp"
#include "model/selection.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::CaseStatus;
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

/// Why the base run that takes the place of a baseline has nothing to compare with, if that decides
/// about the case. Where the base failed to measure it, the case is an error: whether the head is
/// slower is not known. A head that is not measured further, because the base failed, is invalid
/// for that reason.
void name_what_base_lacks(const StoredBaseline& stored, CaseVerdict& verdict) {
    const auto found = stored.base.find(verdict.id);
    if (found == stored.base.end() || found->second.status == CaseStatus::measured) return;
    const BaseCase& base = found->second;
    const bool failed = base.status == CaseStatus::error || base.status == CaseStatus::invalid;
    if (verdict.verdict != Verdict::no_baseline &&
        !(failed && verdict.verdict == Verdict::invalid)) {
        return;
    }
    if (failed) verdict.verdict = Verdict::error;
    verdict.reason = fmt::format("nothing to compare with: in the base this case is {}: {}",
                                 model::to_text(base.status), util::printable(base.reason, 1000));
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

/// Differences of provenance that all compared cases share are reported once, for the suite; if an
/// earlier suite has said the same, there.
void hoist_notes(const model::Run& run, const model::SuiteResult& suite,
                 const model::Baseline& baseline, const model::ChangePolicy& policy,
                 std::set<std::string>& said, SuiteVerdict& verdict) {
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
        if (said.insert(note).second) verdict.notes.push_back(note);
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
                   (result.status == CaseStatus::error || result.skipped_by_suite);
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
        const std::optional<bool> covered = covers(run.selections, id, expected.tags);
        // If nothing was deselected, the suite no longer has the case, whatever its tags.
        if (partial && (!covered || run.selections.empty())) {
            not_judged.push_back(id);
            continue;
        }
        if (covered && !*covered) continue;
        CaseVerdict& missing = verdict.cases.emplace_back();
        missing.workload = id.substr(0, id.find('/'));
        missing.id = id;
        missing.place.file = suite.file;
        if (const model::CaseResult* unknown = unknown_case_of(suite, id)) {
            const bool failed = unknown->status == CaseStatus::error;
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

/// A base run's cases that could not be read, where the run has them not either: nothing was
/// compared.
void add_unreadable(const StoredBaseline& stored, SuiteVerdict& verdict) {
    std::set<std::string> present;
    for (const CaseVerdict& case_verdict : verdict.cases) present.insert(case_verdict.id);
    for (const auto& [id, base] : stored.base) {
        if (base.status != CaseStatus::error || present.contains(id)) continue;
        CaseVerdict& lost = verdict.cases.emplace_back();
        lost.workload = id.substr(0, id.find('/'));
        lost.id = id;
        lost.verdict = Verdict::error;
        lost.reason = "not in the run, and the base could not measure it: " +
                      util::printable(base.reason, 1000);
    }
}

/// Where the baselines of cases that did not pass are from: since when they differ.
void add_origins(const model::Baseline& baseline, SuiteVerdict& verdict) {
    for (CaseVerdict& each : verdict.cases) {
        const auto expected = baseline.cases.find(each.id);
        if (each.verdict == Verdict::pass || expected == baseline.cases.end()) continue;
        each.baseline_revision = expected->second.provenance.git_revision;
        each.baseline_recorded_at = expected->second.provenance.recorded_at;
    }
}

}  // namespace

void finish_suite(const model::Run& run, const model::SuiteResult& suite,
                  const StoredBaseline* stored, const model::ChangePolicy& policy,
                  std::set<std::string>& said, SuiteVerdict& verdict) {
    const model::Baseline* baseline = stored == nullptr ? nullptr : &stored->baseline;
    for (CaseVerdict& each : verdict.cases) {
        finish_case(each, baseline != nullptr && baseline->cases.contains(each.id));
        if (stored != nullptr) name_what_base_lacks(*stored, each);
    }
    if (baseline != nullptr) hoist_notes(run, suite, *baseline, policy, said, verdict);
    if (run.interrupted) {
        verdict.notes.emplace_back(
            "the run was interrupted: cases that it did not reach are not judged");
    } else if (baseline != nullptr) {
        add_missing(run, suite, *baseline, verdict);
        if (!is_partial(run, suite)) add_unreadable(*stored, verdict);
    }
    if (baseline != nullptr) add_origins(*baseline, verdict);
    for (std::string& note : overhead_notes(suite)) verdict.notes.push_back(std::move(note));
}

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
                "its baseline with 'perfgate baseline prune SUITE --all-suites'",
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

void Limits::add(std::size_t suite, const std::string& id,
                 const model::MetricDefinition& definition, const Judgement& judgement) {
    OfMetric& limits = by_metric_[{suite, definition.name}];
    if (judgement.basis == Basis::one_process &&
        definition.metric_class == model::MetricClass::timing) {
        ++limits.one_process;
    }
    if (judgement.doubt == model::Doubt::not_shown) {
        ++limits.not_shown;
        const auto width = [](const model::ChangeInterval& interval) {
            return interval.high - interval.low;
        };
        if (judgement.interval &&
            (!limits.widest || width(*judgement.interval) > width(*limits.widest))) {
            limits.widest = judgement.interval;
            limits.widest_id = id;
        }
    }
    if (!judgement.tolerance_is_finer || !judgement.minimum_detectable_change) return;
    ++limits.finer;
    if (*judgement.minimum_detectable_change <= limits.worst) return;
    limits.worst = *judgement.minimum_detectable_change;
    limits.worst_id = id;
}

void Limits::note(std::vector<model::SuiteVerdict>& suites) const {
    for (const auto& [key, limits] : by_metric_) {
        const auto& [suite, metric] = key;
        if (limits.one_process > 0) {
            suites[suite].notes.push_back(one_process_note(metric, limits.one_process));
        }
        if (limits.not_shown > 0) {
            suites[suite].notes.push_back(
                not_shown_note(metric, limits.not_shown, limits.widest, limits.widest_id));
        }
        if (limits.finer > 0) {
            suites[suite].notes.push_back(
                finer_note(metric, limits.finer, limits.worst, limits.worst_id));
        }
    }
}

}  // namespace perfgate::gate
