// SPDX-License-Identifier: Apache-2.0
// Calls that a stream capture may or may not allow. `capture_rules try` makes each one while a
// stream is captured in the default mode and prints a line "NAME: OUTCOME": captured, error N
// (of the call or of the capture's end), or not captured (it ran at once and the graph lacks it);
// `capture_rules call` makes each one in the NVTX range "calls", without a capture.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

__global__ void work(int* data) {
    data[threadIdx.x] += 1;
}

void must(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

constexpr std::size_t bytes = 1 << 20;

struct Memory {
    int *device = nullptr, *spare = nullptr, *pinned = nullptr, *spare_pinned = nullptr;
    void* pageable = std::malloc(bytes);
    void* registered = std::aligned_alloc(4096, bytes);
    cudaStream_t stream = nullptr, other = nullptr;
    cudaEvent_t event = nullptr;

    Memory() {
        std::memset(pageable, 0, bytes);
        must(cudaMalloc(&device, bytes));
        must(cudaMalloc(&spare, bytes));
        must(cudaMallocHost(&pinned, bytes));
        must(cudaMallocHost(&spare_pinned, bytes));
        must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        must(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
        must(cudaEventCreate(&event));
        work<<<1, 32, 0, other>>>(device);
        must(cudaEventRecord(event, other));
        must(cudaDeviceSynchronize());
    }
};

using Call = std::function<cudaError_t(Memory&)>;

const std::vector<std::pair<std::string, Call>> calls = {
    {"cudaDeviceSynchronize", [](Memory&) { return cudaDeviceSynchronize(); }},
    {"cudaStreamSynchronize", [](Memory& m) { return cudaStreamSynchronize(m.stream); }},
    {"cudaEventSynchronize", [](Memory& m) { return cudaEventSynchronize(m.event); }},
    {"cudaStreamQuery", [](Memory& m) { return cudaStreamQuery(m.stream); }},
    {"cudaEventQuery", [](Memory& m) { return cudaEventQuery(m.event); }},
    {"cudaMemcpy",
     [](Memory& m) { return cudaMemcpy(m.device, m.pinned, 64, cudaMemcpyHostToDevice); }},
    {"cudaMemset", [](Memory& m) { return cudaMemset(m.device, 0, 64); }},
    {"asynchronous copy of pageable memory",
     [](Memory& m) {
         return cudaMemcpyAsync(m.device, m.pageable, bytes, cudaMemcpyHostToDevice, m.stream);
     }},
    {"cudaMalloc",
     [](Memory&) {
         void* memory = nullptr;
         return cudaMalloc(&memory, bytes);
     }},
    {"cudaMallocHost",
     [](Memory&) {
         void* memory = nullptr;
         return cudaMallocHost(&memory, bytes);
     }},
    {"cudaFree", [](Memory& m) { return cudaFree(std::exchange(m.spare, nullptr)); }},
    {"cudaFreeHost",
     [](Memory& m) { return cudaFreeHost(std::exchange(m.spare_pinned, nullptr)); }},
    {"cudaHostRegister",
     [](Memory& m) { return cudaHostRegister(m.registered, bytes, cudaHostRegisterDefault); }},
    {"cudaStreamAddCallback",
     [](Memory& m) {
         return cudaStreamAddCallback(
             m.stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0);
     }},
    // What may be captured.
    {"cudaLaunchKernel",
     [](Memory& m) {
         work<<<1, 32, 0, m.stream>>>(m.device);
         return cudaGetLastError();
     }},
    {"cudaMemcpyAsync",
     [](Memory& m) {
         return cudaMemcpyAsync(m.device, m.pinned, 64, cudaMemcpyHostToDevice, m.stream);
     }},
    {"cudaMemsetAsync", [](Memory& m) { return cudaMemsetAsync(m.device, 0, 64, m.stream); }},
    {"cudaMallocAsync",
     [](Memory& m) {
         void* memory = nullptr;
         const cudaError_t error = cudaMallocAsync(&memory, bytes, m.stream);
         return error == cudaSuccess ? cudaFreeAsync(memory, m.stream) : error;
     }},
    {"cudaLaunchHostFunc",
     [](Memory& m) {
         return cudaLaunchHostFunc(
             m.stream, [](void*) {}, nullptr);
     }},
};

std::string outcome(const Call& call) {
    Memory memory;
    must(cudaStreamBeginCapture(memory.stream, cudaStreamCaptureModeGlobal));
    work<<<1, 32, 0, memory.stream>>>(memory.device);
    const cudaError_t error = call(memory);
    cudaGraph_t graph = nullptr;
    const cudaError_t end = cudaStreamEndCapture(memory.stream, &graph);
    cudaGetLastError();
    if (error != cudaSuccess || end != cudaSuccess) {
        return "error " + std::to_string(static_cast<int>(error != cudaSuccess ? error : end));
    }
    std::size_t nodes = 0;
    must(cudaGraphGetNodes(graph, nullptr, &nodes));
    must(cudaGraphDestroy(graph));
    return nodes > 1 ? "captured" : "not captured";
}

}  // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "try") {
        for (const auto& [name, call] : calls) {
            std::printf("%s: %s\n", name.c_str(), outcome(call).c_str());
        }
        return 0;
    }
    if (mode != "call") return 64;
    Memory memory;
    nvtxRangePushA("calls");
    for (const auto& [name, call] : calls) {
        const cudaError_t error = call(memory);
        if (error != cudaErrorNotReady) must(error);
    }
    nvtxRangePop();
    return 0;
}
