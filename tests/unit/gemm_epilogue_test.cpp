// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gemm/epilogue.hpp"
#include "gemm/epilogue_check.hpp"
#include "gemm/inputs.hpp"
#include "gemm/reference.hpp"

namespace gemm_epilogue_test {

using gemm::Dtype;
using gemm::Epilogue;
using gemm::Problem;

constexpr std::uint64_t kSeed = 2025;

TEST(GemmGelu, IsTheIdentityFarRightAndZeroFarLeft) {
    EXPECT_EQ(gemm::gelu(0.0), 0.0);
    EXPECT_NEAR(gemm::gelu(30.0), 30.0, 1e-12);
    EXPECT_NEAR(gemm::gelu(-30.0), 0.0, 1e-12);
}

TEST(GemmGelu, IsOddAroundHalfItsArgument) {
    for (double x : {0.1, 0.7, 1.5, 4.0}) {
        EXPECT_NEAR(gemm::gelu(x) - gemm::gelu(-x), x, 1e-12) << x;
    }
}

// Against x Phi(x), which the tanh form follows within 5e-4.
TEST(GemmGelu, FollowsTheNormalDistribution) {
    for (double x = -6.0; x <= 6.0; x += 0.125) {
        EXPECT_NEAR(gemm::gelu(x), 0.5 * x * std::erfc(-x / std::sqrt(2.0)), 5e-4) << x;
    }
}

// A product and what its epilogue makes of it, as float64 has them.
struct Finished {
    explicit Finished(const Problem& problem) : p(problem), product(p.c_count()), c(p.c_count()) {
        std::vector<char> a(p.a_count() * gemm::element_bytes(p.dtype));
        std::vector<char> b(p.b_count() * gemm::element_bytes(p.dtype));
        gemm::fill_host(a.data(), p.dtype, gemm::Operand::kA, kSeed, 0, p.a_count());
        gemm::fill_host(b.data(), p.dtype, gemm::Operand::kB, kSeed, 0, p.b_count());
        gemm::multiply_reference(p, a.data(), b.data(), product.data());
        const auto bias = common::widened_inputs(Dtype::kF32, gemm::Operand::kBias, kSeed,
                                                 static_cast<std::size_t>(p.n));
        for (std::size_t i = 0; i < c.size(); ++i) {
            c[i] = static_cast<float>(gemm::finish(p.epilogue, static_cast<double>(product[i]),
                                                   static_cast<double>(bias[i % bias.size()])));
        }
    }
    gemm::CheckReport check() const {
        return gemm::check_epilogue_of_seed(p, kSeed, product.data(), c.data());
    }
    float& at(int row, int col) {
        return c[static_cast<std::size_t>(row) * static_cast<std::size_t>(p.n) +
                 static_cast<std::size_t>(col)];
    }

    Problem p;
    std::vector<float> product, c;
};

class GemmEpilogue : public testing::TestWithParam<Epilogue> {
  protected:
    Problem problem(Dtype dtype) const { return {67, 130, 48, dtype, GetParam()}; }
};

TEST_P(GemmEpilogue, WhatTheReferenceMakesPasses) {
    for (Dtype dtype : {Dtype::kF32, Dtype::kTf32, Dtype::kF16, Dtype::kBf16, Dtype::kE4m3}) {
        const auto report = Finished(problem(dtype)).check();
        EXPECT_TRUE(report.passed) << report.detail;
    }
}

TEST_P(GemmEpilogue, OneWrongElementIsFoundAndNamed) {
    Finished finished(problem(Dtype::kBf16));
    for (const float wrong :
         {finished.at(41, 129) + 0.1f, std::numeric_limits<float>::quiet_NaN()}) {
        const float right = std::exchange(finished.at(41, 129), wrong);
        const auto report = finished.check();
        finished.at(41, 129) = right;
        EXPECT_FALSE(report.passed);
        EXPECT_NE(report.detail.find("c[41, 129]"), std::string::npos) << report.detail;
    }
}

TEST_P(GemmEpilogue, AnEpilogueThatWasLeftOutIsFound) {
    Finished finished(problem(Dtype::kF16));
    finished.c = finished.product;
    EXPECT_FALSE(finished.check().passed);
}

TEST_P(GemmEpilogue, AWrongProductIsFoundThoughTheEpilogueFitsIt) {
    Finished finished(problem(Dtype::kF32));
    finished.product[5] += 0.5f;
    EXPECT_FALSE(finished.check().passed);
}

INSTANTIATE_TEST_SUITE_P(Both, GemmEpilogue, testing::Values(Epilogue::kBias, Epilogue::kBiasGelu),
                         [](const auto& param) {
                             return param.param == Epilogue::kBias ? "bias" : "bias_gelu";
                         });

TEST(GemmEpilogueOrder, GeluWithoutItsBiasIsFound) {
    Finished finished({33, 64, 16, Dtype::kBf16, Epilogue::kBiasGelu});
    for (std::size_t i = 0; i < finished.c.size(); ++i) {
        finished.c[i] = static_cast<float>(gemm::gelu(static_cast<double>(finished.product[i])));
    }
    EXPECT_FALSE(finished.check().passed);
}

}  // namespace gemm_epilogue_test
