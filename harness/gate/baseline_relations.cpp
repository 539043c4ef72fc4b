// SPDX-License-Identifier: Apache-2.0
#include "gate/baseline_relations.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "gate/series.hpp"
#include "model/measured_as.hpp"

namespace perfgate::gate {

namespace {

using model::MetricSeries;

/// By case id and metric.
using Values = std::map<std::string, std::map<std::string, const MetricSeries*>>;

/// Of each case the metrics that the instance reads, as yet without their series.
Values read_by(const model::Relation& relation, const std::vector<std::string>& instance) {
    Values values;
    for (const auto* side : {&relation.left, &relation.right}) {
        for (const model::ExpressionStep& step : *side) {
            const auto* metric = std::get_if<model::OperandMetric>(&step);
            if (metric != nullptr) values[instance[metric->operand]][metric->metric] = nullptr;
        }
    }
    return values;
}

/// Null if it would not be measured in the same way now.
const MetricSeries* find_series(const model::Run& run, const model::CaseResult& now,
                                const model::BaselineCase& expected, const std::string& metric) {
    const model::Provenance& then = expected.provenance;
    if (then.tool_version != run.tool_version || then.cupti != run.environment.cupti ||
        !model::difference(expected.measured_as, now.measured_as).empty()) {
        return nullptr;
    }
    const auto definition = run.metric_definitions.find(metric);
    const auto series = expected.metrics.find(metric);
    const bool usable = definition != run.metric_definitions.end() &&
                        series != expected.metrics.end() &&
                        series->second.unit == definition->second.unit;
    return usable ? &series->second : nullptr;
}

/// False if one is missing.
bool fill_in(const model::Run& run, const CasesById& cases, const model::Baseline& baseline,
             Values& values) {
    for (auto& [id, metrics] : values) {
        const auto now = cases.find(id);
        const auto expected = baseline.cases.find(id);
        if (now == cases.end() || expected == baseline.cases.end()) return false;
        for (auto& [metric, series] : metrics) {
            series = find_series(run, *now->second, expected->second, metric);
            if (series == nullptr) return false;
        }
    }
    return true;
}

std::set<std::string> common_boards(const Values& values) {
    std::optional<std::set<std::string>> common;
    for (const auto& [id, metrics] : values) {
        for (const auto& [metric, series] : metrics) {
            const auto boards = boards_of(*series);
            if (!common) {
                common.emplace();
                for (const auto& [board, processes] : boards) common->insert(board);
            }
            std::erase_if(*common, [&](const auto& board) { return !boards.contains(board); });
        }
    }
    return common.value_or(std::set<std::string>());
}

/// The case as if it had been measured with these values on this board.
model::CaseResult measured(const model::CaseResult& result, const Values& values,
                           const std::string& board) {
    model::CaseResult imagined;
    imagined.spec = result.spec;
    imagined.status = model::CaseStatus::measured;
    for (const auto& [metric, series] : values.at(model::case_id(result.spec))) {
        imagined.metrics[metric] = series_of_board(*series, board);
    }
    return imagined;
}

bool all_are_baselines(const model::Relation& relation, const std::vector<std::string>& instance,
                       const IsBaselines& is_baselines) {
    const Values values = read_by(relation, instance);
    return std::all_of(values.begin(), values.end(), [&](const auto& of_case) {
        return std::all_of(of_case.second.begin(), of_case.second.end(), [&](const auto& metric) {
            return is_baselines(of_case.first, metric.first);
        });
    });
}

bool holds_on_baseline(const model::Run& run, const CasesById& cases,
                       const model::Relation& relation, const std::vector<std::string>& instance,
                       const model::Baseline& baseline) {
    const auto boards = on_baseline(run, cases, relation, instance, baseline);
    return !boards.empty() && std::all_of(boards.begin(), boards.end(), [&](const auto& only) {
        return verdict_of_lone(run, only) == model::Verdict::pass;
    });
}

}  // namespace

std::vector<model::SuiteResult> on_baseline(const model::Run& run, const CasesById& cases,
                                            const model::Relation& relation,
                                            const std::vector<std::string>& instance,
                                            const model::Baseline& baseline) {
    Values values = read_by(relation, instance);
    const bool reads_all = std::all_of(instance.begin(), instance.end(),
                                       [&](const std::string& id) { return values.contains(id); });
    if (!reads_all || !fill_in(run, cases, baseline, values)) return {};
    std::vector<model::SuiteResult> found;
    for (const std::string& board : common_boards(values)) {
        model::SuiteResult& only = found.emplace_back(alone(cases, relation, instance));
        for (model::CaseResult& result : only.cases) result = measured(result, values, board);
    }
    return found;
}

std::set<std::string> needed_by_relations(const model::Run& run, const model::SuiteResult& suite,
                                          const model::Baseline& baseline,
                                          const IsBaselines& is_baselines) {
    std::set<std::string> needed;
    const CasesById cases = by_id(suite);
    for (const model::Relation& relation : suite.relations) {
        for (const std::vector<std::string>& instance : relation.instances) {
            if (all_are_baselines(relation, instance, is_baselines) &&
                holds_on_baseline(run, cases, relation, instance, baseline)) {
                continue;
            }
            needed.insert(instance.begin(), instance.end());
        }
    }
    return needed;
}

}  // namespace perfgate::gate
