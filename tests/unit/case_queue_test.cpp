// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "measure/device_chain.hpp"

namespace perfgate::measure {
namespace {

TEST(CaseQueue, GivesAChainWhatIsFreeOrItsOwnInOrder) {
    Item free, of_second, of_first, last;
    of_second.chain = 1;
    of_first.chain = 0;
    CaseQueue queue({&of_second, &free, &of_first, &last});
    EXPECT_EQ(queue.take(0), &free);
    EXPECT_EQ(free.chain, 0U);
    EXPECT_EQ(queue.take(1), &of_second);
    EXPECT_EQ(queue.take(1), &last);
    EXPECT_EQ(last.chain, 1U);
    EXPECT_EQ(queue.take(1), nullptr) << "what is left is the other chain's";
    EXPECT_EQ(queue.take(0), &of_first);
    EXPECT_EQ(queue.take(0), nullptr);
}

}  // namespace
}  // namespace perfgate::measure
