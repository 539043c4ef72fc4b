// SPDX-License-Identifier: Apache-2.0
#include "gemm/checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/parallel.hpp"
#include "gemm/inputs.hpp"
#include "gemm/reference.hpp"

namespace {

using gemm::Dtype;
using gemm::Operand;
using gemm::Problem;

constexpr std::uint64_t kSeed = 2024;

// A problem, its inputs, and C as the host reference computes it (rows shared out over the cores).
struct Product {
    explicit Product(const Problem& problem) : p(problem) {
        a = inputs(Operand::kA, p.a_count());
        b = inputs(Operand::kB, p.b_count());
        c.resize(p.c_count());
        std::vector<char> stored_b(p.b_count() * gemm::element_bytes(p.dtype));
        gemm::fill_host(stored_b.data(), p.dtype, Operand::kB, kSeed, 0, p.b_count());
        constexpr int kRows = 64;
        common::parallel_for(
            static_cast<std::size_t>((p.m + kRows - 1) / kRows), 0, [&](std::size_t task) {
                const int first = static_cast<int>(task) * kRows;
                Problem part = p;
                part.m = std::min(kRows, p.m - first);
                std::vector<char> stored_a(part.a_count() * gemm::element_bytes(p.dtype));
                gemm::fill_host(stored_a.data(), p.dtype, Operand::kA, kSeed,
                                static_cast<std::size_t>(first) * static_cast<std::size_t>(p.k),
                                part.a_count());
                gemm::multiply_reference(part, stored_a.data(), stored_b.data(), &at(first, 0));
            });
    }

    std::vector<float> inputs(Operand operand, std::size_t count) const {
        std::vector<float> values(count);
        common::fill_host_widened(values.data(), p.dtype, operand, kSeed, 0, count);
        return values;
    }
    float& at(int row, int col) {
        return c[static_cast<std::size_t>(row) * static_cast<std::size_t>(p.n) +
                 static_cast<std::size_t>(col)];
    }
    float row_scale() const { return std::sqrt(static_cast<float>(p.k)) / 3.0f; }
    gemm::CheckReport check() const {
        return gemm::check_product(p, a.data(), b.data(), c.data(), 99);
    }

