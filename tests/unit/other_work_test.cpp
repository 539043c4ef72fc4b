// SPDX-License-Identifier: Apache-2.0
// Whose work kept a thread from running: by numbers, and of threads that wait for each other.
#include "util/other_work.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

namespace perfgate::util {
namespace other_work_test {

/// One second of a thread on two processors: it ran for 0.8 s and waited for 0.2 s.
ProcessorTimes one_thread() {
    ProcessorTimes times;
    times.wall = 1;
    times.waited = 0.2;
    times.own = 0.8;
    times.all = 1.6;
    times.processors = 2;
    return times;
}

TEST(OtherWork, OfAThreadThatWaitsBesideOthersIsItsWaiting) {
    EXPECT_EQ(other_work_in(one_thread()), (OtherWork{0.2, 0.4}));
}

TEST(OtherWork, DoesNotIncludeThatThreadsWaitForEachOther) {
    // 64 busy threads, the longest of which waited nearly all the time; others had 2 %.
    ProcessorTimes times = one_thread();
    times.waited = 0.97;
    times.own = 1.96;
    times.all = 2;
    EXPECT_EQ(other_work_in(times), (OtherWork{0.02, 0.02}));
    times.all = times.own;
    EXPECT_EQ(other_work_in(times), OtherWork{});
}

TEST(OtherWork, OfAGroupThatItsQuotaStoppedIsThatOfTheGroup) {
    ProcessorTimes times = one_thread();
    times.waited = 0.6;
    times.own = 0.4;
    times.group = 0.4;
    EXPECT_EQ(other_work_in(times).waited, 0);
    times.group = 1;
    EXPECT_EQ(other_work_in(times).waited, 0.6);
}

TEST(OtherWork, IncludesProcessorTimeThatAnotherVirtualMachineTook) {
    ProcessorTimes times = one_thread();
    times.waited = 0;
    times.own = times.all = 0.7;
    times.stolen = 0.3;
    EXPECT_EQ(other_work_in(times), (OtherWork{0.3, 0.15}));
}

TEST(OtherWork, IsNotWhatMayBeARoundedTick) {
    ProcessorTimes times = one_thread();
    times.wall = 0.05;
    times.own = 0.05;
    times.waited = 0.01;
    times.all = 0.07;
    times.stolen = 0.02;
    times.tick = 0.01;
    times.used_on = times.stolen_on = 2;
    EXPECT_EQ(other_work_in(times), OtherWork{});
    times.all = 0.08;
    EXPECT_GT(other_work_in(times).waited, 0);
}

TEST(OtherWork, IsNotHiddenByManyProcessorsThatDidNothing) {
    ProcessorTimes times;
    times.wall = 2;
    times.own = 1.4;
    times.waited = 0.6;
    times.tick = 0.01;
    times.add(2, 0);
    for (int idle = 1; idle < 64; ++idle) times.add(0, 0);
    EXPECT_EQ(other_work_in(times).waited, 0.2965);
    times.add(0, 0.4);
    EXPECT_EQ(other_work_in(times).busy, 0.0075);
}

TEST(OtherWork, IsAShareWhateverTheNumbers) {
    ProcessorTimes times = one_thread();
    times.waited = 100;
    times.own = 0;
    times.all = 100;
    EXPECT_EQ(other_work_in(times), (OtherWork{1, 1}));
    times.all = -1;
    EXPECT_EQ(other_work_in(times), OtherWork{});
    times.wall = 0;
    EXPECT_EQ(other_work_in(times), OtherWork{});
}

/// With the variable PERFGATE_OTHER_WORK of this value, or without it; what it was comes back.
class OtherWorkWatchTest : public ::testing::Test {
  protected:
    OtherWorkWatchTest() {
        if (const char* value = std::getenv(name)) before_ = value;
        unsetenv(name);
    }
    ~OtherWorkWatchTest() override { before_ ? setenv(name, before_->c_str(), 1) : unsetenv(name); }

    static constexpr const char* name = "PERFGATE_OTHER_WORK";

  private:
    std::optional<std::string> before_;
};

TEST_F(OtherWorkWatchTest, KnowsNothingOfProcessesThatItNeverSaw) {
    OtherWorkWatch watch;
    EXPECT_FALSE(watch.result({}));
    watch.look({-1});
    EXPECT_FALSE(watch.result({}));
}

TEST_F(OtherWorkWatchTest, KnowsNothingIfItDidNotLookInTheSecondHalf) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    OtherWorkWatch watch({getpid()});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    watch.look({getpid()});
    std::this_thread::sleep_for(2 * (Clock::now() - begin));
    EXPECT_FALSE(watch.result({}));
    bool known = false;
    for (int tries = 0; !known && tries < 100; ++tries) {
        watch.look({getpid()});
        known = watch.result({}).has_value();
    }
    EXPECT_TRUE(known);
}

TEST_F(OtherWorkWatchTest, IsSwitchedOffByAVariable) {
    setenv(name, "ignore", 1);
    OtherWorkWatch watch({getpid()});
    watch.look({getpid()});
    EXPECT_FALSE(watch.result({}));
}

}  // namespace other_work_test
}  // namespace perfgate::util
