// SPDX-License-Identifier: Apache-2.0
#include "runner/canary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "gate/baseline_set.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "gate/machine_code.hpp"
#include "gate/series.hpp"
#include "gate/significance.hpp"
#include "model/case.hpp"
#include "runner/devices.hpp"
#include "runner/execution.hpp"
#include "runner/plan.hpp"
#include "runner/run_file.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

constexpr const char* not_tried =
    "the canary was not tried: no case of a plugin or a source was measured that gates a time, and "
    "programs and benchmarks cannot be slowed down";

/// The first time metric that the case gates and has.
const model::GateRule* gated_time(const model::Run& run, const model::CaseResult& result) {
    const auto is_time = [&](const model::GateRule& gate) {
        const auto definition = run.metric_definitions.find(gate.metric);
        const auto series = result.metrics.find(gate.metric);
        // A share of a ceiling is timing too, but work can only be added to a time.
        return definition != run.metric_definitions.end() &&
               definition->second.metric_class == model::MetricClass::timing &&
               definition->second.unit == "ns" && series != result.metrics.end() &&
               series->second.value > 0;
    };
    const auto found = std::ranges::find_if(result.gates, is_time);
    return found == result.gates.end() ? nullptr : &*found;
}

/// Only that case, without its code, so that the gate considers the canary's code changed.
model::Run alone(const model::Run& run, const model::SuiteResult& suite,
                 const model::CaseResult& result) {
    model::Run base = run;
    base.suites = {suite};
    base.suites.front().cases = {result};
    gate::forget_code(base.suites.front().cases.front());
    return base;
}

/// The canary is not measured again: what is measured decides.
model::Policy deciding_at_once(model::Policy policy) {
    policy.rounds = 0;
    return policy;
}

model::Run measure_canary(const gate::Canary& canary, const std::vector<std::string>& suites,
                          const MeasuringChoice& choice) {
    OpenedBackend backend = open_to_measure(choice, suites);
    model::Plan plan = plan_for_workers(suites, choice, backend);
    keep_canary(plan, canary);
    Execution execution(choice, backend, plan);
    execution.session().measure_all();
    execution.session().replace_excluded();
    return execution.finish(suites.front());
}

}  // namespace

std::optional<gate::Canary> choose_canary(const model::Run& run, const model::Policy& policy) {
    const model::SuiteResult* its_suite = nullptr;
    const model::CaseResult* quickest = nullptr;
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            if (result.status != model::CaseStatus::measured || !gated_time(run, result)) continue;
            if (!result.command.empty()) continue;  // no work can be added to it
            if (quickest != nullptr && result.wall_s >= quickest->wall_s) continue;
            its_suite = &suite;
            quickest = &result;
        }
    }
    if (quickest == nullptr) return std::nullopt;
    const model::GateRule& gate = *gated_time(run, *quickest);
    const model::Tolerance& tolerance = gate.tolerance;
    gate::Canary canary{
        .suite = its_suite->name,
        .id = model::case_id(quickest->spec),
        .metric = gate.metric,
        .added = 0,
        .baselines = gate::baselines_of(alone(run, *its_suite, *quickest), "this run")};
    const model::MetricSeries& time = quickest->metrics.at(gate.metric);
    const std::size_t own = gate::batch_values(time).size();
    if (own < 2) {  // the tolerance alone decides
        canary.processes = 1;
        canary.added =
            gate::times_the_claim * std::max(tolerance.worse, tolerance.abs / time.value);
        return canary;
    }
    const model::MetricDefinition& definition = run.metric_definitions.at(gate.metric);
    const gate::Comparison itself{&definition, &time, &time, tolerance, 0};
    const gate::Levels levels = gate::Levels(policy.false_alarms, 1, 0).of(itself);
    canary.processes = gate::processes_of_canary(own, gate::deciding_level(itself, levels));
    if (canary.processes == 0) return canary;
    const model::MetricSeries again =
        gate::replayed(time, {canary.processes}, model::board_of(run, *quickest));
    const gate::Comparison comparison{&definition, &time, &again, tolerance, 0};
    const auto claim = gate::BatchRule(deciding_at_once(policy))
                           .judge(std::span(&comparison, 1))
                           .front()
                           .minimum_detectable_change;
    canary.added = gate::times_the_claim * claim.value_or(0);
    if (!claim) canary.processes = 0;
    return canary;
}

void keep_canary(model::Plan& plan, const gate::Canary& canary) {
    std::erase_if(plan.suites,
                  [&](const model::PlannedSuite& suite) { return suite.name != canary.suite; });
    for (model::PlannedSuite& suite : plan.suites) {
        suite.relations.clear();
        std::erase_if(suite.cases, [&](const model::PlannedCase& planned) {
            return model::case_id(planned.spec) != canary.id;
        });
        for (model::PlannedCase& planned : suite.cases) {
            planned.metrics = {canary.metric};
            std::erase_if(planned.gates, [&](const model::GateRule& gate) {
                return gate.metric != canary.metric;
            });
            planned.added_work = canary.added;
        }
    }
}

void note_without_canary(const model::Run& run, model::VerdictDocument& verdict) {
    if (run.interrupted || run.verify_only || choose_canary(run, verdict.policy)) return;
    if (!verdict.suites.empty()) verdict.suites.front().notes.emplace_back(not_tried);
}

int try_canary(const model::Run& run, const std::vector<std::string>& suites,
               MeasuringChoice measuring, const model::Policy& policy) {
    if (run.interrupted || run.verify_only) return 0;
    const std::optional<gate::Canary> canary = choose_canary(run, policy);
    if (!canary) return 0;  // the report says so
    if (canary->processes == 0) {
        fmt::print(stderr,
                   "perfgate: canary: {} was measured in so few processes that the gate cannot "
                   "fail, so its passes prove nothing: use more with --processes\n",
                   util::printable(canary->id));
        return 3;
    }
    measuring.processes = canary->processes;
    measuring.out = util::Folder(measuring.out).below("canary").path();
    measuring.resume.clear();
    measuring.ceilings = false;
    measuring.changed_only = false;
    model::Run slower = measure_canary(*canary, suites, measuring);
    for (model::SuiteResult& suite : slower.suites) {
        for (model::CaseResult& result : suite.cases) {
            for (auto& [metric, series] : result.metrics) {
                // The gate is tried, not the machine.
                for (model::Batch& batch : series.batches) batch.other_work.reset();
            }
        }
    }
    const int stored = store_run(slower, measuring.out);
    if (slower.interrupted) return 130;
    const model::Policy at_once = deciding_at_once(policy);
    const gate::CanaryResult result = gate::judge_canary(
        *canary, gate::judge(slower, canary->baselines, at_once, gate::BatchRule(at_once)));
    fmt::print(stderr, "perfgate: canary: {}\n", result.sentence);
    return result.found ? stored : 3;
}

}  // namespace perfgate::runner
