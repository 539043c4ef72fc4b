// SPDX-License-Identifier: Apache-2.0
#include "activity/capture.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "activity/analysis.hpp"

namespace perfgate::activity {
namespace {

TEST(WhyUncapturable, KnowsTheCallsThatACaptureRefuses) {
    for (const char* call : {"cudaDeviceSynchronize_v3020",
                             "cudaStreamSynchronize_v3020",
                             "cudaEventSynchronize",
                             "cuCtxSynchronize",
                             "cudaStreamQuery",
                             "cuEventQuery",
                             "cudaMemcpy_v3020",
                             "cuMemcpyHtoD_v2",
                             "cudaMemcpyToSymbol",
                             "cudaMemset",
                             "cuMemsetD32_v2",
                             "cudaMalloc",
                             "cudaMallocHost",
                             "cudaMallocManaged",
                             "cuMemAlloc_v2",
                             "cuMemHostAlloc",
                             "cudaHostAlloc",
                             "cudaFree",
                             "cudaFreeHost",
                             "cuMemFree_v2",
                             "cuMemFreeHost",
                             "cudaHostRegister",
                             "cuModuleLoadDataEx",
                             "cuLibraryLoadData",
                             "cudaStreamAddCallback",
                             "cudaStreamAttachMemAsync",
                             "cudaDeviceReset",
                             "cuCtxDestroy_v2"}) {
        EXPECT_NE(why_uncapturable(call), "") << call;
    }
}

TEST(WhyUncapturable, AllowsWhatBecomesANodeOrTouchesNoDevice) {
    for (const char* call : {"cudaLaunchKernel_v7000",
                             "cuLaunchKernelEx",
                             "cudaMemcpyAsync_v3020",
                             "cuMemcpyHtoDAsync_v2",
                             "cudaMemcpyBatchAsync",
                             "cudaMemsetAsync",
                             "cudaMallocAsync",
                             "cudaMallocFromPoolAsync",
                             "cudaFreeAsync",
                             "cuMemFreeAsync",
                             "cudaGraphAddMemcpyNode",
                             "cudaGraphAddMemAllocNode",
                             "cuGraphAddMemFreeNode",
                             "cudaGraphLaunch",
                             "cudaStreamWaitEvent",
                             "cudaEventRecord",
                             "cudaLaunchHostFunc",
                             "cuMemAddressFree",
                             "cuMemGetAllocationGranularity",
                             "cudaGetLastError",
                             ""}) {
        EXPECT_EQ(why_uncapturable(call), "") << call;
    }
}

/// A recording of one thread's calls and ranges; each takes 10 ns, one every 100 ns.
class Calls {
  public:
    Calls() { recording_.strings = {""}; }

    Calls& call(const std::string& name, std::uint32_t thread = 1, std::uint64_t length = 10,
                std::uint32_t correlation = 0) {
        recording_.records.api_calls.push_back({now_, now_ + length, text(name), thread,
                                                correlation == 0 ? ++correlation_ : correlation,
                                                0});
        now_ += 100;
        return *this;
    }
    /// A runtime call around a driver call, as they are recorded.
    Calls& nested(const std::string& outer, const std::string& inner) {
        call(outer, 1, 150, ++correlation_);
        recording_.records.api_calls.push_back(
            {now_ - 50, now_ - 40, text(inner), 1, correlation_, 0});
        now_ += 100;
        return *this;
    }
    Calls& begin(const std::string& name, std::uint32_t thread = 1) {
        open_.push_back(++marker_);
        recording_.records.markers.push_back(
            {now_, marker_, MarkerKind::begin, text(name), 0, thread, 0});
        now_ += 100;
        return *this;
    }
    Calls& end() {
        recording_.records.markers.push_back({now_, open_.back(), MarkerKind::end, 0, 0, 1, 0});
        open_.pop_back();
        now_ += 100;
        return *this;
    }
    [[nodiscard]] const Recording& recording() const { return recording_; }

  private:
    StringId text(const std::string& text) {
        recording_.strings.push_back(text);
        return static_cast<StringId>(recording_.strings.size() - 1);
    }

    Recording recording_;
    std::uint64_t now_ = 1000;
    std::uint32_t correlation_ = 0, marker_ = 0;
    std::vector<std::uint32_t> open_;
};

/// "cudaMalloc 2 in forward", the most frequent first.
std::vector<std::string> found(const Calls& calls, const std::string& range = "step",
                               std::optional<std::uint32_t> thread = {}) {
    const Timeline timeline(calls.recording());
    std::vector<std::string> texts;
    for (const Range& each : timeline.ranges()) {
        if (timeline.range_name(each) != range) continue;
        for (const UncapturableCall& call : uncapturable_calls(timeline, each.time, thread)) {
            texts.push_back(call.name + " " + std::to_string(call.count) +
                            (call.range.empty() ? "" : " in " + call.range));
        }
    }
    return texts;
}

using Texts = std::vector<std::string>;

TEST(UncapturableCalls, AreCountedByNameAndByTheInnermostRange) {
    Calls calls;
    calls.call("cudaMalloc").begin("step").call("cudaMalloc").call("cudaLaunchKernel");
    calls.begin("forward").call("cudaMalloc").call("cudaMalloc_v3020").begin("attention");
    calls.call("cudaStreamSynchronize_v3020").end().end().end().call("cudaFree");
    EXPECT_EQ(found(calls), (Texts{"cudaMalloc 2 in forward", "cudaMalloc 1",
                                   "cudaStreamSynchronize 1 in attention"}));
    EXPECT_EQ(found(calls, "forward"),
              (Texts{"cudaMalloc 2", "cudaStreamSynchronize 1 in attention"}));
}

TEST(UncapturableCalls, OfAGraphFriendlyRangeThereAreNone) {
    Calls calls;
    calls.begin("step")
        .call("cudaLaunchKernel")
        .call("cudaMallocAsync")
        .call("cudaMemcpyAsync_v3020")
        .end();
    EXPECT_EQ(found(calls), Texts{});
}

TEST(UncapturableCalls, ADriverCallWithinARuntimeCallIsTheSameOne) {
    Calls calls;
    calls.begin("step").nested("cudaMalloc_v3020", "cuMemAlloc_v2").call("cuMemFree_v2").end();
    EXPECT_EQ(found(calls), (Texts{"cuMemFree_v2 1", "cudaMalloc 1"}));
}

TEST(UncapturableCalls, OfOtherThreadsCountUnlessTheRangeIsItsThreads) {
    Calls calls;
    calls.begin("step").call("cudaEventQuery", 2).begin("loader", 2).call("cudaMalloc", 2).end();
    calls.call("cudaMalloc").end();
    EXPECT_EQ(found(calls), (Texts{"cudaEventQuery 1", "cudaMalloc 1", "cudaMalloc 1 in loader"}));
    EXPECT_EQ(found(calls, "step", 1), Texts{"cudaMalloc 1"});
}

TEST(UncapturableCalls, OfAProfileAreThoseInRanges) {
    Calls calls;
    calls.call("cudaMalloc").begin("step").call("cudaMalloc").call("cudaEventQuery", 2).end();
    const Timeline timeline(calls.recording());
    const Profile profile = profile_of(timeline);
    ASSERT_EQ(profile.uncapturable.size(), 1U);
    EXPECT_EQ(profile.uncapturable[0].name, "cudaMalloc");
    EXPECT_EQ(profile.uncapturable[0].range, "step");
    EXPECT_EQ(profile.uncapturable[0].count, 1U);
    EXPECT_EQ(profile.uncapturable[0].why, "takes memory outside any stream");
}

}  // namespace
}  // namespace perfgate::activity
