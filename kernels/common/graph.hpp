// SPDX-License-Identifier: Apache-2.0
// A CUDA graph of whatever a function enqueues: captured and instantiated at set-up, so that a
// launch is one call.
#pragma once

#include <functional>

#include "common/cuda.hpp"

namespace common {

class Graph {
  public:
    // `enqueue(stream)` is called once, to be recorded; nothing runs.
    explicit Graph(const std::function<void(cudaStream_t)>& enqueue) {
        const Stream stream;
        check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
              "beginning to capture a graph");
        cudaGraph_t graph = nullptr;
        try {
            enqueue(stream.get());
        } catch (...) {
            cudaStreamEndCapture(stream.get(), &graph);
            if (graph) cudaGraphDestroy(graph);
            cudaGetLastError();  // or the next launch of another case would report it
            throw;
        }
        check(cudaStreamEndCapture(stream.get(), &graph), "capturing a graph");
        const cudaError_t error = cudaGraphInstantiate(&exec_, graph, 0);
        cudaGraphDestroy(graph);
        check(error, "instantiating a graph");
    }
    ~Graph() { cudaGraphExecDestroy(exec_); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    void launch(cudaStream_t stream) const {
        check(cudaGraphLaunch(exec_, stream), "launching a graph");
    }

  private:
    cudaGraphExec_t exec_ = nullptr;
};

}  // namespace common
