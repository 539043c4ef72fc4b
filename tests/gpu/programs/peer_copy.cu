// SPDX-License-Identifier: Apache-2.0
// The first GPU reads 256 MiB of the second's memory, WORK times as much with the argument WORK.
// Prints the bytes.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t bytes = size_t{256} << 20;
constexpr int steps = 4;

void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}

__global__ void read_peer(const float4* from, float4* to, size_t count) {
    const size_t stride = size_t{gridDim.x} * blockDim.x;
    for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        to[i] = from[i];
    }
}

}  // namespace

int main(int argc, char** argv) {
    const size_t all = bytes * (argc > 1 ? std::atoi(argv[1]) : 1);
    int possible = 0;
    check(cudaDeviceCanAccessPeer(&possible, 0, 1), "cudaDeviceCanAccessPeer");
    if (possible == 0) {
        std::fprintf(stderr, "the first GPU has no access to the second\n");
        return 1;
    }
    float4 *from = nullptr, *to = nullptr;
    check(cudaSetDevice(1), "cudaSetDevice");
    check(cudaMalloc(&from, all), "cudaMalloc");
    check(cudaMemset(from, 1, all), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaDeviceEnablePeerAccess(1, 0), "cudaDeviceEnablePeerAccess");
    check(cudaMalloc(&to, all), "cudaMalloc");
    for (int step = 0; step < steps; ++step) {
        nvtxRangePushA("step");
        read_peer<<<1056, 256>>>(from, to, all / sizeof(float4));
        check(cudaGetLastError(), "read_peer");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        nvtxRangePop();
    }
    std::printf("{\"read_bytes\": %zu}\n", all);
    return 0;
}
