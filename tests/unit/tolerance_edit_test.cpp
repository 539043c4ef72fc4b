// SPDX-License-Identifier: Apache-2.0
#include "suite/tolerance_edit.hpp"

#include <gtest/gtest.h>

#include <string>

namespace perfgate::suite {
namespace {

// Every byte that is not the number must stay.
const std::string suite = R"(# of the team
name: training
workloads:
  - command: ["python3", 'train.py']   # no shell
    name: train
    measure: {data: {nvtx: data}, step: {nvtx: "step"}}
    tolerances:
      step.gpu_time: 5%     # device
      data.span:  "20%"
      step.span: {worse: 10%, severity: warn}
      data.idle_share: 2pt
  - {benchmark: [./bench], name: bench, tolerances: {real_time: 5%}}
)";

std::string with(std::string text, const std::string& old, const std::string& now) {
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), now);
}

TEST(ToleranceEdit, OnlyTheStatedNumberChanges) {
    const Position train{4, 5};
    EXPECT_EQ(with_stated_tolerance(suite, train, {"step.gpu_time"}, "7.5%"),
              with(suite, "step.gpu_time: 5%", "step.gpu_time: 7.5%"));
    EXPECT_EQ(with_stated_tolerance(suite, train, {"data.span"}, "36%"),
              with(suite, "\"20%\"", "\"36%\""));
    EXPECT_EQ(with_stated_tolerance(suite, train, {"step.span"}, "36%"),
              with(suite, "worse: 10%", "worse: 36%"));
    EXPECT_EQ(with_stated_tolerance(suite, train, {"data.idle_share"}, "9pt"),
              with(suite, "2pt", "9pt"));
    EXPECT_EQ(with_stated_tolerance(suite, {13, 5}, {"a.real_time", "real_time"}, "9%"),
              with(suite, "real_time: 5%", "real_time: 9%"));
}

TEST(ToleranceEdit, WhatTheEntryDoesNotStateIsNotFound) {
    EXPECT_FALSE(with_stated_tolerance(suite, {4, 5}, {"step.kernels"}, "1%"));
    EXPECT_FALSE(with_stated_tolerance(suite, {13, 5}, {"step.gpu_time"}, "1%"));
    EXPECT_FALSE(with_stated_tolerance("name: a\n", {1, 1}, {"gpu_time"}, "1%"));
}

TEST(ToleranceEdit, AnOverrideIsAddedAtTheEnd) {
    EXPECT_EQ(with_override(suite, "bench/sort[n=8]", {{"real_time", "9%"}, {"bytes", "1%"}}),
              suite + R"(
overrides:
  - match: "bench/sort[n=8]"
    tolerances: {real_time: 9%, bytes: 1%}
)");
    EXPECT_EQ(with_override("a: 1\r\nb: 2", "x\"y", {{"t", "1%"}}),
              "a: 1\r\nb: 2\r\n\r\noverrides:\r\n  - match: \"x\\\"y\"\r\n    tolerances: {t: "
              "1%}\r\n");
}

TEST(ToleranceEdit, AnOverrideComesBehindTheOthers) {
    const std::string head = R"(name: a
overrides:
- match: "a*"
  tolerances: {t: 1%}   # why

)";
    const std::string tail = "# of the workloads\nworkloads: []\n";
    const std::string added = "- match: \"b\"\n  tolerances: {t: 2%}\n";
    EXPECT_EQ(with_override(head + tail, "b", {{"t", "2%"}}),
              with(head, "# why\n", "# why\n" + added) + tail);
    const std::string last = "workloads: []\noverrides:\n    - match: a\n      skip: no\n";
    EXPECT_EQ(with_override(last, "b", {{"t", "2%"}}),
              last + "    - match: \"b\"\n      tolerances: {t: 2%}\n");
}

}  // namespace
}  // namespace perfgate::suite
