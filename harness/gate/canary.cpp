// SPDX-License-Identifier: Apache-2.0
#include "gate/canary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gate/base_run.hpp"
#include "gate/self_test.hpp"
#include "model/case.hpp"
#include "model/text.hpp"

namespace perfgate::gate {

namespace {

/// The first time that the case gates and has.
const model::GateRule* gated_time(const model::Run& run, const model::CaseResult& result) {
    const auto is_time = [&](const model::GateRule& gate) {
        const auto definition = run.metric_definitions.find(gate.metric);
        const auto series = result.metrics.find(gate.metric);
        return definition != run.metric_definitions.end() &&
               definition->second.metric_class == model::MetricClass::timing &&
               series != result.metrics.end() && series->second.value > 0;
    };
    const auto found = std::find_if(result.gates.begin(), result.gates.end(), is_time);
    return found == result.gates.end() ? nullptr : &*found;
}

/// That case alone, its code forgotten: to the gate the canary's has changed.
model::Run alone(const model::Run& run, const model::SuiteResult& suite,
                 const model::CaseResult& result) {
    model::Run base = run;
    base.suites = {suite};
    base.suites.front().cases = {result};
    forget_code(base);
    return base;
}

}  // namespace

std::optional<Canary> choose_canary(const model::Run& run) {
    const model::SuiteResult* its_suite = nullptr;
    const model::CaseResult* quickest = nullptr;
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            if (result.status != model::CaseStatus::measured || !gated_time(run, result)) continue;
            if (!result.command.empty()) continue;  // no work can be added to a program
            if (quickest != nullptr && result.wall_s >= quickest->wall_s) continue;
            its_suite = &suite;
            quickest = &result;
        }
    }
    if (quickest == nullptr) return std::nullopt;
    const model::GateRule& gate = *gated_time(run, *quickest);
    const model::Tolerance& tolerance = gate.tolerance;
    Canary canary{.suite = its_suite->name,
                  .id = model::case_id(quickest->spec),
                  .metric = gate.metric,
                  .added = 0,
                  .baselines = baselines_of(alone(run, *its_suite, *quickest), "this run")};
    canary.added =
        1 + 2 * tolerance.worse + 2 * tolerance.abs / quickest->metrics.at(gate.metric).value;
    return canary;
}

void keep_canary(model::Plan& plan, const Canary& canary) {
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

CanaryResult judge_canary(const Canary& canary, const model::VerdictDocument& verdict) {
    const std::string what =
        fmt::format("{}, made {:.0f} % slower", model::printable(canary.id), 100 * canary.added);
    for (const model::SuiteVerdict& suite : verdict.suites) {
        for (const model::CaseVerdict& judged : suite.cases) {
            if (suite.name != canary.suite || judged.id != canary.id) continue;
            if (judged.verdict != model::Verdict::regressed) {
                return {false, fmt::format("{}, is called {}: where this gate passes a case here, "
                                           "that says nothing ({})",
                                           what, model::to_text(judged.verdict),
                                           model::printable(judged.reason, 1000))};
            }
            if (verdict.exit_code != 1) {
                return {false, fmt::format("{}, is called regressed, and the exit code is {}", what,
                                           verdict.exit_code)};
            }
            return {true, what + ", is called regressed, as it should be"};
        }
    }
    return {false, what + ", was not judged"};
}

}  // namespace perfgate::gate
