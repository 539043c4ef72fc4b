// SPDX-License-Identifier: Apache-2.0
#include "bisect/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gate/series.hpp"
#include "model/case.hpp"

namespace perfgate::bisect {

namespace {

/// A case of one side, with what its metric is.
struct Measured {
    const model::CaseResult* result = nullptr;
    const model::MetricSeries* series = nullptr;
    model::CaseIndex at;
    std::string problem;  ///< why there is no series
};

Measured measured_in(const model::Run& run, const Target& target) {
    Measured found;
    for (const model::CaseIndex& at : model::all_cases(run)) {
        const model::CaseResult& result = model::case_at(run, at);
        if (run.suites[at.suite].name != target.suite || model::case_id(result.spec) != target.id) {
            continue;
        }
        found.result = &result;
        found.at = at;
    }
    if (found.result == nullptr) {
        found.problem = "it does not have the case";
        return found;
    }
    const bool wrong = found.result->verification && !found.result->verification->passed;
    if (found.result->status != model::CaseStatus::measured || wrong) {
        found.problem = wrong ? std::string("its result is incorrect")
                              : fmt::format("{}: {}", model::to_text(found.result->status),
                                            found.result->reason);
        return found;
    }
    const auto series = found.result->metrics.find(target.metric);
    if (series == found.result->metrics.end()) {
        found.problem = fmt::format("it has no {}", target.metric);
    } else {
        found.series = &series->second;
    }
    return found;
}

}  // namespace

void Pairs::measure(runner::BackToBack& both, runner::Execution& head, std::size_t pairs) {
    both.measure_all();
    for (std::size_t look = 0; look < looks && !both.interrupted(); ++look) {
        if (look > 0) {
            pairs *= 2;
            const std::vector<model::CaseIndex> again{at_};
            if (timing_) {
                both.measure_again(again, 0, pairs);
            } else {
                both.collect_again(again, 1, looks);
            }
            if (both.interrupted()) return;
        }
        judge(head.rated(both.base_run()), head.rated(both.run()));
        // A look with three times the pairs does not change a reason any more.
        if (is_final_ || (look > 0 && !step_.why.empty())) return;
    }
}

void Pairs::judge(const model::Run& good, const model::Run& commit) {
    const Measured base = measured_in(good, target_);
    const Measured head = measured_in(commit, target_);
    if (head.series == nullptr || base.series == nullptr) {
        step_.decision = Decision::broken;
        is_final_ = true;
        step_.why = head.series == nullptr ? head.problem : "GOOD: " + base.problem;
        return;
    }
    if (!model::comparable(*base.series, *head.series)) {
        step_.decision = Decision::broken;
        is_final_ = true;
        step_.why = "its values were obtained in another way than GOOD's";
        return;
    }
    at_ = head.at;
    const model::MetricDefinition& definition = commit.metric_definitions.at(target_.metric);
    timing_ = definition.metric_class == model::MetricClass::timing;
    const double before = gate::estimate_of(*base.series);
    const double after = gate::estimate_of(*head.series);
    if (before > 0 && std::isfinite(after)) step_.change = after / before - 1;
    step_.pairs = static_cast<std::int64_t>(
        std::min(base.series->batches.size(), head.series->batches.size()));
    const Decided decided = decide(definition, target_, *base.series, *head.series, false_alarms_);
    step_.decision = decided.decision;
    step_.why = decided.why;
    is_final_ = decided.is_final;
}

}  // namespace perfgate::bisect