    Problem p;
    std::vector<float> a, b, c;
};

std::string place(int row, int col) {
    return "c[" + std::to_string(row) + ", " + std::to_string(col) + "]";
}

// Computed once: the tests change one element and put it back.
Product& odd() {
    static Product product({1023, 517, 129, Dtype::kF32});
    return product;
}
Product& large() {  // beyond the size that is checked in full
    static Product product({1536, 1536, 1536, Dtype::kBf16});
    return product;
}

std::string name_of_type(const testing::TestParamInfo<Dtype>& type) {
    return std::string(gemm::dtype_name(type.param));
}

class GemmCheckerTypes : public testing::TestWithParam<Dtype> {};
class GemmCheckerLongerTypes : public GemmCheckerTypes {};  // all but the shortest

TEST_P(GemmCheckerTypes, ARightProductPasses) {
    const Problem problems[] = {{1, 1, 1, GetParam()},
                                {32, 16, 64, GetParam()},
                                {5, 3, 700, GetParam()},
                                {129, 65, 33, GetParam()}};
    for (const Problem& problem : problems) {
        const auto report = Product(problem).check();
        EXPECT_TRUE(report.passed) << report.detail;
        EXPECT_LT(report.relative_error, 1e-6);
    }
}

// What is sampled depends on the shape alone. The products take most of this program's time.
TEST(GemmChecker, ARightProductThatIsSampledPasses) {
    for (const Problem& problem : {Problem{16, 2100, 4100, Dtype::kE4m3},    // few rows
                                   Problem{8200, 1, 16384, Dtype::kF32}}) {  // one column
        const auto report = Product(problem).check();
        EXPECT_TRUE(report.passed) << report.detail;
        EXPECT_LT(report.relative_error, 1e-6);
    }
}

// What a tensor core or a long f32 sum leaves: errors of the size that the model expects.
TEST_P(GemmCheckerTypes, RoundingOfTheExpectedSizePasses) {
    for (const Problem& problem :
         {Problem{300, 200, 400, GetParam()}, Problem{600, 700, 800, GetParam()}}) {
        Product product(problem);
        const float rms = static_cast<float>(gemm::accumulation_error(GetParam(), problem.k)) *
                          product.row_scale();
        const std::uint64_t key = common::stream_key(5, Operand::kA);
        for (std::size_t i = 0; i < product.c.size(); ++i) {
            product.c[i] += 2.0f * std::sqrt(3.0f) * rms * common::uniform(key, i);
        }
        const auto report = product.check();
        EXPECT_TRUE(report.passed) << report.detail;
    }
}

TEST_P(GemmCheckerLongerTypes, InputsOfAShorterTypeAreFound) {
    Product product({300, 200, 400, GetParam()});
    Product shorter({300, 200, 400, GetParam() == Dtype::kBf16 ? Dtype::kE4m3 : Dtype::kBf16});
    product.c = shorter.c;
    EXPECT_FALSE(product.check().passed);
}

// An element of an e4m3 product as tensor cores make it: 32 products are added at a time, and of
// the sum so many bits are kept, the rest cut off.
float sum_keeping(int bits, const Product& product, int row, int col) {
    double sum = 0.0;
    for (int first = 0; first < product.p.k; first += 32) {
        for (int i = first; i < std::min(first + 32, product.p.k); ++i) {
            sum += static_cast<double>(product.a[static_cast<std::size_t>(row * product.p.k + i)]) *
                   static_cast<double>(product.b[static_cast<std::size_t>(i * product.p.n + col)]);
        }
        int exponent = 0;
        const double mantissa = std::frexp(sum, &exponent);
        sum = std::ldexp(std::trunc(std::ldexp(mantissa, bits)), exponent - bits);
    }
    return static_cast<float>(sum);
}

TEST(GemmChecker, E4m3SumsOfFourteenBitsPassAndOfEightBitsFail) {
    Product product({64, 48, 1024, Dtype::kE4m3});
    for (const int bits : {24, 14, 8}) {
        for (int row = 0; row < product.p.m; ++row) {
            for (int col = 0; col < product.p.n; ++col) {
                product.at(row, col) = sum_keeping(bits, product, row, col);
            }
        }
        const auto report = product.check();
        EXPECT_EQ(report.passed, bits >= 14) << bits << " bits: " << report.detail;
    }
}

// What the model allows e4m3 no other type may use.
TEST(GemmChecker, SumsOfFourteenBitsFailForSixteenBitTypes) {
    Product product({64, 48, 1024, Dtype::kBf16});
    for (int row = 0; row < product.p.m; ++row) {
        for (int col = 0; col < product.p.n; ++col) {
            product.at(row, col) = sum_keeping(14, product, row, col);
        }
    }
    EXPECT_FALSE(product.check().passed);
}

INSTANTIATE_TEST_SUITE_P(AllTypes, GemmCheckerTypes,
                         testing::Values(Dtype::kF32, Dtype::kTf32, Dtype::kF16, Dtype::kBf16,
                                         Dtype::kE4m3),
                         name_of_type);
INSTANTIATE_TEST_SUITE_P(AllLongerTypes, GemmCheckerLongerTypes,
                         testing::Values(Dtype::kF32, Dtype::kTf32, Dtype::kF16, Dtype::kBf16),
                         name_of_type);

struct WrongElement {
    const char* name;
    float (*spoil)(float value, float row_scale);
};

class GemmCheckerFinds : public testing::TestWithParam<WrongElement> {
  protected:
    static void expect_found(Product& product, int row, int col) {
        float& element = product.at(row, col);
        const float right = element;
        element = GetParam().spoil(right, product.row_scale());
        const auto report = product.check();
        element = right;
        EXPECT_FALSE(report.passed) << report.detail;
        EXPECT_NE(report.detail.find(place(row, col)), std::string::npos) << report.detail;
    }
};

TEST_P(GemmCheckerFinds, OneElementOfASizeThatDividesByNothing) {
    ASSERT_TRUE(odd().check().passed);
    expect_found(odd(), 511, 300);
    expect_found(odd(), 0, 0);
    expect_found(odd(), 1022, 516);
}

TEST_P(GemmCheckerFinds, OneElementOfALargeProduct) {
    ASSERT_TRUE(large().check().passed) << large().check().detail;
    expect_found(large(), 700, 901);
    expect_found(large(), 1535, 1535);
    expect_found(large(), 1001, 77);
}

INSTANTIATE_TEST_SUITE_P(
    Wrong, GemmCheckerFinds,
    testing::Values(
        WrongElement{"Zeroed", [](float, float) { return 0.0f; }},
        WrongElement{"SignFlipped", [](float value, float) { return -value; }},
        WrongElement{"OffByOnePercent",
                     [](float value, float scale) { return value + 0.01f * scale; }},
        WrongElement{"NaN", [](float, float) { return std::numeric_limits<float>::quiet_NaN(); }},
        WrongElement{"Infinite",
                     [](float, float) { return std::numeric_limits<float>::infinity(); }}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(GemmChecker, FindsATransposedProduct) {
    for (const Problem& problem :
         {Problem{200, 200, 100, Dtype::kF16}, Problem{600, 600, 600, Dtype::kF16}}) {
        Product product(problem);
        for (int row = 0; row < problem.m; ++row) {
            for (int col = 0; col < row; ++col) {
                std::swap(product.at(row, col), product.at(col, row));
            }
        }
        EXPECT_FALSE(product.check().passed);
    }
}

TEST(GemmChecker, FindsAProductShiftedByOneElement) {
    for (const Problem& problem :
         {Problem{200, 200, 100, Dtype::kF32}, Problem{600, 600, 600, Dtype::kF32}}) {
        Product product(problem);
        std::rotate(product.c.begin(), product.c.end() - 1, product.c.end());
        EXPECT_FALSE(product.check().passed);
    }
}

TEST(GemmChecker, FindsTwoElementsThatChangedPlaces) {
    std::swap(large().at(700, 10), large().at(700, 11));
    EXPECT_FALSE(large().check().passed);
    std::swap(large().at(700, 10), large().at(700, 11));
    EXPECT_TRUE(large().check().passed);
}

TEST(GemmChecker, FindsAMissingLastStepAlongK) {
    Product product({300, 200, 129, Dtype::kF32});
    Product shorter({300, 200, 129, Dtype::kF32});
    for (int row = 0; row < 300; ++row) {
        for (int col = 0; col < 200; ++col) {
            product.at(row, col) -=
                product.a[static_cast<std::size_t>(row) * 129 + 128] *
                product.b[std::size_t{128} * 200 + static_cast<std::size_t>(col)];
        }
    }
    EXPECT_FALSE(product.check().passed);
    EXPECT_TRUE(shorter.check().passed);
}

TEST(GemmChecker, AnUnwrittenOutputIsNamedAtItsFirstElement) {
    Product product({64, 48, 32, Dtype::kF32});
    std::fill(product.c.begin(), product.c.end(), std::numeric_limits<float>::quiet_NaN());
    EXPECT_NE(product.check().detail.find("c[0, 0] is nan"), std::string::npos)
        << product.check().detail;
}

TEST(GemmChecker, TheReportDoesNotDependOnTheThreads) {
    Product& product = large();
    product.at(40, 40) = product.at(900, 900) = 1e6f;
    const auto one =
        gemm::check_product(product.p, product.a.data(), product.b.data(), product.c.data(), 1, 1);
    const auto many =
        gemm::check_product(product.p, product.a.data(), product.b.data(), product.c.data(), 1, 7);
    product = Product(product.p);
    EXPECT_EQ(one.detail, many.detail);
    EXPECT_NE(one.detail.find("c[40, 40]"), std::string::npos) << one.detail;
}

TEST(GemmChecker, InputsOfASeedAreTheFilledOnes) {
    Product product({70, 60, 50, Dtype::kTf32});
    EXPECT_TRUE(gemm::check_product_of_seed(product.p, kSeed, product.c.data()).passed);
    EXPECT_FALSE(gemm::check_product_of_seed(product.p, kSeed + 1, product.c.data()).passed);
}

TEST(GemmChecker, OneProblemsOutputsAreHeldToTheSame) {
    for (Product* const product : {&odd(), &large()}) {
        const auto check = [&] {
            return gemm::check_product_of_seed(product->p, kSeed, product->c.data());
        };
        const int row = product->p.m - 30;
        float& element = product->at(row, 300);
        const float right = element;
        element += 0.1f * product->row_scale();
        const gemm::CheckReport first = check();
        element = right;
        EXPECT_TRUE(check().passed) << check().detail;
        element += 0.1f * product->row_scale();
        const gemm::CheckReport later = check();
        element = right;
        EXPECT_FALSE(first.passed);
        EXPECT_FALSE(later.passed);
        EXPECT_NE(first.detail.find(place(row, 300)), std::string::npos) << first.detail;
        EXPECT_EQ(first.detail, later.detail);
    }
}

// More elements than are expected at a time.
TEST(GemmChecker, AWideProductOfFewTermsIsCheckedElementByElement) {
    Product product({2100, 1100, 4, Dtype::kF32});
    EXPECT_EQ(product.check().detail.rfind("all 2310000 elements", 0), 0u)
        << product.check().detail;
    product.at(2001, 1001) += 1.0f;
    const gemm::CheckReport report =
        gemm::check_product_of_seed(product.p, kSeed, product.c.data());
    EXPECT_FALSE(report.passed);
    EXPECT_NE(report.detail.find(place(2001, 1001)), std::string::npos) << report.detail;
}

// Identities that hold whatever the numbers are.
TEST(GemmReference, MultipliesByTheIdentity) {
    const Problem p{37, 37, 37, Dtype::kF32};
    std::vector<float> identity(p.a_count(), 0.0f);
    std::vector<float> b(p.b_count());
    std::vector<float> c(p.c_count());
    for (std::size_t i = 0; i < 37; ++i) identity[i * 38] = 1.0f;
    gemm::fill_host(b.data(), p.dtype, Operand::kB, 1, 0, b.size());
    gemm::multiply_reference(p, identity.data(), b.data(), c.data());
    EXPECT_EQ(c, b);
}

TEST(GemmReference, TransposingBothSidesTransposesTheProduct) {
    const Problem p{19, 150, 40, Dtype::kF32};
    const Problem q{150, 19, 40, Dtype::kF32};
    const auto transposed = [](const std::vector<float>& values, std::size_t rows,
                               std::size_t cols) {
        std::vector<float> out(values.size());
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < cols; ++j) out[j * rows + i] = values[i * cols + j];
        }
        return out;
    };
    std::vector<float> a(p.a_count()), b(p.b_count()), c(p.c_count()), d(q.c_count());
    gemm::fill_host(a.data(), p.dtype, Operand::kA, 1, 0, a.size());
    gemm::fill_host(b.data(), p.dtype, Operand::kB, 1, 0, b.size());
    gemm::multiply_reference(p, a.data(), b.data(), c.data());
    gemm::multiply_reference(q, transposed(b, 40, 150).data(), transposed(a, 19, 40).data(),
                             d.data());
    EXPECT_EQ(transposed(c, 19, 150), d);
}

}  // namespace
