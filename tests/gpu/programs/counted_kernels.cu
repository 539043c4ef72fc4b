// SPDX-License-Identifier: Apache-2.0
// Kernels whose counters are known: a copy of so many bytes and so many fused multiply-adds. With
// the argument N they do N times the work. Another stream copies all the time, so that a kernel
// that is not counted by itself counts that, too; not with the second argument `alone`, for times.
// A third argument is the number of steps.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t bytes = size_t{1} << 30;
constexpr int blocks = 264, threads = 256, rounds = 4096;

void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}

__global__ void copy_bytes(const float4* from, float4* to, size_t count) {
    const size_t stride = size_t{gridDim.x} * blockDim.x;
    for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        to[i] = from[i];
    }
}

__global__ void multiply_add(float* data, int count) {
    const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    float value = data[place];
    for (int i = 0; i < count; ++i) value = __fmaf_rn(value, 1.0001f, 0.5f);
    data[place] = value;
}

__global__ void disturb(const float4* from, float4* to, size_t count) {
    const size_t stride = size_t{gridDim.x} * blockDim.x;
    for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        to[i] = from[i];
    }
}

void disturb_from(cudaStream_t stream, float4* data) {
    constexpr size_t half = bytes / sizeof(float4) / 2;
    disturb<<<32, 256, 0, stream>>>(data, data + half, half);
}

}  // namespace

int main(int argc, char** argv) {
    const int work = argc > 1 ? std::atoi(argv[1]) : 1;
    const bool alone = argc > 2 && std::strcmp(argv[2], "alone") == 0;
    const int steps = argc > 3 ? std::atoi(argv[3]) : 4;
    cudaStream_t stream{}, other{};
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "cudaStreamCreate");
    float4 *from = nullptr, *to = nullptr, *beside = nullptr;
    float* data = nullptr;
    check(cudaMalloc(&from, work * bytes), "cudaMalloc");
    check(cudaMalloc(&to, work * bytes), "cudaMalloc");
    check(cudaMalloc(&beside, bytes), "cudaMalloc");
    check(cudaMalloc(&data, blocks * threads * sizeof(float)), "cudaMalloc");
    check(cudaMemset(from, 1, work * bytes), "cudaMemset");
    check(cudaMemset(data, 0, blocks * threads * sizeof(float)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

    for (int step = 0; step < steps; ++step) {
        nvtxRangePushA("step");
        if (!alone) disturb_from(other, beside);
        copy_bytes<<<1056, 256, 0, stream>>>(from, to, work * bytes / sizeof(float4));
        if (!alone) disturb_from(other, beside);
        multiply_add<<<blocks, threads, 0, stream>>>(data, work * rounds);
        check(cudaGetLastError(), "launch");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        nvtxRangePop();
    }
    std::printf("{\"copied_bytes\": %zu, \"multiply_adds\": %lld}\n", work * bytes,
                1LL * blocks * threads * rounds * work);
    return 0;
}
