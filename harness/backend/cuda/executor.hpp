// SPDX-License-Identifier: Apache-2.0
// What verifying a case needs of the device: launches that are waited for, CUDA graphs, outputs.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "backend/cuda/driver.hpp"
#include "backend/plugin/verification.hpp"
#include "util/error.hpp"

namespace perfgate::backend::cuda {

class CudaExecutor final : public Executor {
  public:
    CudaExecutor(const PrimaryContext& context, CUstream stream)
        : context_(context), stream_(stream) {}

    void launch(Instance& instance, const char* range) override;
    void reset(Instance& instance) override;
    void read(const Output& output, std::uint64_t offset, std::span<std::byte> to) override;
    void overwrite(const Output& output, std::byte with) override;
    /// Copies it in device memory, while there is room.
    std::unique_ptr<KeptOutput> keep(const Output& output) override;
    std::optional<GraphLaunch> launch_graph(Instance& instance,
                                            const std::function<void()>& captured) override;

  private:
    const PrimaryContext& context_;
    CUstream stream_;
};

// What a function enqueues on a stream, captured as a CUDA graph.

/// It cannot be captured.
class NotCaptured : public util::Error {
  public:
    using Error::Error;
};

class Graph {
  public:
    /// Calls `enqueue` while `stream` captures: what it enqueues there does not run, what it does
    /// elsewhere does. The stream is idle and is not the default stream. Throws NotCaptured if
    /// `enqueue` throws or enqueues nothing, or if what it enqueues cannot be in a graph.
    Graph(CUstream stream, const std::function<void()>& enqueue);
    ~Graph();
    Graph& operator=(Graph&&) = delete;  // nor copied

    void launch(CUstream stream) const;

  private:
    CUgraphExec exec_ = nullptr;
};

}  // namespace perfgate::backend::cuda
