// SPDX-License-Identifier: Apache-2.0
// What the host did while the GPU was idle: samples in gaps, by function, state and CUDA call.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/host_stacks.hpp"
#include "recorded_program.hpp"

namespace perfgate::activity {
namespace {

/// A process with pid 1, whose main thread is 1, and samples of its stacks.
class Sampled : public Program {
  public:
    Sampled() {
        recording_.header["pid"] = "1";
        recording_.header["waits"] = "1";  // calls that wait are on record: there are none
        recording_.records.host_samplings.push_back(
            {0, 4'000'000'000, 4'000'000, 1000, 2, 20'000'000, id("3.12.1"), 0});
    }

    /// "file:function:line", outermost first.
    std::uint32_t stack(const std::vector<std::string>& functions) {
        std::uint32_t caller = 0;
        for (const std::string& each : functions) {
            const std::size_t first = each.find(':'), last = each.rfind(':');
            recording_.records.stack_frames.push_back(
                {caller, id(each.substr(first + 1, last - first - 1)), id(each.substr(0, first)),
                 static_cast<std::uint32_t>(std::stoul(each.substr(last + 1)))});
            caller = static_cast<std::uint32_t>(recording_.records.stack_frames.size());
        }
        return caller;
    }

    Sampled& sample(Interval time, std::uint32_t frame, HostState state = HostState::running,
                    std::uint32_t thread = 1, std::uint32_t process = 1) {
        recording_.records.host_samples.push_back(
            {time.begin, time.end, process, thread, frame, state});
        return *this;
    }
};

const std::vector<std::string> queue_get = {
    "/app/train.py:<module>:9", "/app/train.py:main:7",
    "/venv/lib/python3.12/site-packages/torch/dataloader.py:Loader.__next__:70",
    "/usr/lib/python3.12/multiprocessing/queues.py:Queue.get:103",
    "/usr/lib/python3.12/multiprocessing/connection.py:wait:1136"};
const std::vector<std::string> getitem = {
    "/app/train.py:<module>:9", "/venv/lib/python3.12/site-packages/torch/dataloader.py:fetch:50",
    "/app/data.py:Images.__getitem__:20"};

std::vector<HostPiece> piece(Interval time, std::uint32_t thread = 1) {
    return {{time, thread}};
}

TEST(HostStacks, name_the_users_function_what_it_called_and_what_waits) {
    Sampled program;
    const auto get = program.stack(queue_get), item = program.stack(getitem);
    program.sample({100, 190}, get, HostState::data).sample({190, 200}, item);
    program.sample({200, 900}, get, HostState::data);  // outside of the gap
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const HostStacks stacks = HostSamples(timeline).in(piece({100, 200}));
    EXPECT_EQ(100u, stacks.time_ns);
    EXPECT_EQ(100u, stacks.sampled_ns);
    ASSERT_EQ(2u, stacks.waiting.size());
    EXPECT_EQ("main → Loader.__next__ → Queue.get", stacks.waiting[0].name);
    EXPECT_EQ("waiting for data", stacks.waiting[0].state);
    EXPECT_EQ(90u, stacks.waiting[0].time_ns);
    EXPECT_EQ("/app/train.py", stacks.waiting[0].file);
    EXPECT_EQ(7u, stacks.waiting[0].line);
    EXPECT_EQ("Images.__getitem__", stacks.waiting[1].name);
    EXPECT_EQ(
        "90 % in main → Loader.__next__ → Queue.get (train.py:7), waiting for data; 10 % in "
        "Images.__getitem__ (data.py:20)",
        host_text(stacks));
}

TEST(HostStacks, a_call_of_cuda_takes_the_place_of_the_state) {
    Sampled program;
    const auto item = program.stack({"/app/train.py:train:5"});
    program.sample({0, 100}, item);
    program.call("cudaStreamSynchronize_v3020", {10, 90}).call("cuStreamSynchronize", {20, 80});
    program.call("cudaMalloc", {0, 100}, 2);  // of another thread
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const HostStacks stacks = HostSamples(timeline).in(piece({0, 100}));
    ASSERT_EQ(1u, stacks.waiting.size());
    EXPECT_EQ("in cudaStreamSynchronize", stacks.waiting[0].state);
    const auto flame = HostSamples(timeline).flame(piece({0, 100}));
    ASSERT_EQ(2u, flame.size());
    EXPECT_EQ("train", flame[0].name);
    EXPECT_EQ(100u, flame[0].time_ns);
    EXPECT_EQ("in cudaStreamSynchronize", flame[1].name);
    EXPECT_EQ(1u, flame[1].parent);
    EXPECT_EQ(80u, flame[1].time_ns);
}

TEST(HostStacks, other_threads_and_processes_are_named_if_they_work_meanwhile) {
    Sampled program;
    const auto get = program.stack(queue_get), item = program.stack(getitem);
    program.sample({0, 100}, get, HostState::data);
    program.sample({0, 80}, item, HostState::running, 7, 7)
        .sample({0, 90}, item, HostState::io, 8, 8);
    program.sample({0, 100}, get, HostState::data, 9, 9);  // an idle worker
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const HostStacks stacks = HostSamples(timeline).in(piece({0, 100}));
    ASSERT_EQ(1u, stacks.meanwhile.size());
    EXPECT_EQ("Images.__getitem__", stacks.meanwhile[0].name);
    EXPECT_EQ(90u, stacks.meanwhile[0].time_ns) << "of both at once";
    EXPECT_EQ(2u, stacks.meanwhile[0].threads);
    EXPECT_NE(std::string::npos,
              host_text(stacks).find("; meanwhile 2 other threads were in Images.__getitem__"));
}

TEST(HostStacks, time_of_several_threads_counts_once_meanwhile_if_each_works_enough) {
    Sampled program;
    const auto get = program.stack(queue_get), item = program.stack(getitem);
    const auto other = program.stack({"/app/data.py:tick:3"});
    program.sample({0, 100}, get, HostState::data);
    for (std::uint32_t thread = 10; thread < 42; ++thread) {
        program.sample({40, 50}, item, HostState::running, thread);
        program.sample({thread + 42, thread + 43}, other, HostState::running, thread);
    }
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const HostStacks stacks = HostSamples(timeline).in(piece({0, 100}));
    ASSERT_EQ(1u, stacks.meanwhile.size()) << "32 threads that work 1 % each are no cause";
    EXPECT_EQ("Images.__getitem__", stacks.meanwhile[0].name);
    EXPECT_EQ(10u, stacks.meanwhile[0].time_ns);
    EXPECT_EQ(32u, stacks.meanwhile[0].threads);
    EXPECT_EQ(std::string::npos, host_text(stacks).find("meanwhile"));
}

TEST(HostStacks, functions_with_results_of_the_standard_library_are_the_programs) {
    for (const char* file : {"/app/train", "/app/libcustom_ops.so"}) {
        Sampled program;
        // std::vector<int> my::load<int>()
        const auto load =
            program.stack({std::string(file) + ":_ZN2my4loadIiEESt6vectorIT_SaIS2_EEv:0",
                           "/app/train:_ZNKSt6vectorIiSaIiEE4sizeEv:0"});
        program.sample({0, 100}, load);
        const Recording recording = program.recording();
        const Timeline timeline(recording);
        const HostStacks stacks = HostSamples(timeline).in(piece({0, 100}));
        ASSERT_EQ(1u, stacks.waiting.size());
        EXPECT_EQ(file, stacks.waiting[0].file);
        EXPECT_NE(std::string::npos, stacks.waiting[0].name.find("load")) << stacks.waiting[0].name;
        EXPECT_EQ(std::string::npos, stacks.waiting[0].name.find("size")) << stacks.waiting[0].name;
    }
}

TEST(HostStacks, native_functions_are_demangled_and_those_of_libraries_left_out) {
    Sampled program;
    const std::string libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";
    const auto next = program.stack({"/app/train:main:0", "/app/train:_ZN6Loader4nextEi:0",
                                     "/app/train:_ZNSt5mutex4lockEv:0", libc + ":futex_wait:0"});
    const auto driver = program.stack({libc + ":clone3:0", libc + ":clock_nanosleep:0"});
    program.sample({0, 100}, next, HostState::lock);
    program.sample({0, 100}, driver, HostState::sleep, 2);
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const HostStacks stacks = HostSamples(timeline).in(piece({0, 100}));
    EXPECT_EQ("100 % in Loader::next, waiting for a lock", host_text(stacks));
    EXPECT_TRUE(stacks.meanwhile.empty());
}

TEST(HostStacks, functions_of_one_name_in_two_files_are_two) {
    Sampled program;
    const auto a = program.stack({"/app/a.py:step:7"}), b = program.stack({"/app/b.py:step:30"});
    program.sample({0, 20}, a).sample({20, 100}, b);
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const HostStacks stacks = HostSamples(timeline).in(piece({0, 100}));
    ASSERT_EQ(2u, stacks.waiting.size());
    EXPECT_EQ("80 % in step (b.py:30); 20 % in step (a.py:7)", host_text(stacks));
}

TEST(HostStacks, the_caller_of_a_wait_is_of_those_that_left_the_gpu_idle_in_the_profiled_part) {
    Sampled program;
    const auto busy = program.stack({"/app/a.py:behind_other_work:1"}),
               idle = program.stack({"/app/a.py:before_submitting:2"}),
               outside = program.stack({"/app/a.py:outside:3"});
    const auto wait = [&](Interval time, std::uint32_t frame) {
        program.call("cudaStreamSynchronize", time);
        program.sample(time, frame);
    };
    program.kernel("k", 5, {10, 900});
    wait({20, 800}, busy);  // the kernel goes on
    wait({810, 910}, idle);
    program.kernel("k", 990, {1000, 1100}).range("part", {1, 2000});
    program.kernel("k", 3000, {3000, 3500});
    wait({3010, 3510}, outside);
    program.kernel("k", 3900, {4000, 4010});
    ProfileOptions options;
    options.capture.range = "part";
    const Recording recording = program.recording();
    const Profile profile = profile_of(Timeline(recording), options);
    ASSERT_EQ(1u, profile.waits.size());
    EXPECT_EQ("100 % in before_submitting (a.py:2), in cudaStreamSynchronize",
              profile.waits[0].caller);
}

TEST(HostStacks, a_gap_belongs_to_the_thread_that_launched_what_ended_it) {
    Sampled program;
    const auto slow = program.stack({"/app/a.py:slow:1"}),
               idle = program.stack({"/app/a.py:join:2"});
    program.kernel("k", 5, {10, 20}, 2).kernel("k", 95, {100, 110}, 2);
    program.sample({0, 200}, idle, HostState::lock, 1)
        .sample({0, 200}, slow, HostState::running, 2);
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const Profile profile = profile_of(timeline);
    ASSERT_EQ(1u, profile.gaps.size());
    EXPECT_EQ("slow", profile.gaps[0].host);
    ASSERT_EQ(1u, profile.host.waiting.size());
    EXPECT_EQ("slow", profile.host.waiting[0].name);
    EXPECT_EQ("3.12.1", profile.python);
}

TEST(HostStacks, the_advice_names_the_function_in_the_range_that_is_idle) {
    Sampled program;
    const auto get = program.stack(queue_get), step = program.stack({"/app/train.py:step:30"});
    for (std::uint64_t i = 0; i < 10; ++i) {
        const std::uint64_t at = 1'000'000 * (10 * i + 1);
        program.range("data", {at, at + 8'000'000}).range("step", {at + 8'000'000, at + 9'000'000});
        program.kernel("gemm", at + 8'100'000, {at + 8'200'000, at + 8'900'000});
        program.sample({at, at + 8'000'000}, get, HostState::data);
        program.sample({at + 8'000'000, at + 10'000'000}, step);
    }
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const Profile profile = profile_of(timeline);
    EXPECT_EQ("data", profile.idle_range.name);
    const auto sentences = advice(profile);
    ASSERT_FALSE(sentences.empty());
    EXPECT_NE(std::string::npos, sentences[0].find("In the range 'data'"));
    EXPECT_NE(std::string::npos, sentences[0].find("100 % in main → Loader.__next__ → Queue.get"));
    bool cost = false;
    for (const std::string& note : notes(profile)) {
        cost = cost || note.find("250 times a second, which took 0.5 % of a processor; 2 looks") !=
                           std::string::npos;
    }
    EXPECT_TRUE(cost);
}

TEST(HostStacks, hostile_names_and_samples_do_no_harm) {
    Sampled program;
    const auto evil = program.stack({"/app/\x1b[2J:<script>\n\xff:1"});
    program.sample({0, 100}, evil).sample({50, 150}, evil).sample({40, 60}, 0);
    program.sample({0, UINT64_MAX}, evil, HostState::running, 2);
    program.kernel("k", 1, {0, 10}).kernel("k", 90, {100, 110});
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const Profile profile = profile_of(timeline);
    // A thread does one thing at a time.
    EXPECT_EQ(90u, profile.host.sampled_ns);
    ASSERT_EQ(1u, profile.host.waiting.size());
    EXPECT_EQ("<script>??", profile.host.waiting[0].name);
    EXPECT_EQ(std::string::npos, profile.host.waiting[0].file.find('\x1b'));
    ASSERT_FALSE(profile.flame.empty());
    EXPECT_EQ("<script>??", profile.flame[0].name);
}

TEST(HostStacks, without_samples_nothing_is_said) {
    Program program;
    program.kernel("k", 5, {10, 20}).kernel("k", 95, {100, 110});
    const Recording recording = program.recording();
    const Timeline timeline(recording);
    const Profile profile = profile_of(timeline);
    EXPECT_EQ(0u, profile.sampling.looks);
    EXPECT_TRUE(profile.flame.empty());
    EXPECT_EQ("", host_text(profile.host));
}

}  // namespace
}  // namespace perfgate::activity
