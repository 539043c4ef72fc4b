// SPDX-License-Identifier: Apache-2.0
// What the gate's tests share: a case and its baseline, to be changed, and looking at the verdict.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "gate/gate.hpp"
#include "median_rule.hpp"
#include "unit/gate_documents.hpp"
#include "util/error.hpp"

namespace perfgate::gate::pairs {

using documents::baseline_of;
using documents::measured_case;
using documents::run_of;
using documents::series;
using documents::stored;
using model::CaseResult;
using model::CaseStatus;
using model::CaseVerdict;
using model::MetricVerdict;
using model::Policy;
using model::Verdict;
using model::VerdictDocument;

inline constexpr const char* first_id = "gemm/tiled[m=1]";

inline VerdictDocument judged(const model::Run& run, const BaselineSet& baselines = {},
                              const Policy& policy = {}) {
    return judge(run, baselines, policy, MedianRule());
}

inline const CaseVerdict& only_case(const VerdictDocument& document) {
    EXPECT_EQ(document.suites.size(), 1U);
    EXPECT_EQ(document.suites.at(0).cases.size(), 1U);
    return document.suites.at(0).cases.at(0);
}

inline const MetricVerdict& metric(const CaseVerdict& verdict, std::string_view name) {
    for (const MetricVerdict& candidate : verdict.metrics) {
        if (candidate.metric == name) return candidate;
    }
    throw std::runtime_error("no verdict of metric " + std::string(name));
}

/// Processes of one sample each, evenly over this share of the centre.
inline model::MetricSeries processes(double centre, double spread, std::size_t count,
                                     std::string unit = "ns", std::string method = "m") {
    model::MetricSeries result = series({}, std::move(unit), std::move(method));
    result.batches.clear();
    for (std::size_t i = 0; i < count; ++i) {
        const double position = (static_cast<double>(i) + 0.5) / static_cast<double>(count) - 0.5;
        result.batches.push_back(
            {static_cast<std::int64_t>(i), "board-a", 1, {centre * (1 + spread * position)}});
    }
    result.value = centre;
    return result;
}

/// Runs and baselines of one case, as accepted, to be changed by a test.
struct Pair {
    model::Run run = run_of({measured_case()});
    model::Baseline baseline = baseline_of(run);

    CaseResult& now() { return run.suites[0].cases[0]; }
    model::BaselineCase& then() { return baseline.cases.at(first_id); }
    VerdictDocument judged(const Policy& policy = {}) const {
        return gate::judge(run, stored(baseline), policy, MedianRule());
    }
};

inline std::string error_of(const model::Run& run, const BaselineSet& baselines) {
    try {
        judged(run, baselines);
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "no InputError";
}

inline bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace perfgate::gate::pairs
