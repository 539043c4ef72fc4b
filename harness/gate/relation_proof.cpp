// SPDX-License-Identifier: Apache-2.0
#include "gate/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <variant>

#include "gate/baseline_relations.hpp"
#include "gate/batch_rule.hpp"
#include "gate/relations.hpp"
#include "gate/series.hpp"
#include "model/case.hpp"
#include "model/hottest_kernel.hpp"
#include "model/roofline.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

/// What decides about the bound of a case that has one.
std::string time_of(const model::CaseResult& result) {
    return result.metrics.contains("gpu_time") ? "gpu_time" : "gpu_span";
}

/// The metrics that the relation reads, each as the position of its case in `only` and its name.
std::set<std::pair<std::size_t, std::string>> metrics_of(const model::SuiteResult& only) {
    const model::Relation& relation = only.relations.front();
    const std::vector<std::string>& ids = relation.instances.front();
    const bool of_bound = model::expected_bound(relation).has_value();
    std::set<std::pair<std::size_t, std::string>> found;
    for (const auto* side : {&relation.left, &relation.right}) {
        for (const model::ExpressionStep& step : *side) {
            const auto* metric = std::get_if<model::OperandMetric>(&step);
            if (metric == nullptr) continue;
            for (std::size_t i = 0; i < only.cases.size(); ++i) {
                if (model::case_id(only.cases[i].spec) != ids[metric->operand]) continue;
                found.emplace(i, of_bound ? time_of(only.cases[i]) : metric->metric);
            }
        }
    }
    return found;
}

/// The amounts by which a value is moved: a relation may hold between two bounds.
std::vector<double> amounts(double estimate) {
    const double size = estimate == 0 ? 1 : std::fabs(estimate);
    std::vector<double> moves{-size, -0.9 * size, -0.5 * size, -0.01 * size};
    for (const double times : {0.01, 0.5, 1.0, 10.0, 1e3, 1e6, 1e12}) moves.push_back(times * size);
    return moves;
}

/// Whether another kernel that is the hottest breaks it: one of two names without a common
/// character, which only patterns like `*` match both, or one that the pattern itself names.
bool another_kernel_breaks(const model::Run& frame, const model::SuiteResult& only,
                           const std::string& pattern) {
    for (const std::string& name : {std::string("a"), std::string("bb"), pattern}) {
        model::SuiteResult tried = only;
        for (model::CaseResult& result : tried.cases) {
            model::Kernel kernel;
            kernel.name = name;
            kernel.launches = kernel.time_ns = 1;
            result.kernels = {kernel};
        }
        if (verdict_of_lone(frame, tried) == model::Verdict::regressed) return true;
    }
    return false;
}

bool can_be_broken(const model::Run& frame, const model::SuiteResult& only) {
    if (const auto pattern = model::expected_kernel(only.relations.front())) {
        return another_kernel_breaks(frame, only, *pattern);
    }
    for (const auto& [position, metric] : metrics_of(only)) {
        const model::MetricSeries& series = only.cases[position].metrics.at(metric);
        const double estimate = estimate_of(series);
        for (const double amount : amounts(estimate)) {
            model::SuiteResult tried = only;
            tried.cases[position].metrics[metric] = moved(series, estimate, amount, metric);
            if (verdict_of_lone(frame, tried) == model::Verdict::regressed) return true;
        }
    }
    return false;
}

/// The instance as its run judged it: on the baseline's values where --changed-only left out a case
/// of it, which it does only if the relation holds on them.
model::SuiteResult as_judged(const model::Run& frame, const CasesById& cases,
                             const model::Relation& relation,
                             const std::vector<std::string>& instance,
                             const StoredBaseline* stored) {
    model::SuiteResult only = alone(cases, relation, instance);
    const bool left_out =
        std::any_of(only.cases.begin(), only.cases.end(),
                    [](const model::CaseResult& result) { return result.unchanged; });
    if (!left_out || stored == nullptr) return only;
    auto boards = on_baseline(frame, cases, relation, instance, stored->baseline);
    return boards.empty() ? only : std::move(boards.front());
}

}  // namespace

RelationProof prove_relations(const model::Run& run, const BaselineSet& baselines) {
    model::Run frame = run;
    frame.suites.clear();
    RelationProof proof;
    for (const model::SuiteResult& suite : run.suites) {
        const CasesById cases = by_id(suite);
        const auto found = baselines.find(suite.name);
        const StoredBaseline* stored = found == baselines.end() ? nullptr : &found->second;
        for (const model::Relation& relation : suite.relations) {
            for (const std::vector<std::string>& instance : relation.instances) {
                const model::SuiteResult only = as_judged(frame, cases, relation, instance, stored);
                if (only.cases.empty() || verdict_of_lone(frame, only) != model::Verdict::pass) {
                    continue;
                }
                ++proof.relations;
                if (can_be_broken(frame, only)) continue;
                proof.problems.push_back(fmt::format(
                    "the relation {} of {} cannot be broken: it holds whatever is measured",
                    util::printable(to_text(relation)), util::printable(instance.front())));
            }
        }
    }
    return proof;
}

}  // namespace perfgate::gate
