// SPDX-License-Identifier: Apache-2.0
#include "transfer/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using transfer::Problem;

constexpr std::uint64_t kSeed = 9;

std::vector<float> input(const Problem& p) {
    std::vector<float> in(p.count());
    transfer::fill_input(p, kSeed, in.data());
    return in;
}

std::vector<float> result(const Problem& p) {
    const auto in = input(p);
    std::vector<float> out(in.size());
    transfer::run_reference(p, in.data(), out.data());
    return out;
}

bool accepted(const Problem& p, const std::vector<float>& out) {
    return transfer::check_result(p, kSeed, out.data()).passed;
}

TEST(TransferCheck, TheClosedFormIsTheLoop) {
    const auto report = transfer::check_result({1, 300}, kSeed, result({1, 300}).data());
    EXPECT_TRUE(report.passed) << report.detail;
    EXPECT_LT(report.worst_share, 0.5);  // of rounding the result to f32
}

TEST(TransferCheck, AcceptsTheLoopInF32) {
    const Problem p{1, 300};
    auto x = input(p);
    for (float& value : x) {
        for (int step = 0; step < p.steps; ++step) {
            value = std::fma(transfer::kFactor, value, transfer::kTerm);
        }
    }
    const auto report = transfer::check_result(p, kSeed, x.data());
    EXPECT_TRUE(report.passed) << report.detail;
}

TEST(TransferCheck, FindsAStepTooFew) {
    EXPECT_FALSE(accepted({1, 300}, result({1, 299})));
}

TEST(TransferCheck, FindsTheInputThatCameBackUnchanged) {
    const Problem p{1, 300};
    EXPECT_FALSE(accepted(p, input(p)));
}

TEST(TransferCheck, FindsWhatDidNotComeBackAndNamesIt) {
    const Problem p{1, 1};
    auto out = result(p);
    out[200000] = std::numeric_limits<float>::quiet_NaN();
    const auto report = transfer::check_result(p, kSeed, out.data());
    EXPECT_FALSE(report.passed);
    EXPECT_NE(report.detail.find("x[200000] is "), std::string::npos) << report.detail;
}

TEST(TransferCheck, FindsPartsThatChangedPlaces) {
    const Problem p{1, 1};
    auto out = result(p);
    std::swap_ranges(out.begin(), out.begin() + 1000, out.begin() + 1000);
    EXPECT_FALSE(accepted(p, out));
}

}  // namespace
