// SPDX-License-Identifier: Apache-2.0
// A case as the gate hands it on, from values before and after.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/explain.hpp"
#include "metrics/catalogue.hpp"

namespace perfgate::explain::documents {

struct Change {
    double before = 0, after = 0;
};
using Changes = std::map<std::string, Change>;

struct Case {
    model::CaseVerdict verdict;
    model::CaseResult result;
};

/// A case whose gpu_time was judged; no clocks known.
inline Case timed(model::Verdict judged, Change gpu_time, const Changes& counters) {
    Case made;
    made.verdict.id = "gemm/tiled[m=1]";
    made.verdict.verdict = judged;
    model::MetricVerdict& time = made.verdict.metrics.emplace_back();
    time.metric = "gpu_time";
    time.unit = "ns";
    time.verdict = judged;
    time.baseline = gpu_time.before;
    time.measured = gpu_time.after;
    made.result.status = model::CaseStatus::measured;
    for (const auto& [name, change] : counters) {
        const auto metric = metrics::find_metric(name);
        const std::string unit = metric ? metric->definition.unit : "count";
        made.verdict.baseline_values[name] = change.before;
        made.result.metrics[name] = {unit, change.after, "counter/cold", {}};
    }
    return made;
}

inline Case slower(const Changes& counters) {
    return timed(model::Verdict::regressed, {1e5, 1.2e5}, counters);
}
inline Case faster(const Changes& counters) {
    return timed(model::Verdict::improved, {1.2e5, 1e5}, counters);
}
inline Case unmoved(const Changes& counters) {
    return timed(model::Verdict::pass, {1e5, 1e5}, counters);
}

inline Changes swapped(Changes changes) {
    for (auto& [name, change] : changes) std::swap(change.before, change.after);
    return changes;
}

inline std::vector<model::Cause> why(const Case& made) {
    return explain_case(made.verdict, made.result, {});
}

inline const model::Cause* find(const std::vector<model::Cause>& causes, std::string_view rule) {
    const auto found = std::find_if(causes.begin(), causes.end(),
                                    [&](const model::Cause& cause) { return cause.rule == rule; });
    return found == causes.end() ? nullptr : &*found;
}

}  // namespace perfgate::explain::documents
