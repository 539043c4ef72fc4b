// SPDX-License-Identifier: Apache-2.0
// Times launches with event pairs, with CUPTI off: `gpu_span`. Work that is only submitted is
// queued on a blocked stream in chunks, so that there is no launch overhead between the events.
// Between timed launches the device rests.
#pragma once

#include <cuda.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/l2_flush.hpp"
#include "model/metric.hpp"

namespace perfgate::backend::cuda {

/// Holds a stream back while work is queued on it, so that the time between two queued events
/// contains no launch overhead. The stream waits for a word in host memory; a watchdog writes that
/// word too, so that submitted work that waits for the stream cannot hang the process.
class StreamBlocker {
  public:
    /// `limit`: the longest that a stream stays blocked.
    explicit StreamBlocker(std::chrono::milliseconds limit = std::chrono::seconds(2));
    ~StreamBlocker();
    StreamBlocker& operator=(StreamBlocker&&) = delete;  // nor copied

    /// Releases on destruction, so that an exception between the two never leaves a blocked stream.
    class Block {
      public:
        ~Block();
        Block& operator=(Block&&) = delete;  // nor copied
        /// Lets the stream run. Returns false if the watchdog had already done so: then the queued
        /// work synchronises or does not fit into the launch queue, and its times are invalid.
        bool release();

      private:
        friend class StreamBlocker;
        explicit Block(StreamBlocker& owner) : owner_(&owner) {}
        StreamBlocker* owner_;
    };

    /// Work queued on `stream` from now on waits for release. One block at a time; a second throws
    /// util::Error.
    [[nodiscard]] Block block(CUstream stream);

  private:
    bool release();
    void watch();
    void write_flag(std::uint32_t value);

    PinnedBuffer flag_;
    std::chrono::milliseconds limit_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint32_t epoch_ = 0;  // a stream waits until the flag reaches the epoch of its block
    bool armed_ = false;
    bool fired_ = false;
    bool stopping_ = false;
    std::chrono::steady_clock::time_point deadline_{};
    std::thread watchdog_;
};

using Submit = std::function<void(CUstream)>;

struct TimingRequest {
    Submit launch;
    Submit reset;  ///< restores the inputs before a launch; may be empty
    /// Called before each launch while the stream is idle, so that one is queued at a time; may be
    /// empty.
    std::function<void()> prepare = {};
    bool cold = true;   ///< flush the L2 cache before each launch
    bool async = true;  ///< the launch only enqueues; without this nothing is blocked
    std::size_t count = 1;
    /// Operations (kernels, copies) that one launch and its reset enqueue, as the dry launch
    /// showed; 0: unknown, then one launch is blocked at a time.
    std::size_t operations = 0;
};

struct EventSamples {
    std::vector<double> spans_ns;  ///< one per launch
    model::Method method;
};

/// How many launches of `operations` operations fit on a blocked stream; 0 if not even one does.
std::size_t launches_per_block(std::size_t operations, bool cold);

class EventTimer {
  public:
    EventTimer(CUstream stream, StreamBlocker& blocker, const L2Flush& flush)
        : stream_(stream), blocker_(blocker), flush_(flush) {}

    /// Does not warm up. Throws CudaError if the work fails, and util::Error if a launch declared
    /// async waits for the device.
    EventSamples measure(const TimingRequest& request);

  private:
    void submit(const TimingRequest& request, const Event& begin, const Event& end) const;
    void measure_unblocked(const TimingRequest& request, std::vector<double>& spans_ns) const;
    void measure_blocked(const TimingRequest& request, std::size_t chunk,
                         std::vector<double>& spans_ns);

    CUstream stream_;
    StreamBlocker& blocker_;
    const L2Flush& flush_;
};

/// Rest between launches that are timed. A GPU that works without pause reaches its power limit,
/// and its clock then depends on the previous work; README.md shows the effect on times.
class Pace {
  public:
    /// With the device idle: waits for as long as it was busy since the last call (at first, since
    /// construction), 0.2 s at most. Short times are accumulated until they are worth a wait.
    void rest();

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point since_ = Clock::now();
    Clock::duration owed_{};
};

}  // namespace perfgate::backend::cuda
