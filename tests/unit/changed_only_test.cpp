// SPDX-License-Identifier: Apache-2.0
#include "runner/changed_only.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/gate_documents.hpp"

namespace perfgate::runner {
namespace {

/// Whether a program's case that launches what its baseline does needs no other process, with
/// these metrics gated.
bool shown(const std::vector<std::string>& gated) {
    model::CaseResult result = gate::documents::measured_case();
    result.kernels.resize(1);
    result.kernels[0].name = "gemm";
    result.kernels[0].code = "c0de";
    result.kernels[0].launches = 2;
    result.memory_operations.emplace();
    result.gates.clear();
    for (const std::string& metric : gated) result.gates.push_back({metric, {}, 0});
    model::Run run = gate::documents::run_of({result});
    const auto host_time =
        gate::documents::definition("host_time", "ns", model::MetricClass::timing);
    run.metric_definitions.emplace(host_time.name, host_time);
    gate::BaselineSet baselines;
    baselines["s"].baseline = gate::documents::baseline_of(run);
    for (auto& [id, expected] : baselines["s"].baseline.cases) {
        expected.kernels = result.kernels;
        expected.memory_operations = result.memory_operations;
    }
    model::Plan plan;
    plan.suites.resize(1);
    plan.suites[0].cases.resize(1);
    plan.suites[0].cases[0].group = 0;
    return shown_by_launches(run, plan, baselines) == std::vector<model::CaseIndex>{{0, 0}};
}

TEST(ShownByLaunches, AreCasesThatGateNoTimeBesideThatOfTheirKernels) {
    EXPECT_TRUE(shown({"gpu_time"}));
    EXPECT_TRUE(shown({"gpu_time", "registers", "l2_hit_rate"}));
    EXPECT_FALSE(shown({"gpu_time", "of_no_metric"}));
    EXPECT_FALSE(shown({"registers", "host_time"}));
}

}  // namespace
}  // namespace perfgate::runner
