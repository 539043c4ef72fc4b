// SPDX-License-Identifier: Apache-2.0
// Four streams, a CUDA graph, copies of pinned and of pageable memory, in known numbers.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int streams = 4, launches = 250, nodes = 12, replays = 100, copies = 20;
constexpr size_t bytes = size_t{8} << 20;

void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}

__global__ void spin(float* data, int rounds) {
    float value = data[threadIdx.x];
    for (int i = 0; i < rounds; ++i) value = value * 1.0001f + 0.5f;
    data[threadIdx.x] = value;
}

__global__ void node(float* data) {
    data[threadIdx.x] += 1;
}

}  // namespace

int main() {
    std::vector<cudaStream_t> all(streams);
    std::vector<float*> data(streams);
    for (int i = 0; i < streams; ++i) {
        check(cudaStreamCreateWithFlags(&all[i], cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaMalloc(&data[i], bytes), "cudaMalloc");
        check(cudaMemsetAsync(data[i], 0, bytes, all[i]), "cudaMemsetAsync");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

    nvtxRangePushA("streams");
    for (int launch = 0; launch < launches; ++launch) {
        for (int i = 0; i < streams; ++i) spin<<<1, 128, 0, all[i]>>>(data[i], 4000);
    }
    check(cudaGetLastError(), "spin");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    nvtxRangePop();

    cudaGraph_t graph{};
    cudaGraphExec_t replay{};
    check(cudaStreamBeginCapture(all[0], cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    for (int i = 0; i < nodes; ++i) node<<<1, 128, 0, all[0]>>>(data[0]);
    check(cudaStreamEndCapture(all[0], &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");
    nvtxRangePushA("graph");
    for (int i = 0; i < replays; ++i) check(cudaGraphLaunch(replay, all[0]), "cudaGraphLaunch");
    check(cudaStreamSynchronize(all[0]), "cudaStreamSynchronize");
    nvtxRangePop();

    void* pinned = nullptr;
    check(cudaMallocHost(&pinned, bytes), "cudaMallocHost");
    void* pageable = std::malloc(bytes);
    nvtxRangePushA("copies");
    for (int i = 0; i < copies; ++i) {
        check(cudaMemcpyAsync(data[1], pinned, bytes, cudaMemcpyHostToDevice, all[1]), "pinned");
        spin<<<1, 128, 0, all[2]>>>(data[2], 4000);
        check(cudaMemcpy(data[3], pageable, bytes, cudaMemcpyHostToDevice), "pageable");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    nvtxRangePop();
    std::printf(
        "{\"spin\": %d, \"node\": %d, \"graph_launches\": %d, \"captured\": %d, \"memsets\": %d, "
        "\"pinned\": %d, \"pageable\": %d, \"copy_bytes\": %zu}\n",
        streams * launches + copies, nodes * replays, replays, nodes, streams, copies, copies,
        bytes);
    return 0;
}
