// SPDX-License-Identifier: Apache-2.0
#include "review/baseline_gates.hpp"

#include <algorithm>
#include <optional>

#include "metrics/catalogue.hpp"
#include "model/unknown_cases.hpp"
#include "review/device_settings.hpp"
#include "suite/settings.hpp"
#include "util/text.hpp"

namespace perfgate::review {

namespace {

using suite::Suite;
using suite::SuiteCase;

model::Tolerance usual_tolerance(model::MetricClass metric_class) {
    switch (metric_class) {
        case model::MetricClass::timing:
            return {0.05, std::nullopt, 0};
        case model::MetricClass::counter:
            return {0.02, std::nullopt, 0};
        case model::MetricClass::exact:
            break;
    }
    return {};
}

/// The cases that a suite lists, and those that its benchmarks report.
class SuiteCases {
  public:
    SuiteCases(const Suite& suite, const std::string& device)
        : suite_(suite), settings_(suite, device) {
        for (const SuiteCase& each : suite.cases) cases_.emplace(each.id, &each);
    }

    std::optional<SuiteCase> find(const std::string& id) const {
        const auto found = cases_.find(id);
        if (found != cases_.end()) return *found->second;
        const std::string benchmark = id.substr(0, id.find('/')) + '/';
        const auto reported =
            std::find_if(suite_.cases.begin(), suite_.cases.end(), [&](const SuiteCase& each) {
                return model::stands_for_cases(each.spec) && each.spec.workload + '/' == benchmark;
            });
        if (reported == suite_.cases.end()) return std::nullopt;
        SuiteCase result = *reported;
        result.overrides.clear();
        for (const suite::Override& over : suite_.overrides) {
            if (util::glob_match(over.match, id)) result.overrides.push_back(&over);
        }
        return result;
    }

    const std::vector<model::GateRule>& rules(const SuiteCase& suite_case) {
        return settings_.of(suite_case).gates(suite_case.target);
    }

    /// The definition of a metric that the suite defines itself; nothing for any other.
    static std::optional<model::MetricDefinition> own_definition(const SuiteCase& suite_case,
                                                                 const std::string& metric) {
        for (const model::MetricDefinition& own : suite_case.subject->own_metrics()) {
            if (own.name == metric) return own;
        }
        return std::nullopt;
    }

  private:
    const Suite& suite_;
    DeviceSettings settings_;
    std::map<std::string, const SuiteCase*> cases_;
};

model::MetricDefinition definition_of(const std::string& metric, const model::MetricSeries& series,
                                      const std::optional<model::MetricDefinition>& own) {
    if (own) return *own;
    if (const auto known = metrics::find_metric(metric)) return known->definition;
    model::MetricDefinition unknown;
    unknown.name = metric;
    unknown.unit = series.unit;
    unknown.direction = model::Direction::none;
    unknown.metric_class = model::MetricClass::timing;
    return unknown;
}

}  // namespace

std::map<std::string, CaseGates> gates_of(const Expectations& state,
                                          const model::Baseline& baseline) {
    std::optional<SuiteCases> cases;
    for (const Suite& suite : state.suites) {
        if (suite.name == baseline.suite && !cases) cases.emplace(suite, baseline.device.key);
    }
    std::map<std::string, CaseGates> result;
    for (const auto& [id, expected] : baseline.cases) {
        CaseGates& gates = result[id];
        const auto suite_case = cases ? cases->find(id) : std::nullopt;
        for (const auto& [metric, series] : expected.metrics) {
            const auto own =
                suite_case ? SuiteCases::own_definition(*suite_case, metric) : std::nullopt;
            gates.definitions.emplace(metric, definition_of(metric, series, own));
        }
        if (suite_case) {
            for (const model::GateRule& rule : cases->rules(*suite_case)) {
                if (expected.metrics.contains(rule.metric)) gates.rules.push_back(rule);
            }
            continue;
        }
        for (const auto& [metric, definition] : gates.definitions) {
            gates.rules.push_back(
                {metric, usual_tolerance(definition.metric_class), suite::default_cross_board});
        }
    }
    return result;
}

}  // namespace perfgate::review
