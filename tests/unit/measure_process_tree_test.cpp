// SPDX-License-Identifier: Apache-2.0
#include "measure/process_tree.hpp"

#include <gtest/gtest.h>

namespace perfgate::measure {
namespace {

TEST(ProcessTree, TheTextOfAFileOfAProcess) {
    EXPECT_NE(text_of("/proc/self/stat").find(')'), std::string::npos);
    EXPECT_EQ(text_of("/proc/none/stat"), "");
}

// A process may end between the opening and the reading of its file. A folder fails the same way.
TEST(ProcessTree, AFileThatCannotBeReadIsEmpty) {
    EXPECT_EQ(text_of("/proc/self"), "");
}

}  // namespace
}  // namespace perfgate::measure
