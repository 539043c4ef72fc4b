// SPDX-License-Identifier: Apache-2.0
// When a program starts and stops profilers is on record, by whichever interface and at each level.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "activity/recording.hpp"
#include "inject/settings.hpp"
#include "injected_program.hpp"

namespace perfgate::inject {
namespace {

using activity::ProfilerCall;
using activity::ProfilerCallKind;
using activity::Recording;
using Kinds = std::vector<ProfilerCallKind>;

constexpr auto watched = ProfilerCallKind::watched;
constexpr auto started = ProfilerCallKind::start;
constexpr auto stopped = ProfilerCallKind::stop;

Kinds kinds(const Recording& recording) {
    Kinds all;
    for (const ProfilerCall& call : recording.records.profiler_calls) all.push_back(call.kind);
    return all;
}

TEST_F(Injection, profiler_calls_are_recorded_at_each_level) {
    for (const Level level : {Level::records, Level::callbacks, Level::api}) {
        SCOPED_TRACE(to_text(level));
        settings_.level = level;
        settings_.code = level != Level::records;
        run({"kernels", "1", "k", "sleep", "5", "start", "kernels", "2", "k", "sleep", "5", "stop",
             "kernels", "3", "k"});
        const Recording recording = this->recording();
        EXPECT_TRUE(recording.incomplete.empty());
        ASSERT_EQ((Kinds{watched, started, stopped}), kinds(recording));
        const auto& calls = recording.records.profiler_calls;
        const auto inside = std::count_if(
            recording.records.kernels.begin(), recording.records.kernels.end(), [&](auto& kernel) {
                return kernel.start_ns >= calls[1].time_ns && kernel.start_ns < calls[2].time_ns;
            });
        EXPECT_EQ(2, inside);
        EXPECT_NE(0u, calls[1].thread);
        std::filesystem::remove(files()[0]);
    }
}

TEST_F(Injection, a_call_of_the_runtime_is_recorded_with_the_drivers_in_it) {
    run({"cudastart", "kernels", "1", "k", "cudastop"});
    EXPECT_EQ((Kinds{watched, started, started, stopped, stopped}), kinds(recording()));
}

TEST_F(Injection, a_program_that_starts_no_profiler_was_watched) {
    run({"kernels", "1", "k"});
    EXPECT_EQ(Kinds{watched}, kinds(recording()));
}

TEST_F(Injection, without_callbacks_profiler_calls_are_not_watched) {
    environment_ = {{"MOCK_HOLDER", "another tool"}};
    settings_.level = Level::records;
    settings_.code = false;
    run({"start", "kernels", "1", "k", "stop"});
    EXPECT_EQ(Kinds{}, kinds(recording()));
}

}  // namespace
}  // namespace perfgate::inject
