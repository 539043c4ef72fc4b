// SPDX-License-Identifier: Apache-2.0
//
// What a function enqueues on a stream, captured as a CUDA graph.
#pragma once

#include <cuda.h>

#include <functional>
#include <string>

#include "model/error.hpp"

namespace perfgate::backend::cuda {

/// It cannot be captured.
class NotCaptured : public model::Error {
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
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    void launch(CUstream stream) const;

  private:
    CUgraphExec exec_ = nullptr;
};

}  // namespace perfgate::backend::cuda
