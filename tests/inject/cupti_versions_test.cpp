// SPDX-License-Identifier: Apache-2.0
// The injection library with the versions of CUPTI: which functions it calls in which order, and
// what it says of those that are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "activity/recording.hpp"
#include "inject/settings.hpp"
#include "injected_program.hpp"

namespace perfgate::inject {
namespace {

using activity::Recording;
using Reasons = std::vector<std::string>;

using CuptiVersions = Injection;

TEST_F(CuptiVersions, a_cupti_that_deadlocks_or_is_too_old_is_refused_by_name) {
    for (const char* version : {"130000", "17", "0"}) {
        environment_ = {{"MOCK_VERSION", version}};
        run({"push", "a", "kernels", "3", "k", "pop"});
        const Recording recording = this->recording();
        ASSERT_EQ(1u, recording.incomplete.size());
        EXPECT_NE(std::string::npos, recording.incomplete[0].find(version));
        EXPECT_EQ(0u, recording.records.kernels.size());
        std::filesystem::remove(files()[0]);
    }
}

/// What a recording has that does not depend on time.
std::string content(const Recording& recording) {
    const activity::Records& records = recording.records;
    std::string text =
        fmt::format("{} kernels, {} copies, {} memsets, {} waits, {} memory events, ",
                    records.kernels.size(), records.copies.size(), records.memsets.size(),
                    records.synchronisations.size(), records.memory_events.size());
    text += fmt::format("{} calls, {} markers, {} contexts\n", records.api_calls.size(),
                        records.markers.size(), records.contexts.size());
    for (const auto& kernel : records.kernels) {
        const activity::LaunchConfiguration& launch =
            recording.configurations[kernel.configuration];
        text += fmt::format("{} {} {} {} {} {}\n", recording.text(launch.symbol), launch.grid[0],
                            launch.block[0], launch.registers_per_thread, kernel.place.stream,
                            kernel.end_ns - kernel.start_ns);
    }
    for (const auto& copy : records.copies) {
        text += fmt::format("copy {} {}\n", copy.bytes, copy.end_ns - copy.start_ns);
    }
    for (const auto& call : records.api_calls) {
        text += recording.text(call.name) + "\n";
    }
    return text;
}

TEST_F(CuptiVersions, cuda_12_gives_the_same_records_as_cuda_13) {
    for (const Level level : {Level::records, Level::callbacks, Level::api}) {
        settings_.level = level;
        std::vector<std::string> contents;
        for (const char* library :
             {"libcupti.so.13", "1209/libcupti.so.12", "1204/libcupti.so.12"}) {
            settings_.cupti = std::string(PERFGATE_MOCK_FOLDER "/") + library;
            run({"push", "a", "kernels", "3", "k", "alloc", "4096", "copy", "64", "pop", "sync"});
            const Recording recording = this->recording();
            EXPECT_EQ(Reasons{}, recording.incomplete) << library << to_text(level);
            EXPECT_EQ(3u, recording.records.kernels.size());
            contents.push_back(content(recording));
            std::filesystem::remove(files()[0]);
        }
        EXPECT_EQ(contents[0], contents[1]);
        EXPECT_EQ(contents[0], contents[2]);
    }
}

TEST_F(CuptiVersions, samples_need_the_counters_of_12_6) {
    settings_.level = Level::samples;
    settings_.cupti = PERFGATE_MOCK_FOLDER "/1204/libcupti.so.12";
    run({"kernels", "3", "k"});
    const Reasons reasons = recording().incomplete;
    ASSERT_EQ(1u, reasons.size());
    EXPECT_NE(std::string::npos, reasons[0].find("counters need")) << reasons[0];
}

TEST_F(CuptiVersions, the_copy_of_cuda_12_in_the_process_is_taken_though_there_is_one_of_cuda_13) {
    settings_.cupti = PERFGATE_MOCK_FOLDER "/libcupti.so.13";
    environment_ = {{"LD_PRELOAD", PERFGATE_MOCK_FOLDER "/1204/libcupti.so.12"}};
    run({"kernels", "3", "k"});
    const Recording recording = this->recording();
    EXPECT_EQ(Reasons{}, recording.incomplete);
    EXPECT_EQ("22", recording.header.at("cupti"));
}

/// The first calls of CUPTI's functions that the mock logs, without those of the same name in a
/// row.
Words first_calls(const std::filesystem::path& log) {
    std::ifstream stream(log);
    Words calls;
    for (std::string line; std::getline(stream, line);) {
        if (calls.empty() || calls.back() != line) calls.push_back(line);
    }
    return calls;
}

TEST_F(CuptiVersions, up_to_13_1_a_subscriber_comes_after_the_buffers) {
    environment_ = {{"MOCK_LOG", folder_ / "log"}};
    run({"noinit", "push", "load", "init", "kernels", "1", "k", "pop"});
    EXPECT_EQ((Words{"cuptiSetThreadIdType", "cuptiActivityRegisterCallbacks",
                     "cuptiActivityEnable", "cuptiSubscribe_v2", "cuptiActivityEnable"}),
              first_calls(folder_ / "log"));
}

TEST_F(CuptiVersions, from_13_2_on_the_subscriber_comes_first_and_no_functions_are_mixed) {
    for (const char* version : {"130200", "130300"}) {
        for (const Level level : {Level::records, Level::callbacks, Level::api}) {
            settings_.level = level;
            environment_ = {{"MOCK_VERSION", version}, {"MOCK_LOG", folder_ / "log"}};
            run({"noinit", "push", "load", "init", "kernels", "3", "k", "pop", "sync"});
            const Recording recording = this->recording();
            EXPECT_EQ(Reasons{}, recording.incomplete) << version << to_text(level);
            EXPECT_EQ(3u, recording.records.kernels.size());
            EXPECT_EQ(2u, recording.records.markers.size());
            EXPECT_EQ((Words{"cuptiSubscribe", "cuptiSetThreadIdType",
                             "cuptiActivityRegisterCallbacks", "cuptiActivityEnable"}),
                      first_calls(folder_ / "log"));
            std::filesystem::remove(files()[0]);
            std::filesystem::remove(folder_ / "log");
        }
    }
}

TEST_F(CuptiVersions, a_subscription_may_initialise_the_driver) {
    for (const char* version : {"130001", "130300"}) {
        // The driver calls first, or NVTX does and the driver from within the subscription.
        for (const Words& begin : {Words{"push"}, Words{"noinit", "push"}}) {
            environment_ = {{"MOCK_VERSION", version}, {"MOCK_SUBSCRIBE_INITIALISES", "1"}};
            Words words = begin;
            for (const char* word : {"a", "init", "kernels", "3", "k", "pop"}) {
                words.emplace_back(word);
            }
            // A process that waits for itself is ended.
            const Ended ended = wait(start(words, [] { alarm(20); }));
            ASSERT_TRUE(WIFEXITED(ended.status)) << version << begin.front() << ended.status;
            EXPECT_EQ("", ended.output);
            const Recording recording = this->recording();
            EXPECT_EQ(Reasons{}, recording.incomplete) << version << begin.front();
            EXPECT_EQ(3u, recording.records.kernels.size());
            EXPECT_EQ(2u, recording.records.markers.size());
            std::filesystem::remove(files()[0]);
        }
    }
}

TEST_F(CuptiVersions, an_unusable_cupti_is_said_too_where_its_subscription_initialises_the_driver) {
    environment_ = {{"MOCK_VERSION", "130300"},
                    {"MOCK_SUBSCRIBE_INITIALISES", "1"},
                    {"MOCK_REFUSED", "cuptiActivityRegisterCallbacks"}};
    wait(start({"noinit", "push", "a", "kernels", "3", "k", "pop"}, [] { alarm(20); }));
    EXPECT_FALSE(recording().incomplete.empty());
}

TEST_F(CuptiVersions, from_13_2_on_another_subscriber_is_said) {
    environment_ = {{"MOCK_VERSION", "130300"}, {"MOCK_HOLDER", "Nsight"}};
    run({"kernels", "3", "k"});
    const Reasons reasons = recording().incomplete;
    ASSERT_EQ(2u, reasons.size());
    EXPECT_EQ(
        "CUPTI gives no callbacks (CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)): run "
        "without other profilers, or record without callbacks and code",
        reasons[0]);
    EXPECT_EQ("CUPTI cannot record: CUPTI_ERROR_MOCKED (14)", reasons[1]);
}

TEST_F(CuptiVersions, a_call_that_cupti_refuses_is_said) {
    for (const char* function :
         {"cuptiActivityGetNumDroppedRecords", "cuptiActivityFlushAll", "cuptiGetTimestamp",
          "cuptiSetThreadIdType", "cuptiActivityGetNextRecord", "cuptiActivityRegisterCallbacks",
          "cuptiActivityEnable"}) {
        for (const char* version : {"130001", "130300"}) {
            environment_ = {{"MOCK_VERSION", version}, {"MOCK_REFUSED", function}};
            run({"kernels", "3", "k", "sleep", "50", "kernels", "3", "k"});
            EXPECT_FALSE(recording().incomplete.empty()) << function << version;
            std::filesystem::remove(files()[0]);
        }
    }
    environment_ = {{"MOCK_REFUSED", "cuptiActivityGetNumDroppedRecords"}};
    run({"kernels", "3", "k"});
    EXPECT_EQ(
        Reasons{"CUPTI refuses cuptiActivityGetNumDroppedRecords: CUPTI_ERROR_MOCKED (14), so "
                "that records may be missing: run without other profilers"},
        recording().incomplete);
}

}  // namespace
}  // namespace perfgate::inject
