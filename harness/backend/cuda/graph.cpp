// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/graph.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {
namespace {

struct Destroy {
    void operator()(CUgraph graph) const { driver().cuGraphDestroy(graph); }
};
using OwnedGraph = std::unique_ptr<std::remove_pointer_t<CUgraph>, Destroy>;

OwnedGraph captured(CUstream stream, const std::function<void()>& enqueue) {
    // Thread-local: calls that a graph does not repeat, such as allocating, are refused.
    check(driver().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
          "cannot begin to capture a CUDA graph");
    std::string failure;
    try {
        enqueue();
    } catch (const model::Error& error) {
        failure = error.what();
    } catch (...) {
        CUgraph graph = nullptr;
        driver().cuStreamEndCapture(stream, &graph);
        const OwnedGraph owned(graph);
        throw;
    }
    CUgraph graph = nullptr;
    const CUresult code = driver().cuStreamEndCapture(stream, &graph);
    OwnedGraph owned(graph);
    if (!failure.empty()) throw NotCaptured(failure);
    if (code != CUDA_SUCCESS) throw NotCaptured(describe(code));
    return owned;
}

}  // namespace

Graph::Graph(CUstream stream, const std::function<void()>& enqueue) {
    const OwnedGraph graph = captured(stream, enqueue);
    std::size_t nodes = 0;
    check(driver().cuGraphGetNodes(graph.get(), nullptr, &nodes), "cannot count a graph's nodes");
    if (nodes == 0) throw NotCaptured("the launch enqueues nothing on the stream that it is given");
    const CUresult code = driver().cuGraphInstantiate(&exec_, graph.get(), 0);
    if (code != CUDA_SUCCESS) {
        throw NotCaptured(fmt::format("the graph cannot be instantiated: {}", describe(code)));
    }
}

Graph::~Graph() {
    driver().cuGraphExecDestroy(exec_);
}

void Graph::launch(CUstream stream) const {
    check(driver().cuGraphLaunch(exec_, stream), "cannot launch the CUDA graph of a launch");
}

}  // namespace perfgate::backend::cuda
