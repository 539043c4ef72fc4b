// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kinds/command/program_runs.hpp"

namespace perfgate::command {
namespace {

TEST(Thinned, ManySamplesAreOneOfEachEqualPart) {
    std::vector<double> values;
    for (int i = 0; i < 2500; ++i) values.push_back(i);
    const std::vector<double> kept = thinned(values);
    ASSERT_EQ(kept.size(), 1000U);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        EXPECT_GE(kept[i], static_cast<double>(i * 2500 / 1000));
        EXPECT_LT(kept[i], static_cast<double>((i + 1) * 2500 / 1000));
    }
    EXPECT_EQ(thinned(values), kept) << "the same ones each time";
    values.resize(1000);
    EXPECT_EQ(thinned(values), values);
}

TEST(Thinned, WhatIsSlowInEachFewInstancesIsKeptInProportion) {
    for (const std::size_t period : {2, 3, 4, 5, 8, 10}) {
        for (const std::size_t periods : {1000, 1500, 10000}) {
            std::vector<double> slow(period * periods);
            for (std::size_t i = period - 1; i < slow.size(); i += period) slow[i] = 1;
            const std::vector<double> kept = thinned(slow);
            const auto number = static_cast<double>(std::count(kept.begin(), kept.end(), 1));
            EXPECT_NEAR(number, 1000.0 / static_cast<double>(period), 60) << period;
        }
    }
}

}  // namespace
}  // namespace perfgate::command
