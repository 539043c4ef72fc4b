// SPDX-License-Identifier: Apache-2.0
// A kernel that reads memory, after one that fills the L2 cache with other lines: l2_lines
// [empty|read|write] [MiB]. Shows what these lines cost, in ncu's counters of `reads`:
//   ncu --cache-control all -k reads l2_lines empty 16
//   ncu --cache-control none --replay-mode application -k reads l2_lines read 16
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int threads = 256;
constexpr int blocks_per_sm = 8;
constexpr std::size_t mib = std::size_t{1} << 20;

__device__ unsigned gather(const uint4* from, std::size_t count) {
    unsigned bits = 0;
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const uint4 one = __ldcg(from + i);
        bits |= one.x | one.y | one.z | one.w;
    }
    return bits;
}

// The memory holds zeros, so nothing is stored, and no load can be left out.
__global__ void __launch_bounds__(threads)
    reads(const uint4* from, std::size_t count, unsigned* out) {
    if (const unsigned bits = gather(from, count); bits != 0) *out = bits;
}
__global__ void __launch_bounds__(threads)
    fills_with_clean_lines(const uint4* from, std::size_t count, unsigned* out) {
    if (const unsigned bits = gather(from, count); bits != 0) *out = bits;
}
__global__ void __launch_bounds__(threads) fills_with_modified_lines(uint4* to, std::size_t count) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        to[i] = uint4{};
    }
}

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "l2_lines: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

uint4* zeros(std::size_t bytes) {
    uint4* memory = nullptr;
    check(cudaMalloc(&memory, bytes));
    check(cudaMemset(memory, 0, bytes));
    return memory;
}

}  // namespace

int main(int argc, char** argv) {
    const char* lines = argc > 1 ? argv[1] : "empty";
    const int size = argc > 2 ? std::atoi(argv[2]) : 16;
    if (argc > 3 || size < 1 || size > 1024) {
        std::fprintf(stderr, "usage: l2_lines [empty|read|write] [MiB, 1 to 1024]\n");
        return 2;
    }
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, 0));
    const int blocks = device.multiProcessorCount * blocks_per_sm;
    const std::size_t flush_bytes = static_cast<std::size_t>(device.l2CacheSize) * 5 / 2;
    const std::size_t bytes = static_cast<std::size_t>(size) * mib;
    uint4* flushed = zeros(flush_bytes);
    uint4* memory = zeros(bytes);
    auto* out = reinterpret_cast<unsigned*>(zeros(sizeof(uint4)));
    if (std::strcmp(lines, "read") == 0) {
        fills_with_clean_lines<<<blocks, threads>>>(flushed, flush_bytes / sizeof(uint4), out);
    } else if (std::strcmp(lines, "write") == 0) {
        fills_with_modified_lines<<<blocks, threads>>>(flushed, flush_bytes / sizeof(uint4));
    } else if (std::strcmp(lines, "empty") != 0) {
        std::fprintf(stderr, "l2_lines: expected empty, read or write, not '%s'\n", lines);
        return 2;
    }
    reads<<<blocks, threads>>>(memory, bytes / sizeof(uint4), out);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    check(cudaFree(out));
    check(cudaFree(memory));
    check(cudaFree(flushed));
}
