// SPDX-License-Identifier: Apache-2.0
#include "launch/reference.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using launch::Problem;

constexpr std::uint64_t kSeed = 3;

std::vector<std::uint32_t> chain(const Problem& p) {
    std::vector<std::uint32_t> in(static_cast<std::size_t>(p.elements));
    std::vector<std::uint32_t> out(in.size());
    launch::fill_input(p, kSeed, in.data());
    launch::run_reference(p, in.data(), out.data());
    return out;
}

bool accepted(const Problem& p, const std::vector<std::uint32_t>& out) {
    return launch::check_chain(p, kSeed, out.data()).passed;
}

TEST(Launch, OneKernelIsOneStep) {
    const std::uint32_t in[] = {0, 1};
    std::uint32_t out[2];
    launch::run_reference({1, 2}, in, out);
    EXPECT_EQ(out[0], 1013904223u);
    EXPECT_EQ(out[1], 1013904223u + 1664525u);
}

TEST(LaunchCheck, TheClosedFormIsTheChain) {
    for (const Problem& p : {Problem{1, 1}, Problem{2, 5}, Problem{1000, 777}}) {
        EXPECT_TRUE(accepted(p, chain(p))) << p.kernels;
    }
}

TEST(LaunchCheck, FindsAKernelTooFewAndTooMany) {
    const Problem p{1000, 64};
    EXPECT_FALSE(accepted(p, chain({999, 64})));
    EXPECT_FALSE(accepted(p, chain({1001, 64})));
}

TEST(LaunchCheck, FindsKernelsInTheWrongOrder) {
    const Problem p{2, 1};
    std::vector<std::uint32_t> x(1);
    launch::fill_input(p, kSeed, x.data());
    const std::uint32_t right = launch::next_value(launch::next_value(x[0], 0), 1);
    const std::uint32_t wrong = launch::next_value(launch::next_value(x[0], 1), 0);
    EXPECT_TRUE(accepted(p, {right}));
    EXPECT_FALSE(accepted(p, {wrong}));
}

TEST(LaunchCheck, NamesTheElement) {
    const Problem p{10, 300};
    auto out = chain(p);
    out[299] = 0xffffffffu;
    const auto report = launch::check_chain(p, kSeed, out.data());
    EXPECT_FALSE(report.passed);
    EXPECT_NE(report.detail.find("x[299] is 4294967295, expected "), std::string::npos)
        << report.detail;
}

}  // namespace
