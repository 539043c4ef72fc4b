// SPDX-License-Identifier: Apache-2.0
#include "baseline/diff.hpp"

#include <fmt/format.h>

#include <set>

#include "model/case.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

using model::BaselineCase;
using model::MetricSeries;

std::string changed_words(std::string_view what, const std::string& before,
                          const std::string& after) {
    return fmt::format("{} changed: {} → {}", what, util::printable(before),
                       util::printable(after));
}

/// The difference, or nothing if value, unit and method are the same.
std::optional<MetricChange> change_of(const MetricSeries& before, const MetricSeries& after) {
    MetricChange change;
    change.before = before.value;
    change.after = after.value;
    change.before_unit = before.unit;
    change.after_unit = after.unit;
    if (before.unit != after.unit) {
        change.note = changed_words("unit", before.unit, after.unit);
    } else if (before.method != after.method) {
        change.note = changed_words("method", to_text(before.method), to_text(after.method));
    } else if (before.value == after.value) {
        return std::nullopt;
    } else {
        change.change = model::change_fraction(before.value, after.value);
    }
    return change;
}

void compare_cases(const std::string& id, const BaselineCase& before, const BaselineCase& after,
                   BaselineDiff& result) {
    std::set<std::string> metrics;
    for (const auto& [metric, series] : before.metrics) metrics.insert(metric);
    for (const auto& [metric, series] : after.metrics) metrics.insert(metric);
    for (const std::string& metric : metrics) {
        const auto old_series = before.metrics.find(metric);
        const auto new_series = after.metrics.find(metric);
        MetricChange change;
        if (old_series == before.metrics.end()) {
            change.after_unit = new_series->second.unit;
            change.after = new_series->second.value;
        } else if (new_series == after.metrics.end()) {
            change.before_unit = old_series->second.unit;
            change.before = old_series->second.value;
        } else if (auto found = change_of(old_series->second, new_series->second)) {
            change = std::move(*found);
        } else {
            ++result.unchanged;
            continue;
        }
        change.id = id;
        change.metric = metric;
        result.changes.push_back(std::move(change));
    }
}

}  // namespace

BaselineDiff diff(const model::Baseline& before, const model::Baseline& after) {
    BaselineDiff result;
    for (const auto& [id, old_case] : before.cases) {
        const auto found = after.cases.find(id);
        if (found == after.cases.end()) {
            result.removed.push_back(id);
        } else {
            compare_cases(id, old_case, found->second, result);
        }
    }
    for (const auto& [id, new_case] : after.cases) {
        if (!before.cases.contains(id)) result.added.push_back(id);
    }
    return result;
}

model::Baseline measured_values(const model::Run& run, const model::SuiteResult& suite) {
    model::Baseline values;
    values.suite = suite.name;
    values.device = run.environment.device;
    values.device.board.clear();
    for (const model::CaseResult& result : suite.cases) {
        if (result.status != model::CaseStatus::measured) continue;
        values.cases.emplace(model::case_id(result.spec), BaselineCase{{}, result.metrics});
    }
    return values;
}

}  // namespace perfgate::baseline
