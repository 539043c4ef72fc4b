// SPDX-License-Identifier: Apache-2.0
#include "gate/limits.hpp"

#include "gate/sentence.hpp"

namespace perfgate::gate {

void Limits::add(std::size_t suite, const std::string& id,
                 const model::MetricDefinition& definition, const Judgement& judgement) {
    OfMetric& limits = by_metric_[{suite, definition.name}];
    if (judgement.basis == Basis::one_process &&
        definition.metric_class == model::MetricClass::timing) {
        ++limits.one_process;
    }
    if (judgement.doubt == model::Doubt::not_shown) {
        ++limits.not_shown;
        const auto width = [](const model::ChangeInterval& interval) {
            return interval.high - interval.low;
        };
        if (judgement.interval &&
            (!limits.widest || width(*judgement.interval) > width(*limits.widest))) {
            limits.widest = judgement.interval;
            limits.widest_id = id;
        }
    }
    if (!judgement.tolerance_is_finer || !judgement.minimum_detectable_change) return;
    ++limits.finer;
    if (*judgement.minimum_detectable_change <= limits.worst) return;
    limits.worst = *judgement.minimum_detectable_change;
    limits.worst_id = id;
}

void Limits::note(std::vector<model::SuiteVerdict>& suites) const {
    for (const auto& [key, limits] : by_metric_) {
        const auto& [suite, metric] = key;
        if (limits.one_process > 0) {
            suites[suite].notes.push_back(one_process_note(metric, limits.one_process));
        }
        if (limits.not_shown > 0) {
            suites[suite].notes.push_back(
                not_shown_note(metric, limits.not_shown, limits.widest, limits.widest_id));
        }
        if (limits.finer > 0) {
            suites[suite].notes.push_back(
                finer_note(metric, limits.finer, limits.worst, limits.worst_id));
        }
    }
}

}  // namespace perfgate::gate
