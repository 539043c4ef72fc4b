// SPDX-License-Identifier: Apache-2.0
// What plugins verify with: a comparison that lets a wrong result pass would hide it from the gate,
// and so would an output that still holds what an earlier launch wrote.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "perfgate.hpp"
#include "perfgate_verify.hpp"

namespace perfgate::sdk {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

const auto index = [](std::size_t i) { return static_cast<double>(i); };

HostBuffer<float> counted_to(std::size_t size) {
    HostBuffer<float> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i);
    return values;
}

TEST(SdkElementwise, PassesWhatIsEqualOrWithinItsTolerance) {
    HostBuffer<float> values = counted_to(1000);
    const Verification same = elementwise(values, index);
    EXPECT_TRUE(same.passed);
    EXPECT_EQ(same.detail, "all 1000 elements compared, largest error 0 of its tolerance");
    values[999] *= 1 + 9e-6F;
    EXPECT_TRUE(elementwise(values, index).passed);
    values[0] = 1e-7F;
    EXPECT_FALSE(elementwise(values, index).passed) << "a share of 0 is 0";
    Limits limits;
    limits.absolute = 1e-6;
    EXPECT_TRUE(elementwise(values, index, limits).passed);
}

TEST(SdkElementwise, NamesTheFirstThatIsWrongAndHowMany) {
    HostBuffer<float> values = counted_to(1000);
    values[17] = 18;
    values[600] = nan;
    const Verification found = elementwise(values, index);
    EXPECT_FALSE(found.passed);
    EXPECT_EQ(found.detail,
              "element 17 is 18, expected 17 within 0.00017; 2 wrong, all 1000 elements compared");
}

TEST(SdkElementwise, FailsForNanInfinityAndNothing) {
    for (const auto& [value, expected] : {std::pair{nan, 1.F},
                                          {1.F, nan},
                                          {nan, nan},
                                          {infinity, 1.F},
                                          {1.F, infinity},
                                          {infinity, -infinity}}) {
        const std::vector<float> got{value};
        EXPECT_FALSE(elementwise(got, std::vector<float>{expected}).passed) << value << expected;
        EXPECT_FALSE(relative_error(got, std::vector<float>{expected}).passed) << value << expected;
    }
    EXPECT_TRUE(elementwise(std::vector<float>{infinity}, std::vector<float>{infinity}).passed);
    EXPECT_FALSE(elementwise(std::vector<float>{}, std::vector<float>{}).passed);
    EXPECT_FALSE(elementwise(std::vector<float>{1}, std::vector<float>{1, 1}).passed);
    EXPECT_FALSE(relative_error(std::vector<float>{1}, std::vector<float>{}).passed);
    Limits nothing;
    nothing.most = 0;
    EXPECT_FALSE(elementwise(std::vector<float>{1}, std::vector<float>{1}, nothing).passed);
}

