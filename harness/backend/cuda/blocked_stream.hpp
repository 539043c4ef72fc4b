// SPDX-License-Identifier: Apache-2.0
//
// Holds a stream back while work is queued on it, so that the time between two queued events
// contains no launch overhead. The stream waits for a word in host memory; a watchdog writes that
// word too, so that submitted work that waits for the stream cannot hang the process.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {

class StreamBlocker {
  public:
    /// `limit`: the longest that a stream stays blocked.
    explicit StreamBlocker(std::chrono::milliseconds limit = std::chrono::seconds(2));
    ~StreamBlocker();
    StreamBlocker(const StreamBlocker&) = delete;
    StreamBlocker& operator=(const StreamBlocker&) = delete;

    /// Releases on destruction, so that an exception between the two never leaves a blocked stream.
    class Block {
      public:
        ~Block();
        Block(const Block&) = delete;
        Block& operator=(const Block&) = delete;
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

}  // namespace perfgate::backend::cuda
