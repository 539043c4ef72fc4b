// SPDX-License-Identifier: Apache-2.0
#include "runner/changed_only.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "gate/baseline_relations.hpp"
#include "gate/machine_code.hpp"
#include "metrics/catalogue.hpp"
#include "model/case.hpp"
#include "model/verdict.hpp"

namespace perfgate::runner {

namespace {

/// Whether the metric depends only on what the launch runs on the device and on the contents of its
/// buffers, which are taken to be the same. The others depend on host code in other ways, too.
bool is_of_device(const std::string& name) {
    const auto metric = metrics::find_metric(name);
    return metric && (metric->source == metrics::Source::activity ||
                      metric->source == metrics::Source::counter ||
                      metric->source == metrics::Source::kernel_record);
}

/// A case of which every gated value is the baseline's.
struct Unchanged {
    measure::RecordedLaunch launch;
    bool of_device = false;  ///< its host code is another: only what the device runs is unchanged
};
using UnchangedCases = std::map<std::string, Unchanged>;  ///< by id

/// Adds the case if a baseline has it with the same code and inputs as this launch.
void add_if_unchanged(measure::RecordedLaunch launch, const model::PlannedCase& planned,
                      const model::Environment& environment, const model::Baseline& baseline,
                      UnchangedCases& cases) {
    std::string id = model::case_id(launch.result.spec);
    const auto expected = baseline.cases.find(id);
    if (expected == baseline.cases.end()) return;
    gate::Code now = gate::code_of(launch.result, environment);
    now.seed = planned.seed;
    const gate::CodeComparison code = gate::compare_code(now, gate::code_of(expected->second));
    const bool same = code.change == model::CodeChange::unchanged;
    const bool same_gates =
        code.runs_the_same && std::ranges::all_of(planned.gates, [](const model::GateRule& gate) {
            return is_of_device(gate.metric);
        });
    if (same || same_gates) cases.emplace(std::move(id), Unchanged{std::move(launch), !same});
}

void leave_out(const model::Run& run, const model::SuiteResult& suite,
               const model::Baseline& baseline, UnchangedCases cases, measure::Session& session) {
    const auto is_baselines = [&](const std::string& id, const std::string& metric) {
        const auto found = cases.find(id);
        return found != cases.end() && (!found->second.of_device || is_of_device(metric));
    };
    const std::set<std::string> named = named_by_relations(suite);
    const std::set<std::string> needed =
        gate::needed_by_relations(run, suite, baseline, is_baselines);
    for (auto& [id, unchanged] : cases) {
        if (needed.contains(id)) continue;
        std::string reason = "code and inputs are the baseline's (--changed-only)";
        if (named.contains(id)) reason += ", and its relations hold on the baseline's values";
        session.leave_out(std::move(unchanged.launch), reason);
    }
}

}  // namespace

std::set<std::string> named_by_relations(const model::SuiteResult& suite) {
    std::set<std::string> ids;
    for (const model::Relation& relation : suite.relations) {
        for (const auto& instance : relation.instances) {
            ids.insert(instance.begin(), instance.end());
        }
    }
    return ids;
}

void leave_out_unchanged(measure::Session& session, const model::Plan& plan,
                         const gate::BaselineSet& baselines) {
    model::Run run = session.run();
    run.tool_version = PERFGATE_VERSION;
    const auto baseline_of = [&](std::size_t suite) {
        const auto found = baselines.find(run.suites[suite].name);
        return found == baselines.end() ? nullptr : &found->second.baseline;
    };
    std::vector<UnchangedCases> unchanged(run.suites.size());
    for (measure::RecordedLaunch& launch : session.record_launches()) {
        const model::CaseIndex at = launch.at;
        if (const model::Baseline* baseline = baseline_of(at.suite)) {
            add_if_unchanged(std::move(launch), plan.suites[at.suite].cases[at.index],
                             run.environment, *baseline, unchanged[at.suite]);
        }
    }
    for (std::size_t i = 0; i < run.suites.size(); ++i) {
        if (unchanged[i].empty()) continue;
        leave_out(run, run.suites[i], *baseline_of(i), std::move(unchanged[i]), session);
    }
}

std::vector<model::CaseIndex> shown_by_launches(const model::Run& run, const model::Plan& plan,
                                                const gate::BaselineSet& baselines) {
    std::vector<model::CaseIndex> shown;
    for (std::size_t s = 0; s < run.suites.size(); ++s) {
        const auto stored = baselines.find(run.suites[s].name);
        if (stored == baselines.end()) continue;
        for (std::size_t c = 0; c < run.suites[s].cases.size(); ++c) {
            const model::CaseResult& result = run.suites[s].cases[c];
            const auto expected = stored->second.baseline.cases.find(model::case_id(result.spec));
            if (!plan.suites[s].cases[c].group || result.status != model::CaseStatus::measured ||
                expected == stored->second.baseline.cases.end()) {
                continue;
            }
            const gate::CodeComparison code = gate::compare_code(
                gate::code_of(result, run.environment), gate::code_of(expected->second));
            const bool only_device_times =
                std::ranges::all_of(result.gates, [&](const model::GateRule& gate) {
                    const auto definition = run.metric_definitions.find(gate.metric);
                    return gate.metric == "gpu_time" ||
                           (definition != run.metric_definitions.end() &&
                            definition->second.metric_class != model::MetricClass::timing);
                });
            if (code.runs_the_same && code.of_program && only_device_times) shown.push_back({s, c});
        }
    }
    return shown;
}

}  // namespace perfgate::runner
