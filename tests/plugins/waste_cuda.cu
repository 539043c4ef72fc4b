// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <vector>

#include "cuda_check.hpp"

namespace {

using namespace perfgate::sdk;

constexpr int threads = 256;

/// Multiply-adds per element, hidden behind the memory: an H100 or H200 could do twice as many.
#if defined(WASTE_ENERGY)
constexpr int extra = 8;
#elif defined(WASTE_TIME)
constexpr int extra = 160;  // more than the memory can hide
#else
constexpr int extra = 0;
#endif

__global__ void __launch_bounds__(threads)
    copy_kernel(const float4* x, float4* y, std::int64_t fours) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= fours) return;
    const float4 value = x[i];
    float4 sum = value;
#pragma unroll
    for (int k = 0; k < extra; ++k) {
        sum.x = sum.x * 0.999f + value.y;
        sum.y = sum.y * 0.999f + value.z;
        sum.z = sum.z * 0.999f + value.w;
        sum.w = sum.w * 0.999f + value.x;
    }
    // Never true, which the compiler cannot know: the work stays.
    const bool never = extra > 0 && sum.x + sum.y + sum.z + sum.w == 123456.0f;
    y[i] = never ? sum : value;
}

__global__ void fill_kernel(float* x, std::int64_t n, std::uint64_t seed) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < n) x[i] = static_cast<float>((static_cast<std::uint64_t>(i) + seed) % 8191);
}

class Copy : public Instance {
  public:
    explicit Copy(const Values& values) : n_(values.integer("n")) {
        allocate(&x_, bytes());
        allocate(&y_, bytes());
#if defined(WASTE_MEMORY)
        allocate(&unused_, bytes());
#endif
    }
    ~Copy() override {
        cudaFree(x_);
        cudaFree(y_);
        cudaFree(unused_);
        for (void* piece : leaked_) cudaFree(piece);
    }

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        fill_kernel<<<blocks(n_), threads>>>(x_, n_, seed);
        cuda_check(cudaGetLastError(), "fill");
        cuda_check(cudaMemset(y_, 0xff, bytes()), "y");
        cuda_check(cudaDeviceSynchronize(), "fill");
    }

    void launch(void* stream) override {
#if defined(WASTE_LEAK)
        leaked_.push_back(nullptr);
        cuda_check(cudaMalloc(&leaked_.back(), 64 * 1024), "a piece that nobody frees");
#endif
#if defined(WASTE_CALLS)
        int device = 0;
        for (int i = 0; i < 3; ++i) cuda_check(cudaGetDevice(&device), "device");
#endif
#if defined(WASTE_SUBMISSION)
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
        while (std::chrono::steady_clock::now() < until) {
        }
#endif
        copy_kernel<<<blocks(n_ / 4), threads, 0, static_cast<cudaStream_t>(stream)>>>(
            reinterpret_cast<const float4*>(x_), reinterpret_cast<float4*>(y_), n_ / 4);
        cuda_check(cudaGetLastError(), "copy_kernel");
    }

    Verification verify() override {
        std::vector<float> y(static_cast<std::size_t>(n_));
        cuda_check(cudaMemcpy(y.data(), y_, bytes(), cudaMemcpyDeviceToHost), "the result");
        for (std::size_t i = 0; i < y.size(); ++i) {
            if (y[i] == static_cast<float>((i + seed_) % 8191)) continue;
            return {false, "element " + std::to_string(i) + " is " + std::to_string(y[i])};
        }
        return {true, "all elements"};
    }

  private:
    template <class Pointer>
    static void allocate(Pointer* pointer, std::size_t size) {
        cuda_check(cudaMalloc(pointer, size), "memory");
    }
    std::size_t bytes() const {
        return static_cast<std::size_t>(n_) * sizeof(float);
    }
    static unsigned blocks(std::int64_t count) {
        return static_cast<unsigned>((count + threads - 1) / threads);
    }

    std::int64_t n_;
    std::uint64_t seed_ = 0;
    float *x_ = nullptr, *y_ = nullptr, *unused_ = nullptr;
    std::vector<void*> leaked_;
};

Plugin plugin() {
    Variant device{.name = "device", .help = "on the GPU", .target = Target::cuda};
    device.create = [](const Values& values) { return std::make_unique<Copy>(values); };
    Workload workload;
    workload.name = "waste";
    workload.variants = {device};
    return {.name = "waste", .cuda_module = "", .workloads = {workload}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
