// SPDX-License-Identifier: Apache-2.0
#include "measure/ceiling_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "metrics/catalogue.hpp"
#include "model/roofline.hpp"
#include "stats/quantiles.hpp"

namespace perfgate::measure {

namespace {

bool is_request(const model::NotCollected& entry) {
    return entry.metric == metrics::ceiling_share;
}

/// Only measured cases have one.
bool has_request(const model::CaseResult& result) {
    return result.status == model::CaseStatus::measured &&
           std::any_of(result.not_collected.begin(), result.not_collected.end(), is_request);
}

/// Why the case cannot have it; empty: it can.
std::string obstacle(const model::CaseResult& result, const model::Ceilings& ceilings) {
    if (!result.work) {
        return fmt::format(
            "the workload states no work: {}, or leave ceiling_share out of 'metrics' for it",
            model::where_to_state_work);
    }
    const model::MetricSeries* time = model::device_time(result);
    if (time == nullptr) return "the case has neither gpu_time nor gpu_span";
    for (const model::Batch& batch : time->batches) {
        for (const double sample : batch.samples) {
            if (!(sample > 0)) return "the case has a time of 0";
        }
    }
    return model::missing_ceiling(*result.work, ceilings);
}

/// In %, of a time in ns. There is no obstacle.
double share_of(const model::Work& work, double time_ns, const model::Ceilings& ceilings) {
    const auto placed = model::ceiling_share(work, time_ns * 1e-9, ceilings);
    return placed ? 100 * placed->share : 0;
}

model::MetricSeries shares_of(const model::CaseResult& result, const model::Ceilings& ceilings) {
    model::MetricSeries series = *model::device_time(result);
    series.unit = "%";
    series.method.of_ceiling = true;
    for (model::Batch& batch : series.batches) {
        for (double& sample : batch.samples) sample = share_of(*result.work, sample, ceilings);
    }
    const std::vector<double> samples = model::all_samples(series);
    series.value =
        samples.empty() ? share_of(*result.work, series.value, ceilings) : stats::median(samples);
    return series;
}

}  // namespace

void ask_for_ceiling_share(model::CaseResult& result) {
    result.not_collected.push_back(
        {metrics::ceiling_share, "the run ended before its ceilings were measured"});
}

bool asks_for_ceilings(const model::Run& run) {
    return std::any_of(run.suites.begin(), run.suites.end(), [](const model::SuiteResult& suite) {
        return std::any_of(suite.cases.begin(), suite.cases.end(), has_request);
    });
}

bool ceilings_bound_any(const model::Run& run) {
    const auto is_bound = [](const model::CaseResult& result) {
        return result.command.empty() ||
               std::ranges::find(result.gates, "bus_bandwidth", &model::GateRule::metric) !=
                   result.gates.end();
    };
    return std::any_of(run.suites.begin(), run.suites.end(), [&](const model::SuiteResult& suite) {
        return std::any_of(suite.cases.begin(), suite.cases.end(), is_bound);
    });
}

void add_ceiling_shares(model::Run& run) {
    for (model::SuiteResult& suite : run.suites) {
        for (model::CaseResult& result : suite.cases) {
            if (!has_request(result)) continue;
            std::string why = obstacle(result, run.environment.ceilings);
            std::erase_if(result.not_collected, is_request);
            if (why.empty()) {
                result.metrics[metrics::ceiling_share] =
                    shares_of(result, run.environment.ceilings);
            } else {
                result.not_collected.push_back({metrics::ceiling_share, std::move(why)});
            }
        }
    }
}

}  // namespace perfgate::measure
