// SPDX-License-Identifier: Apache-2.0
// Each lane issues a cp.async of 16 bytes. In three of the four kernels some or all lanes have a
// source size of 0, as at the edge of a matrix. Shows what the counter of these bytes makes of it:
//   ncu --metrics smsp__sass_data_bytes_mem_global_op_ldgsts.sum async_copies
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int threads = 128;
constexpr int blocks = 1000;
constexpr int chunk = 16;
constexpr int launches = 3;

enum class Copying { all, first_half, every_second, none };

template <Copying kCopying>
__device__ int source_size(int lane, int all) {
    switch (kCopying) {
        case Copying::all:
            return all;
        case Copying::first_half:
            return lane % 32 < 16 ? chunk : 0;
        case Copying::every_second:
            return lane % 2 != 0 ? chunk : 0;
        case Copying::none:
            return all - chunk;
    }
    return 0;
}

// `all` is 16, which the compiler must not know. The memory holds zeros: nothing is stored.
template <Copying kCopying>
__global__ void __launch_bounds__(threads) copies(const uint4* from, unsigned* out, int all) {
    __shared__ uint4 tile[threads];
    const int lane = static_cast<int>(threadIdx.x);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(tile + lane))),
                 "l"(from + blockIdx.x * threads + lane), "r"(source_size<kCopying>(lane, all))
                 : "memory");
    asm volatile("cp.async.wait_all;\n" ::: "memory");
    __syncthreads();
    if (tile[lane].x != 0) *out = tile[lane].x;
}

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "async_copies: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

}  // namespace

int main() {
    constexpr std::size_t bytes = std::size_t{blocks} * threads * chunk;
    uint4* from = nullptr;
    unsigned* out = nullptr;
    check(cudaMalloc(&from, bytes));
    check(cudaMalloc(&out, sizeof(unsigned)));
    check(cudaMemset(from, 0, bytes));
    for (int launch = 0; launch < launches; ++launch) {
        copies<Copying::all><<<blocks, threads>>>(from, out, chunk);
        copies<Copying::first_half><<<blocks, threads>>>(from, out, chunk);
        copies<Copying::every_second><<<blocks, threads>>>(from, out, chunk);
        copies<Copying::none><<<blocks, threads>>>(from, out, chunk);
    }
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    check(cudaFree(out));
    check(cudaFree(from));
}