TEST(SdkElementwise, OfALargeOutputComparesTheEndsAndPlacesBetweenAndFindsEveryNan) {
    constexpr std::size_t size = 3'000'000;
    Limits limits;
    limits.most = 10'000;
    HostBuffer<float> values = counted_to(size);
    const Verification same = elementwise(values, index, limits);
    EXPECT_TRUE(same.passed);
    const std::size_t compared = std::stoul(same.detail);
    EXPECT_GT(compared, 8'000U);
    EXPECT_LE(compared, 10'100U);
    for (const std::size_t at : {std::size_t{0}, std::size_t{1023}, size - 1024, size - 1}) {
        values[at] += 1 + values[at];
        EXPECT_FALSE(elementwise(values, index, limits).passed) << at;
        values[at] = static_cast<float>(at);
    }
    for (const std::size_t at : {std::size_t{1'234'567}, std::size_t{2'000'001}}) {
        values[at] = nan;
        EXPECT_FALSE(elementwise(values, index, limits).passed) << "left out by the launch";
        values[at] = static_cast<float>(at);
    }
    // A stretch that is wrong is found, and another seed looks elsewhere.
    for (std::size_t i = 1'500'000; i < 1'501'000; ++i) values[i] = 0;
    EXPECT_FALSE(elementwise(values, index, limits).passed);
    Limits other = limits;
    other.seed = 1;
    EXPECT_NE(elementwise(values, index, limits).detail, elementwise(values, index, other).detail);
}

TEST(SdkRelativeError, JudgesTheWholeOutput) {
    Limits limits;
    limits.relative = 1e-3;
    std::vector<float> values{1000, 1e-9F};
    EXPECT_TRUE(relative_error(values, std::vector<double>{1000, 0}, limits).passed)
        << "the small one counts for little";
    EXPECT_FALSE(elementwise(values, std::vector<double>{1000, 0}, limits).passed);
    values[0] = 1002;
    const Verification found = relative_error(values, std::vector<double>{1000, 0}, limits);
    EXPECT_FALSE(found.passed);
    EXPECT_EQ(found.detail, "all 2 elements compared, relative error 0.002, allowed 0.001");
    EXPECT_FALSE(relative_error(std::vector<float>{1}, std::vector<float>{0}).passed);
    EXPECT_TRUE(relative_error(std::vector<float>{0}, std::vector<float>{0}).passed);
}

TEST(SdkBuffers, FillRepeatsForASeedAndPoisonIsNan) {
    HostBuffer<float> one(1000), two(1000), other(1000);
    one.fill(7), two.fill(7), other.fill(7, 2);
    EXPECT_TRUE(elementwise(one, two).passed);
    EXPECT_FALSE(elementwise(one, other).passed) << "another operand";
    two.fill(8);
    EXPECT_FALSE(elementwise(one, two).passed) << "another seed";
    double sum = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i], one.filled(i));
        EXPECT_LE(std::abs(one[i]), 1.F);
        sum += static_cast<double>(one[i]);
    }
    EXPECT_LT(std::abs(sum), 100);
    one.poison();
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(std::isnan(one[i]));
    HostBuffer<int> numbers(1000);
    numbers.fill(1);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        EXPECT_TRUE(numbers[i] >= 0 && numbers[i] < 100);
    }
    numbers.poison();
    EXPECT_EQ(numbers[3], -1);
    HostBuffer<float>(0).poison();
}

struct Sum : HostInstance {
    explicit Sum(std::size_t n)
        : a(input<float>(n)), b(input<float>(n)), sum(output<float>(n, "sum")) {}
    void launch(void*) override {
        for (std::size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
    }
    Verification verify() override {
        return elementwise(sum, [&](std::size_t i) { return a.filled(i) + b.filled(i); });
    }
    HostBuffer<float>&a, &b, &sum;
};

TEST(SdkBufferedInstance, FillsInputsPoisonsOutputsAndNamesThem) {
    Sum one(100);
    one.fill(7);
    EXPECT_FALSE(elementwise(one.a, one.b).passed) << "each input has its own values";
    EXPECT_FALSE(one.verify().passed) << "nothing was launched";
    one.launch(nullptr);
    EXPECT_TRUE(one.verify().passed) << one.verify().detail;
    one.fill(8);
    EXPECT_FALSE(one.verify().passed) << "the sum of another seed";
    EXPECT_TRUE(std::isnan(one.sum[99]));
    const std::vector<Output> outputs = one.outputs();
    ASSERT_EQ(outputs.size(), 1U) << "inputs are none";
    EXPECT_EQ(outputs[0].name, "sum");
    EXPECT_EQ(outputs[0].data, one.sum.data());
    EXPECT_EQ(outputs[0].bytes, 100 * sizeof(float));
    EXPECT_EQ(outputs[0].element, PG_ELEMENT_FLOAT);
}

TEST(SdkPlugin, IsAnExpressionOrAFunction) {
    const Plugin plugin = one_workload("sum", {}, {});
    EXPECT_EQ(detail::described(plugin).name, "sum");
    EXPECT_EQ(detail::described(+[] { return one_workload("other", {}, {}); }).name, "other");
}

}  // namespace
}  // namespace perfgate::sdk
