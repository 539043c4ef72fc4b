// SPDX-License-Identifier: Apache-2.0
#include "gate/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "gate/rule.hpp"
#include "gate/series.hpp"
#include "model/choices.hpp"

namespace perfgate::gate {

namespace {

bool differ(const model::MetricDefinition& definition, const model::MetricSeries& series,
            const model::Tolerance& tolerance) {
    const std::vector<double> values = batch_values(series);
    if (values.size() < 2) return true;  // one process has it
    auto [better, worse] = std::minmax_element(values.begin(), values.end());
    if (definition.direction == model::Direction::higher) std::swap(better, worse);
    Comparison comparison;
    comparison.definition = &definition;
    comparison.tolerance = tolerance;
    const Change change = change_between(comparison, *better, *worse);
    return change.counts && !change.good_way;
}

}  // namespace

std::string varying_choices(const model::CaseResult& result) {
    const auto prepared = result.metrics.find(std::string(model::prepare_time));
    return prepared == result.metrics.end() ? "" : model::varying_choices(prepared->second);
}

std::string hidden_by_choices(const model::CaseResult& result,
                              const model::MetricDefinition& definition,
                              const model::MetricSeries& series,
                              const model::Tolerance& tolerance) {
    const std::string varying = varying_choices(result);
    if (varying.empty() || !differ(definition, series, tolerance)) return {};
    return fmt::format("the processes did not choose the same ({}): pin the choice", varying);
}

}  // namespace perfgate::gate
