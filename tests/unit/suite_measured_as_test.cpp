// SPDX-License-Identifier: Apache-2.0
// What decides what a case measures: any change of it is seen, and none of what does not.

#include <gtest/gtest.h>

#include "suite/plan.hpp"
#include "suite/suite.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* whole = R"(name: s
workloads:
  - command: [./app, "{size}", "a b"]
    name: app
    env: {MODE: fast}
    cwd: build/
    timeout: 90s
    exit: 3
    warmup: 2
    capture: {after_launches: 7}
    max_overhead: 10%
    matrix: {size: [8]}
    measure:
      step: {nvtx: step*, threads: own, skip: 3}
    tolerances: {step.gpu_time: 2%, program.wall_time: 5%}
    check: [./verify]
  - command: [./count]
    name: counted
    measure:
      flash: {kernel: "*flash*", within: step, grid: 64, count: 2}
    tolerances: {flash.instructions: 0}
  - benchmark: [./bench, "{out}"]
    name: bench
    format: json
    rows: /rows/*
    case: /name
    axes: {n: /n}
    values:
      real_time: {from: /seconds, unit: s}
      rate: {from: /rate, unit: GB/s}
    tolerances: {real_time: 5%}
  - source: scale.cu
    kernel: scale
    launch: {grid: 4, block: 128}
    arguments:
      - {in: f32, size: 512}
      - {inout: u8, size: 3, fill: 7}
      - {out: f32, size: 512}
      - {i32: 512}
      - {f32: 0.5}
    work: {flops: 512, bytes: 4096, type: f32}
    metrics: [gpu_time]
    tolerances: {gpu_time: 3%}
  - workload: copy
    variants: [plain]
    metrics: [gpu_time]
    params: {bytes: 1}
    tolerances: {gpu_time: 3%}
)";

enum Case { step, program, flash, result, source, plugin };
constexpr int cases = 6;

model::MeasuredAs measured_as(const std::string& yaml, int index) {
    const Suite suite = parse_suite(yaml, "s.yaml", test::workloads());
    const model::PlannedSuite planned = plan_suite(suite, {}).suite;
    EXPECT_EQ(planned.cases.size(), static_cast<std::size_t>(cases));
    return planned.cases.at(static_cast<std::size_t>(index)).measured_as;
}

std::string edited(const std::string& old_text, const std::string& new_text) {
    std::string yaml = whole;
    const std::size_t at = yaml.find(old_text);
    EXPECT_NE(at, std::string::npos) << old_text;
    return at == std::string::npos ? yaml : yaml.replace(at, old_text.size(), new_text);
}

/// What the gate says of the edit, case by case.
std::vector<std::string> changes(const std::string& old_text, const std::string& new_text) {
    std::vector<std::string> all;
    for (int i = 0; i < cases; ++i) {
        all.push_back(
            model::difference(measured_as(whole, i), measured_as(edited(old_text, new_text), i)));
    }
    return all;
}

TEST(SuiteMeasuredAs, OfEachKindOfCase) {
    EXPECT_EQ(measured_as(whole, step),
              (model::MeasuredAs{{"command", "./app 8 'a b'"},
                                 {"env.MODE", "fast"},
                                 {"cwd", "build"},
                                 {"exit", "3"},
                                 {"warmup", "2"},
                                 {"capture", "after_launches 7"},
                                 {"measure", "nvtx 'step*', skip 3, own thread"}}));
    EXPECT_EQ(measured_as(whole, flash).at("measure"),
              "kernel '*flash*' with grid 64x1x1 within step, count 2");
    EXPECT_FALSE(measured_as(whole, program).contains("measure"));
    EXPECT_EQ(measured_as(whole, result),
              (model::MeasuredAs{{"command", "./bench '{out}'"},
                                 {"format", "json"},
                                 {"rows", "/rows/*"},
                                 {"case", "/name"},
                                 {"axes.n", "/n"},
                                 {"values.real_time", "/seconds, times 1000000000, ns"},
                                 {"values.rate", "/rate, times 1000000000, bytes/s"},
                                 {"values.rate.better", "higher"}}));
    EXPECT_EQ(measured_as(whole, source),
              (model::MeasuredAs{{"arguments",
                                  "in f32[512] uniform, inout u8[3] constant 7, out f32[512], "
                                  "value i32 512, value f32 0.5"},
                                 {"work", "flops 512 f32, bytes 4096"}}));
    EXPECT_TRUE(measured_as(whole, plugin).empty()) << "its id says it all";
}

TEST(SuiteMeasuredAs, WhateverDecidesWhatIsMeasuredIsInIt) {
    const auto of_app = [](const std::string& text) { return Texts{text, text, "", "", "", ""}; };
    EXPECT_EQ(changes("a b", "a  b"), of_app("command ./app 8 'a b' → ./app 8 'a  b'"));
    EXPECT_EQ(changes("fast}", "slow}"), of_app("env.MODE fast → slow"));
    EXPECT_EQ(changes("MODE: fast", "MODE: fast, X: 1"), of_app("env.X not stated → 1"));
    EXPECT_EQ(changes("MODE: fast", "MODE: fast, X: not stated"),
              of_app("env.X not stated → not stated"))
        << "a value of these words is a value";
    EXPECT_EQ(changes("cwd: build/", "cwd: other"), of_app("cwd build → other"));
    EXPECT_EQ(changes("exit: 3", "exit: 0"), of_app("exit 3 → not stated"));
    EXPECT_EQ(changes("warmup: 2", "warmup: 1"), of_app("warmup 2 → 1"));
    EXPECT_EQ(changes("warmup: 2", "warmup: 2\n    gpus: 2"), of_app("gpus not stated → 2"));
    EXPECT_EQ(changes("warmup: 2", "warmup: 2\n    gpus: all"), of_app("gpus not stated → all"));
    EXPECT_EQ(changes("after_launches: 7", "after_launches: 9"),
              of_app("capture after_launches 7 → after_launches 9"));
    for (const auto& [old_text, new_text] :
         {std::pair{"nvtx: step*", "nvtx: s*"}, std::pair{"skip: 3", "skip: 1"},
          std::pair{"own", "all"},
          std::pair{"nvtx: step*, threads: own, skip: 3", "kernel: step*, skip: 3"}}) {
        EXPECT_TRUE(changes(old_text, new_text)[step].starts_with("measure ")) << new_text;
        EXPECT_EQ(changes(old_text, new_text)[program], "") << "only the label's case";
    }
    for (const auto& [old_text, new_text] :
         {std::pair{"within: step", "within: s"}, std::pair{"grid: 64", "grid: 8"},
          std::pair{"count: 2", "count: 3"}}) {
        EXPECT_TRUE(changes(old_text, new_text)[flash].starts_with("measure ")) << new_text;
    }
    const auto of_bench = [](const std::string& text) { return Texts{"", "", "", text, "", ""}; };
    EXPECT_EQ(changes("/rows/*", "/runs/*"), of_bench("rows /rows/* → /runs/*"));
    EXPECT_EQ(changes("case: /name", "case: /id"), of_bench("case /name → /id"));
    EXPECT_EQ(changes("n: /n}", "n: /m}"), of_bench("axes.n /n → /m"));
    EXPECT_EQ(changes("from: /rate", "from: /best"),
              of_bench("values.rate /rate, times 1000000000, bytes/s → /best, times 1000000000, "
                       "bytes/s"));
    EXPECT_EQ(changes("unit: GB/s}", "unit: GB/s, better: lower}"),
              of_bench("values.rate.better higher → lower"));
    EXPECT_EQ(
        changes("unit: s}", "unit: ms}"),
        of_bench("values.real_time /seconds, times 1000000000, ns → /seconds, times 1000000, ns"));
    for (const auto& [old_text, new_text] :
         {std::pair{"in: f32, size: 512", "in: f32, size: 64"}, std::pair{"fill: 7", "fill: iota"},
          std::pair{"fill: 7", "fill: 8"}, std::pair{"i32: 512", "i32: 64"},
          std::pair{"in: f32", "in: f64"}}) {
        EXPECT_TRUE(changes(old_text, new_text)[source].starts_with("arguments ")) << new_text;
    }
    EXPECT_TRUE(changes("flops: 512", "flops: 1024")[source].starts_with("work "));
}

TEST(SuiteMeasuredAs, HowCloselyItIsMeasuredAndJudgedIsNot) {
    const std::vector<std::string> none(cases);
    for (const auto& [old_text, new_text] :
         {std::pair{"gpu_time: 2%", "gpu_time: 50%"}, std::pair{"90s", "10s"},
          std::pair{"max_overhead: 10%", "max_overhead: 20%"}, std::pair{"[./verify]", "[./check]"},
          std::pair{"cwd: build/", "cwd: ./build"},
          std::pair{"rate: {from: /rate, unit: GB/s}", "misses: {from: /m, better: lower}"},
          std::pair{"grid: 4, block: 128", "grid: 2, block: 256"},
          std::pair{"    work: {flops: 512, bytes: 4096, type: f32}\n", ""}}) {
        EXPECT_EQ(changes(old_text, new_text), none) << new_text;
    }
}

}  // namespace
}  // namespace perfgate::suite
