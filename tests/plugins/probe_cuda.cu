// SPDX-License-Identifier: Apache-2.0
#include "cuda_check.hpp"
#include "probe.hpp"

#if defined(PROBE_SECOND)
// Beside the probe's kernels in the same module, and never launched.
extern "C" __global__ void second_kernel(double* y) {
    __shared__ double staged[256];
    staged[threadIdx.x] = y[threadIdx.x] * 3.25;
    __syncthreads();
    y[threadIdx.x] = staged[255 - threadIdx.x];
}
#endif

namespace {

using namespace perfgate::sdk;

constexpr int threads = 256;

#if defined(PROBE_SPILL)
// Sixty-four values alive at once and 32 registers a thread to keep them in.
constexpr int chains = 64;
__global__ void __launch_bounds__(threads, 8)
#else
constexpr int chains = 1;
__global__ void __launch_bounds__(threads)
#endif
    probe_kernel(const float* x, float* y, std::int64_t n, int iterations, bool wrong) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= n) return;
    float values[chains];
#pragma unroll
    for (int c = 0; c < chains; ++c) values[c] = x[i] + static_cast<float>(c);
    // The ten per cent more of the slow kind change nothing in the result: they run on a copy.
    // Those that spill go along for a part of the way: it would take a hundred times as long.
    const int together = chains > 1 ? iterations / 50 : iterations;
    for (int k = 0; k < together; ++k) {
#pragma unroll
        for (int c = 0; c < chains; ++c) {
            values[c] = values[c] * static_cast<float>(probe::multiplier) +
                        static_cast<float>(probe::addend);
        }
    }
    for (int k = together; k < iterations; ++k) {
        values[0] =
            values[0] * static_cast<float>(probe::multiplier) + static_cast<float>(probe::addend);
    }
    float result = values[0];
#if defined(PROBE_SLOW)
    float extra = result;
    for (int k = 0; k < iterations * (probe::cuda_percent - 100) / 100; ++k) {
        extra = extra * static_cast<float>(probe::multiplier) + static_cast<float>(probe::addend);
    }
    // Never true, which the compiler cannot know: the work stays.
    if (extra == 123456.0f) result = extra;
#endif
#if defined(PROBE_SPILL)
    float sum = 0;
#pragma unroll
    for (int c = 1; c < chains; ++c) sum += values[c];
    if (sum == 123456.0f) result = sum;
#endif
    y[i] = wrong && i == n - 1 ? result + 1 : result;
}

__global__ void fill_kernel(float* x, float* y, std::int64_t n, std::uint64_t seed) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= n) return;
    std::uint64_t bits =
        (seed + 1) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(i) * 0xbf58476d1ce4e5b9ULL;
    bits ^= bits >> 31;
    bits *= 0x94d049bb133111ebULL;
    x[i] = static_cast<float>(bits >> 40) / static_cast<float>(1 << 24);
    y[i] = __int_as_float(0x7fffffff);
}

class DeviceProbe : public Instance {
  public:
    explicit DeviceProbe(const Values& values)
        : iterations_(static_cast<int>(values.integer("iterations"))), n_(values.integer("n")) {
        const auto bytes = static_cast<std::size_t>(n_) * sizeof(float);
        cuda_check(cudaMalloc(&x_, bytes), "x");
        const cudaError_t second = cudaMalloc(&y_, bytes);
        if (second != cudaSuccess) cudaFree(x_);
        cuda_check(second, "y");
    }
    ~DeviceProbe() override {
        cudaFree(x_);
        cudaFree(y_);
    }

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        fill_kernel<<<blocks(), threads>>>(x_, y_, n_, seed);
        cuda_check(cudaGetLastError(), "fill");
        cuda_check(cudaDeviceSynchronize(), "fill");
    }
    void launch(void* stream) override {
        probe_kernel<<<blocks(), threads, 0, static_cast<cudaStream_t>(stream)>>>(
            x_, y_, n_, iterations_, probe::wrong);
        cuda_check(cudaGetLastError(), "probe_kernel");
    }
    Verification verify() override {
        std::vector<float> y(static_cast<std::size_t>(n_));
        cuda_check(cudaMemcpy(y.data(), y_, y.size() * sizeof(float), cudaMemcpyDeviceToHost),
                   "copying the result");
        return probe::check(y, seed_, iterations_);
    }

  private:
    unsigned blocks() const { return static_cast<unsigned>((n_ + threads - 1) / threads); }

    int iterations_;
    std::int64_t n_;
    std::uint64_t seed_ = 0;
    float *x_ = nullptr, *y_ = nullptr;
};

Plugin plugin() {
    Variant device{.name = "device", .help = "on the GPU", .target = Target::cuda};
    device.create = [](const Values& values) { return std::make_unique<DeviceProbe>(values); };
    Workload workload;
    workload.name = "probe";
    workload.variants = {device};
    return {.name = "probe", .cuda_module = "", .workloads = {workload}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
