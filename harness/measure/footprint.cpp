// SPDX-License-Identifier: Apache-2.0
#include "measure/footprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "measure/batches.hpp"
#include "metrics/catalogue.hpp"

namespace perfgate::measure {

namespace {

bool requests(const CaseSettings& settings, std::string_view metric) {
    return std::find(settings.metrics.begin(), settings.metrics.end(), metric) !=
           settings.metrics.end();
}

void add_value(const char* metric, double value, const std::string& method,
               const std::string& board, const CaseSettings& settings, model::CaseResult& result) {
    result.metrics[metric] = series_of_one(metrics::find_metric(metric)->definition, value, method,
                                           {settings.process, board, settings.seed, {}});
}

}  // namespace

void add_api_calls(Case& opened, const std::string& board, const CaseSettings& settings,
                   model::CaseResult& result) {
    if (!requests(settings, metrics::api_calls)) return;
    ApiCalls calls = opened.api_calls();
    if (!calls.problem.empty()) {
        result.not_collected.push_back({metrics::api_calls, std::move(calls.problem)});
        return;
    }
    double sum = 0;
    std::string detail;
    for (const auto& [name, count] : calls.by_name) {
        sum += static_cast<double>(count);
        detail += fmt::format("{}{} {}", detail.empty() ? "" : ", ", name, count);
    }
    add_value(metrics::api_calls, sum, calls.method, board, settings, result);
    result.metrics[metrics::api_calls].detail = std::move(detail);
}

void add_memory(Backend& backend, const std::string& board, const CaseSettings& settings,
                model::CaseResult& result) {
    const bool peak = requests(settings, metrics::memory_peak);
    const bool leak = requests(settings, metrics::leak);
    if (!peak && !leak) return;
    const MemorySample sample =
        backend.memory(result.spec, settings.kernel ? &*settings.kernel : nullptr, settings.seed);
    const auto add = [&](const char* metric, double value, const std::string& problem) {
        if (problem.empty()) {
            add_value(metric, value, sample.method, board, settings, result);
        } else {
            result.not_collected.push_back({metric, problem});
        }
    };
    if (!sample.note.empty()) result.notes.push_back("device memory: " + sample.note);
    if (peak) add(metrics::memory_peak, sample.peak_bytes, sample.problem);
    if (!leak) return;
    const std::string& why_not = sample.problem.empty() ? sample.leak_problem : sample.problem;
    add(metrics::leak, sample.leaked_bytes, why_not);
    if (why_not.empty()) {
        constexpr std::int64_t all = 1000;
        result.metrics[metrics::leak].detail = fmt::format(
            "over {} launches{}", sample.launches, sample.launches < all ? ", scaled to 1000" : "");
    }
}

}  // namespace perfgate::measure
