// SPDX-License-Identifier: Apache-2.0
// Small documents for the gate's tests: a run of one suite, "s", on one device, and its baseline.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gate/gate.hpp"
#include "model/baseline.hpp"
#include "model/case.hpp"
#include "model/run.hpp"

namespace perfgate::gate::documents {

inline model::MetricSeries series(std::vector<double> samples, std::string unit = "ns",
                                  std::string method = "event/cold") {
    model::MetricSeries result;
    result.unit = std::move(unit);
    result.method = std::move(method);
    result.value = samples.empty() ? 0 : samples.front();
    result.batches.push_back({0, "board-a", 1, std::move(samples)});
    return result;
}

inline model::MetricDefinition definition(std::string name, std::string unit,
                                          model::MetricClass metric_class,
                                          model::Direction direction = model::Direction::lower) {
    model::MetricDefinition result;
    result.name = std::move(name);
    result.unit = std::move(unit);
    result.metric_class = metric_class;
    result.direction = direction;
    return result;
}

/// A measured, verified case "gemm/tiled[m=<m>]" with gpu_time 1000 ns (3 %) and 64 registers (0
/// %).
inline model::CaseResult measured_case(std::int64_t m = 1) {
    model::CaseResult result;
    result.spec.workload = "gemm";
    result.spec.variant = "tiled";
    result.spec.params["m"] = m;
    result.place = {"suites/s.yaml", 10 + m};
    result.status = model::CaseStatus::measured;
    result.verification = model::Verification{true, 7, "checked"};
    result.wall_s = 0.25;
    result.gates = {{"gpu_time", {0.03, std::nullopt, 0}, 0.02}, {"registers", {}, 0}};
    result.metrics["gpu_time"] = series({1000});
    result.metrics["registers"] = series({64}, "registers", "record");
    return result;
}

inline model::Device device() {
    model::Device result;
    result.key = "nvidia-h100-80gb-hbm3";
    result.name = "NVIDIA H100 80GB HBM3";
    result.chip = "GH100";
    result.compute_capability = "9.0";
    result.memory_bytes = 85'000'000'000;
    result.board = "board-a";
    return result;
}

inline model::Run run_of(std::vector<model::CaseResult> cases) {
    model::Run run;
    run.tool_version = "0.1.0";
    run.git_revision = "abc";
    run.started_at = "2026-11-21T10:00:00Z";
    run.wall_s = 2;
    run.backend = "cuda";
    run.environment.device = device();
    run.environment.driver = "580.1";
    run.environment.cuda_toolkit = "13.0";
    run.environment.cupti = "130001";
    using model::MetricClass;
    for (const auto& metric :
         {definition("gpu_time", "ns", MetricClass::timing),
          definition("registers", "registers", MetricClass::exact),
          definition("spill_sectors", "count", MetricClass::exact),
          definition("l2_hit_rate", "%", MetricClass::counter, model::Direction::higher),
          definition("sm_clock", "Hz", MetricClass::counter, model::Direction::none)}) {
        run.metric_definitions.emplace(metric.name, metric);
    }
    model::SuiteResult suite;
    suite.name = "s";
    suite.file = "suites/s.yaml";
    suite.cases = std::move(cases);
    run.suites.push_back(std::move(suite));
    return run;
}

/// As if the run's cases had been measured on another board.
inline void move_to_board(const std::string& board, model::Run& run) {
    run.environment.device.board = board;
    for (model::SuiteResult& suite : run.suites) {
        for (model::CaseResult& result : suite.cases) {
            for (auto& [name, metric] : result.metrics) {
                for (model::Batch& batch : metric.batches) batch.device = board;
            }
        }
    }
}

/// What refreshing from `run` as it stands would store.
inline model::Baseline baseline_of(const model::Run& run) {
    model::Baseline baseline;
    baseline.suite = "s";
    baseline.device = run.environment.device;
    baseline.device.board.clear();
    for (const model::CaseResult& result : run.suites.front().cases) {
        model::BaselineCase& stored = baseline.cases[model::case_id(result.spec)];
        stored.provenance = {"board-a", "580.1",        "13.0", "130001", "0.1.0",
                             "abc",     run.started_at, "",     ""};
        stored.metrics = result.metrics;
        stored.measured_as = result.measured_as;
    }
    return baseline;
}

inline BaselineSet stored(model::Baseline baseline) {
    BaselineSet set;
    set["s"] = {"baselines/d/s.json", std::move(baseline)};
    return set;
}

}  // namespace perfgate::gate::documents
