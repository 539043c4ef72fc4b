// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/executor.hpp"

#include <array>
#include <cstring>
#include <type_traits>

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
        throw util::Error(
            "outputs: output '{}' of {} bytes is in device memory that ends after {} bytes",
            output.name, output.bytes, left);
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

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

// Sets `differs` if one of the 8-byte words of `a` and `b` does.
std::string comparison() {
    return grid_loop_ptx("perfgate_compare_outputs",
                         ".param .u64 a, .param .u64 b, .param .u64 words, .param .u64 differs",
                         R"(
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %count, [words];
    ld.param.u64 %rd4, [differs];
    mov.u64 %rd5, 1;)",
                         R"(
    shl.b64 %rd8, %i, 3;
    add.s64 %rd9, %rd1, %rd8;
    add.s64 %rd10, %rd2, %rd8;
    ld.global.u64 %rd6, [%rd9];
    ld.global.u64 %rd7, [%rd10];
    setp.ne.u64 %p2, %rd6, %rd7;
    @%p2 st.global.u64 [%rd4], %rd5;)");
}

/// True if the output is whole words in the memory of this device, which a kernel can read.
bool is_comparable(const Output& output, CUdevice device) {
    if (output.address % word_bytes != 0 || output.bytes % word_bytes != 0) return false;
    if (!on_device(output)) return false;
    int ordinal = -1;
    CUdevice of_output = -1;
    return driver().cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                          static_cast<CUdeviceptr>(output.address)) ==
               CUDA_SUCCESS &&
           driver().cuDeviceGet(&of_output, ordinal) == CUDA_SUCCESS && of_output == device;
}

class DeviceOutput final : public KeptOutput {
  public:
    DeviceOutput(const Output& output, const PrimaryContext& context, CUstream stream)
        : context_(context),
          stream_(stream),
          copy_(output.bytes),
          differs_(word_bytes),
          compare_(comparison(), "perfgate_compare_outputs", failure) {
        check(driver().cuMemcpyDtoDAsync(copy_.address(), static_cast<CUdeviceptr>(output.address),
                                         copy_.bytes(), stream_),
              "cannot copy an output");
        check(driver().cuStreamSynchronize(stream_), "cannot copy an output");
    }

    bool equals(const Output& now) override {
        if (now.bytes != copy_.bytes() || !is_comparable(now, context_.device())) return false;
        CUdeviceptr before = copy_.address();
        auto after = static_cast<CUdeviceptr>(now.address);
        std::uint64_t words = now.bytes / word_bytes;
        CUdeviceptr differs = differs_.address();
        std::array<void*, 4> arguments{&before, &after, &words, &differs};
        check(driver().cuMemsetD8Async(differs, 0, differs_.bytes(), stream_), failure);
        compare_(stream_, blocks, threads, arguments.data());
        std::uint64_t found = 1;
        check(driver().cuMemcpyDtoHAsync(&found, differs, sizeof(found), stream_), failure);
        check(driver().cuStreamSynchronize(stream_), failure);
        return found == 0;
    }

    void read(std::uint64_t offset, std::span<std::byte> to) override {
        check(driver().cuMemcpyDtoHAsync(to.data(), copy_.address() + offset, to.size(), stream_),
              "cannot read the copy of an output");
        check(driver().cuStreamSynchronize(stream_), "cannot read the copy of an output");
    }

  private:
    static constexpr const char* failure = "cannot compare outputs";
    static constexpr unsigned blocks = 1024, threads = 256;

    const PrimaryContext& context_;
    CUstream stream_;
    DeviceBuffer copy_, differs_;
    PtxKernel compare_;
};

}  // namespace

std::unique_ptr<KeptOutput> CudaExecutor::keep(const Output& output) {
    if (!is_comparable(output, context_.device())) return nullptr;
    // The launches that follow, and graphs of them, may need memory of their own.
    std::size_t free = 0;
    std::size_t total = 0;
    check(driver().cuMemGetInfo(&free, &total), "cannot ask for the device's free memory");
    if (output.bytes > free / 2) return nullptr;
    try {
        return std::make_unique<DeviceOutput>(output, context_, stream_);
    } catch (const CudaError& error) {
        if (error.code() == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
        throw;
    }
}

std::optional<Executor::GraphLaunch> CudaExecutor::launch_graph(
    Instance& instance, const std::function<void()>& captured) {
    if (instance.submission() == PG_SYNCHRONOUS) {
        return GraphLaunch{false,
                           "the launch may wait for the device (its submission is synchronous)"};
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
        throw NotCaptured("the graph cannot be instantiated: {}", describe(code));
    }
}

Graph::~Graph() {
    driver().cuGraphExecDestroy(exec_);
}

void Graph::launch(CUstream stream) const {
    check(driver().cuGraphLaunch(exec_, stream), "cannot launch the CUDA graph of a launch");
}

}  // namespace perfgate::backend::cuda
