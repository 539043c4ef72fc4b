// SPDX-License-Identifier: Apache-2.0
// Four streams, a CUDA graph, copies of pinned and of pageable memory, in known numbers. With the
// argument N it does all but its preparations N times. Compiled with SPIN_STEPS it is another
// version, whose kernel `spin` takes longer.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef SPIN_STEPS
#define SPIN_STEPS 20000
#endif

namespace {

constexpr int streams = 4, launches = 250, nodes = 12, replays = 100, copies = 20;
constexpr size_t bytes = size_t{8} << 20;

void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}

__global__ void spin(float* data, int spin_steps) {
    float value = data[threadIdx.x];
    for (int i = 0; i < spin_steps; ++i) value = value * 1.0001f + 0.5f;
    data[threadIdx.x] = value;
}

__global__ void node(float* data) {
    data[threadIdx.x] += 1;
}

void launch_in_streams(const std::vector<cudaStream_t>& all, const std::vector<float*>& data) {
    nvtxRangePushA("streams");
    for (int launch = 0; launch < launches; ++launch) {
        for (int i = 0; i < streams; ++i) spin<<<1, 128, 0, all[i]>>>(data[i], SPIN_STEPS);
    }
    check(cudaGetLastError(), "spin");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    nvtxRangePop();
}

void replay_graph(cudaGraphExec_t replay, cudaStream_t stream) {
    nvtxRangePushA("graph");
    for (int i = 0; i < replays; ++i) check(cudaGraphLaunch(replay, stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    nvtxRangePop();
}

void copy(const std::vector<cudaStream_t>& all, const std::vector<float*>& data, void* pinned,
          void* pageable) {
    nvtxRangePushA("copies");
    for (int i = 0; i < copies; ++i) {
        check(cudaMemcpyAsync(data[1], pinned, bytes, cudaMemcpyHostToDevice, all[1]), "pinned");
        spin<<<1, 128, 0, all[2]>>>(data[2], SPIN_STEPS);
        check(cudaMemcpy(data[3], pageable, bytes, cudaMemcpyHostToDevice), "pageable");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    nvtxRangePop();
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    std::vector<cudaStream_t> all(streams);
    std::vector<float*> data(streams);
    for (int i = 0; i < streams; ++i) {
        check(cudaStreamCreateWithFlags(&all[i], cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaMalloc(&data[i], bytes), "cudaMalloc");
        check(cudaMemsetAsync(data[i], 0, bytes, all[i]), "cudaMemsetAsync");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

    cudaGraph_t graph{};
    cudaGraphExec_t replay{};
    check(cudaStreamBeginCapture(all[0], cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    for (int i = 0; i < nodes; ++i) node<<<1, 128, 0, all[0]>>>(data[0]);
    check(cudaStreamEndCapture(all[0], &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");
    void* pinned = nullptr;
    check(cudaMallocHost(&pinned, bytes), "cudaMallocHost");
    void* pageable = std::malloc(bytes);

    for (int round = 0; round < rounds; ++round) {
        launch_in_streams(all, data);
        replay_graph(replay, all[0]);
        copy(all, data, pinned, pageable);
    }
    std::printf(
        "{\"spin\": %d, \"node\": %d, \"graph_launches\": %d, \"captured\": %d, \"memsets\": %d, "
        "\"pinned\": %d, \"pageable\": %d, \"copy_bytes\": %zu}\n",
        rounds * (streams * launches + copies), rounds * nodes * replays, rounds * replays, nodes,
        streams, rounds * copies, rounds * copies, bytes);
    return 0;
}
