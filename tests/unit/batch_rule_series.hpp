// SPDX-License-Identifier: Apache-2.0
// Series of processes for tests of the rule, and its judgement of two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gate/batch_rule.hpp"
#include "gate/rule.hpp"
#include "unit/gate_documents.hpp"

namespace perfgate::gate::batch_rule_series {

using documents::definition;
using model::Direction;
using model::MetricClass;
using model::MetricSeries;
using model::Policy;
using model::Verdict;
using Values = std::vector<double>;

/// One process per value.
inline MetricSeries processes(const Values& values, std::int64_t round = 0,
                              std::string unit = "ns") {
    MetricSeries series;
    series.unit = std::move(unit);
    series.method = "activity/cold";
    for (const double value : values) {
        model::Batch& batch = series.batches.emplace_back();
        batch.process = static_cast<std::int64_t>(series.batches.size()) - 1;
        batch.samples = {value};
        batch.round = round;
    }
    series.value = values.empty() ? 0 : values.front();
    return series;
}

inline void add_round(MetricSeries& series, const Values& values, std::int64_t round) {
    for (const model::Batch& batch : processes(values, round).batches) {
        series.batches.push_back(batch);
    }
}

struct Setting {
    MetricClass metric_class = MetricClass::timing;
    Direction direction = Direction::lower;
    model::Tolerance tolerance{0.005, std::nullopt, 0};
    double leeway = 0;
    Policy policy;
};

inline Judgement judged(const MetricSeries& baseline, const MetricSeries& measured,
                        const Setting& setting = {}) {
    const model::MetricDefinition metric =
        definition("x", baseline.unit, setting.metric_class, setting.direction);
    const std::vector<Comparison> comparisons{
        {&metric, &baseline, &measured, setting.tolerance, setting.leeway}};
    return BatchRule(setting.policy).judge(comparisons).at(0);
}

/// 100 µs with a spread of 0.2 %, without chance.
inline Values spread_around(double centre, std::size_t count, double relative = 0.002) {
    Values values;
    for (std::size_t i = 0; i < count; ++i) {
        const double position = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
        values.push_back(centre * (1 + relative * 3.4 * (position - 0.5)));
    }
    return values;
}

inline const MetricSeries usual_baseline = processes(spread_around(100'000, 20));

/// What a run looks like after flagged cases were measured again.
inline MetricSeries confirmed(double centre, double relative = 0.002) {
    MetricSeries series = processes(spread_around(centre, 5, relative));
    add_round(series, spread_around(centre, round_size(1), relative), 1);
    add_round(series, spread_around(centre, round_size(2), relative), 2);
    return series;
}

}  // namespace perfgate::gate::batch_rule_series
