// SPDX-License-Identifier: Apache-2.0
// Times launches with event pairs, with CUPTI off: `gpu_span`. Work that is only submitted is
// queued on a blocked stream in chunks, so that there is no launch overhead between the events.
// Between timed launches the device rests.
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "backend/cuda/blocked_stream.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/cuda/l2_flush.hpp"
#include "model/metric.hpp"

namespace perfgate::backend::cuda {

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
