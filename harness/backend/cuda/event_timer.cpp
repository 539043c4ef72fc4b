// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/event_timer.hpp"

#include <algorithm>
#include <utility>

namespace perfgate::backend::cuda {

namespace {

// A stream holds about a thousand operations before a submission blocks. Half of that leaves space
// for large kernel arguments.
constexpr std::size_t queue_budget = 512;
constexpr std::size_t events_per_launch = 2;
constexpr std::size_t largest_chunk = 64;
// Longest work without a rest; longer work is followed by one after each launch.
constexpr double longest_chunk_ns = 1e6;

}  // namespace

std::size_t launches_per_block(std::size_t operations, bool cold) {
    const std::size_t per_launch = operations + events_per_launch + (cold ? 1 : 0);
    return std::min(queue_budget / per_launch, largest_chunk);
}

EventSamples EventTimer::measure(const TimingRequest& request) {
    // If the number of operations is unknown, each launch is blocked separately, under the
    // watchdog.
    std::size_t chunk = 1;
    if (request.operations != 0) chunk = launches_per_block(request.operations, request.cold);
    if (request.prepare) chunk = std::min(chunk, std::size_t{1});
    const bool blocked = request.async && chunk > 0;

    EventSamples samples;
    samples.method = {"event", blocked ? "blocked" : "unblocked",
                      request.cold ? model::Cache::cold : model::Cache::hot};
    samples.spans_ns.reserve(request.count);
    if (blocked) {
        measure_blocked(request, chunk, samples.spans_ns);
    } else {
        measure_unblocked(request, samples.spans_ns);
    }
    return samples;
}

void EventTimer::submit(const TimingRequest& request, const Event& begin, const Event& end) const {
    if (request.reset) request.reset(stream_);
    if (request.cold) flush_(stream_);
    begin.record(stream_);
    request.launch(stream_);
    end.record(stream_);
}

void EventTimer::measure_unblocked(const TimingRequest& request,
                                   std::vector<double>& spans_ns) const {
    const Event begin;
    const Event end;
    Pace pace;
    for (std::size_t i = 0; i < request.count; ++i) {
        if (request.prepare) request.prepare();
        submit(request, begin, end);
        end.synchronize();
        spans_ns.push_back(elapsed_ns(begin, end));
        pace.rest();
    }
}

void EventTimer::measure_blocked(const TimingRequest& request, std::size_t chunk,
                                 std::vector<double>& spans_ns) {
    std::vector<Event> begin(std::min(chunk, request.count));
    std::vector<Event> end(begin.size());
    Pace pace;
    while (spans_ns.size() < request.count) {
        // The first launch shows how many are too long.
        const std::size_t launches =
            spans_ns.empty() ? 1 : std::min(chunk, request.count - spans_ns.size());
        if (request.prepare) request.prepare();
        bool in_time = false;
        {
            StreamBlocker::Block block = blocker_.block(stream_);
            for (std::size_t i = 0; i < launches; ++i) submit(request, begin[i], end[i]);
            in_time = block.release();
        }
        check(driver().cuStreamSynchronize(stream_), "work on the stream failed");
        if (in_time) {
            for (std::size_t i = 0; i < launches; ++i) {
                spans_ns.push_back(elapsed_ns(begin[i], end[i]));
            }
            const double affordable = longest_chunk_ns / std::max(spans_ns.back(), 1.0);
            chunk = std::clamp(static_cast<std::size_t>(affordable), std::size_t{1}, chunk);
            pace.rest();
        } else if (chunk > 1) {
            chunk = 1;  // perhaps the queue was full; a single launch will show it
        } else {
            throw util::Error(
                "the variant is declared async, but its launch waits for the device (or enqueues "
                "more "
                "than a stream's queue holds): declare it synchronous");
        }
    }
}

namespace {

constexpr std::chrono::microseconds shortest_rest{500};
// Work that is longer than this reaches the power limit on its own, with or without a rest.
constexpr std::chrono::milliseconds longest_rest{200};

}  // namespace

void Pace::rest() {
    owed_ += Clock::now() - since_;
    if (owed_ >= shortest_rest) {
        std::this_thread::sleep_for(std::min<Clock::duration>(owed_, longest_rest));
        owed_ = {};
    }
    since_ = Clock::now();
}

StreamBlocker::StreamBlocker(std::chrono::milliseconds limit)
    : flag_(sizeof(std::uint32_t)), limit_(limit) {
    write_flag(0);
    watchdog_ = std::thread([this] { watch(); });
}

StreamBlocker::~StreamBlocker() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        write_flag(epoch_);
    }
    changed_.notify_all();
    watchdog_.join();
    // The device may still be about to read the word; it must not be unmapped before that.
    driver().cuCtxSynchronize();
}

void StreamBlocker::write_flag(std::uint32_t value) {
    std::atomic_ref<std::uint32_t>(*static_cast<std::uint32_t*>(flag_.host()))
        .store(value, std::memory_order_seq_cst);
}

StreamBlocker::Block StreamBlocker::block(CUstream stream) {
    {
        const std::lock_guard lock(mutex_);
        if (armed_) throw util::Error("a stream is blocked already: release it first");
        ++epoch_;
        armed_ = true;
        fired_ = false;
        deadline_ = std::chrono::steady_clock::now() + limit_;
    }
    changed_.notify_all();
    const CUresult code =
        driver().cuStreamWaitValue32(stream, flag_.device(), epoch_, CU_STREAM_WAIT_VALUE_GEQ);
    if (code != CUDA_SUCCESS) {
        release();
        throw CudaError(code, "cannot block the stream");
    }
    return Block(*this);
}

bool StreamBlocker::release() {
    bool in_time = false;
    {
        const std::lock_guard lock(mutex_);
        write_flag(epoch_);
        in_time = !fired_;
        armed_ = false;
    }
    changed_.notify_all();
    return in_time;
}

void StreamBlocker::watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (!armed_ || fired_) {
            changed_.wait(lock);
        } else if (std::chrono::steady_clock::now() >= deadline_) {
            fired_ = true;
            write_flag(epoch_);
        } else {
            changed_.wait_until(lock, deadline_);
        }
    }
}

StreamBlocker::Block::~Block() {
    if (owner_ != nullptr) owner_->release();
}

bool StreamBlocker::Block::release() {
    return owner_ == nullptr || std::exchange(owner_, nullptr)->release();
}

}  // namespace perfgate::backend::cuda
