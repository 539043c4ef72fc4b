// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/executor.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/nvtx.hpp"
#include "backend/plugin/plugin_instance.hpp"

namespace perfgate::backend::cuda {

namespace {

/// Whether the output is memory of the device; false: it is the host's. Throws if only its
/// beginning is.
bool on_device(const Output& output) {
    const auto address = static_cast<CUdeviceptr>(output.address);
    unsigned kind = 0;
    const CUresult code =
        driver().cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    // The driver does not know pageable memory.
    if (code == CUDA_ERROR_INVALID_VALUE) return false;
    check(code, "cannot ask what memory an output is in");
    if (kind != CU_MEMORYTYPE_DEVICE) return false;
    CUdeviceptr start = 0;
    std::size_t size = 0;
    check(driver().cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address),
          "cannot ask where an output's memory begins");
    check(driver().cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address),
          "cannot ask for the size of an output's memory");
    const std::size_t left = size - (address - start);
    if (output.bytes > left) {
        throw util::Error(fmt::format(
            "outputs: output '{}' of {} bytes is in device memory that ends after {} bytes",
            output.name, output.bytes, left));
    }
    return true;
}

}  // namespace

void CudaExecutor::launch(Instance& instance, const char* range) {
    {
        // With its own name, so that a tool can select only the case's kernels.
        const NvtxRange launch(range);
        instance.launch(stream_);
    }
    context_.synchronize();
}

void CudaExecutor::reset(Instance& instance) {
    instance.reset(stream_);
    context_.synchronize();
}

void CudaExecutor::read(const Output& output, std::uint64_t offset, std::span<std::byte> to) {
    if (!on_device(output)) {
        std::memcpy(to.data(), output.data() + offset, to.size());
        return;
    }
    check(driver().cuMemcpyDtoHAsync(to.data(), CUdeviceptr{output.address} + offset, to.size(),
                                     stream_),
          "cannot read an output");
    check(driver().cuStreamSynchronize(stream_), "cannot read an output");
}

void CudaExecutor::overwrite(const Output& output, std::byte with) {
    if (!on_device(output)) {
        std::memset(output.data(), std::to_integer<int>(with), output.bytes);
        return;
    }
    check(driver().cuMemsetD8Async(static_cast<CUdeviceptr>(output.address),
                                   std::to_integer<unsigned char>(with), output.bytes, stream_),
          "cannot overwrite an output");
    check(driver().cuStreamSynchronize(stream_), "cannot overwrite an output");
}

std::optional<Executor::GraphLaunch> CudaExecutor::launch_graph(
    Instance& instance, const std::function<void()>& captured) {
    if (instance.submission() == PG_SYNCHRONOUS) {
        return GraphLaunch{false,
                           "the launch may wait for the device (its submission is "
                           "synchronous)"};
    }
    try {
        const Graph graph(stream_, [&] { instance.launch(stream_); });
        context_.synchronize();
        captured();
        const NvtxRange range("graph");
        graph.launch(stream_);
        context_.synchronize();
        return GraphLaunch{true, ""};
    } catch (const NotCaptured& error) {
        // The plugin's CUDA runtime keeps the error, which its next launch may report.
        try {
            launch(instance, "after a capture");
        } catch (const PluginError&) {
            launch(instance, "after a capture");
        }
        return GraphLaunch{false, error.what()};
    }
}

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
    } catch (const util::Error& error) {
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
