// SPDX-License-Identifier: Apache-2.0
// A kernel that is launched for two sensors, each in a size of its own: two_sensors MIB [deep].
// Every step holds MIB more of device memory while it runs. With `deep` the kernel keeps an array
// on its stack. LIDAR_WORK=N of the environment makes lidar's launches N times as long.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int before = 40, steps = 30, after = 10;
constexpr size_t mib = size_t{1} << 20, own = 64 * mib;

void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}

template <int Depth>
__global__ void scale(float* data, int rounds, int shift) {
    const size_t at = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    float kept[Depth] = {data[at]};
    // An index that is known at run time alone keeps a larger array out of the registers.
    for (int i = 0; i < rounds; ++i) {
        kept[(i + shift) % Depth] = kept[i % Depth] * 1.0001f + 0.5f;
    }
    data[at] = kept[shift % Depth];
}

template <int Depth>
void run(size_t held) {
    const char* word = std::getenv("LIDAR_WORK");
    const int lidar_work = word != nullptr ? std::atoi(word) : 1;
    float* data = nullptr;
    check(cudaMalloc(&data, own), "cudaMalloc");
    check(cudaMemset(data, 0, own), "cudaMemset");
    const auto camera = [&] { scale<Depth><<<1024, 256>>>(data, 4000, 0); };
    const auto lidar = [&] { scale<Depth><<<64, 128>>>(data, 8000 * lidar_work, 0); };
    for (int i = 0; i < before; ++i) camera();
    check(cudaDeviceSynchronize(), "before");

    check(cudaProfilerStart(), "cudaProfilerStart");
    nvtxRangePushA("measured");
    for (int i = 0; i < steps; ++i) {
        nvtxRangePushA("step");
        void* more = nullptr;
        check(cudaMalloc(&more, held), "cudaMalloc");
        camera();
        lidar();
        check(cudaDeviceSynchronize(), "step");
        check(cudaFree(more), "cudaFree");
        nvtxRangePop();
    }
    nvtxRangePop();
    check(cudaProfilerStop(), "cudaProfilerStop");

    for (int i = 0; i < after; ++i) camera();
    check(cudaDeviceSynchronize(), "after");
    std::printf("{\"before\": %d, \"steps\": %d, \"after\": %d, \"memory_peak\": %zu}\n", before,
                steps, after, own + held);
}

}  // namespace

int main(int argc, char** argv) {
    const size_t held = argc > 1 ? std::strtoull(argv[1], nullptr, 10) * mib : mib;
    if (argc > 2 && std::strcmp(argv[2], "deep") == 0) {
        run<64>(held);
    } else {
        run<1>(held);
    }
    return 0;
}
