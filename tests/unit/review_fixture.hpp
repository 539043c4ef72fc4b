// SPDX-License-Identifier: Apache-2.0
// A suite, its config and its baseline, and what review finds where one of them is edited.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "document/baseline.hpp"
#include "review/review.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::review::review_fixture {

inline constexpr const char* suite_text = R"(name: gemm
defaults:
  metrics: [gpu_time, registers]
  tolerances: {gpu_time: 3%, registers: {worse: 0%, abs: 2}}
workloads:
  - workload: gemm
    variants: [naive, tiled]
    tags: [quick, nightly]
    params: {m: 64, n: 64}
    matrix: {k: [64, 128]}
expect:
  gemm/tiled.gpu_time: "<= 0.5 * gemm/naive.gpu_time"
)";
inline constexpr const char* profile_text = R"(backend: cuda
policy: {no_baseline: fail, inconclusive: fail, false_alarms: 1%, changed: {driver: refuse}}
junit_profile: strict
baselines: baselines
processes: 8
creep: 5%
canary: true
prove: true
)";
inline constexpr const char* suite_path = "suites/gemm.yaml";
inline constexpr const char* profile_path = "configs/ci.yaml";
inline constexpr const char* baseline_path = "baselines/nvidia-x/gemm.json";
inline constexpr const char* ledger_path = "baselines/nvidia-x/gemm.ledger.jsonl";

inline model::MetricSeries series(double value) {
    model::Batch batch;
    batch.device = "b888";
    batch.samples = {value, value, value};
    model::Batch other = batch;
    other.process = 1;
    other.samples = {value * 1.25, value, value * 0.75};
    return {"ns", value, "activity/cold", {batch, other}};
}

inline model::Baseline baseline() {
    model::Baseline result;
    result.suite = "gemm";
    result.device.key = "nvidia-x";
    model::BaselineCase expected;
    expected.metrics["gpu_time"] = series(100);
    expected.metrics["ipc"] = series(2);
    expected.metrics["ipc"].unit = "ratio";
    expected.acknowledged["gpu_time"] = {"2026-12-31", "ada", "known", series(120)};
    expected.anchors["gpu_time"] = 90;
    result.cases["gemm/naive[k=64]"] = expected;
    result.cases["gemm/tiled[k=64]"] = expected;
    return result;
}

inline Files files() {
    return {
        {suite_path, {FileRole::suite, suite_text, ""}},
        {profile_path, {FileRole::profile, profile_text, ""}},
        {baseline_path, {FileRole::baseline, document::write_baseline(baseline()), ""}},
        {ledger_path, {FileRole::ledger, "head\nfirst\nsecond\n", ""}},
    };
}

inline std::vector<Finding> reviewed(const Files& before, const Files& after) {
    return review(before, after, suite::test::workloads()).findings;
}

/// The files with `from` replaced once in one of them.
inline Files edited(const std::string& path, const std::string& from, const std::string& to,
                    Files result = files()) {
    std::string& text = result.at(path).content;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    return result;
}

inline std::vector<Finding> of_edit(const std::string& path, const std::string& from,
                                    const std::string& to) {
    return reviewed(files(), edited(path, from, to));
}

/// "tolerance raised gpu_time: 3 % → 5 % (4)": with the number of cases.
inline std::string in_words(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        if (!text.empty()) text += "; ";
        text += std::string(to_text(finding.kind)) + ' ' + finding.subject + ": " + finding.before +
                " → " + finding.after;
        if (!finding.cases.empty()) text += " (" + std::to_string(finding.cases.size()) + ')';
    }
    return text;
}

/// What is found where a text of a suite is replaced.
inline std::string found_in(const std::string& suite, const std::string& was,
                            const std::string& is) {
    std::string after = suite;
    after.replace(after.find(was), was.size(), is);
    Files before_files, after_files;
    before_files["suites/mine.yaml"] = {FileRole::suite, suite, ""};
    after_files["suites/mine.yaml"] = {FileRole::suite, after, ""};
    return in_words(reviewed(before_files, after_files));
}

}  // namespace perfgate::review::review_fixture
