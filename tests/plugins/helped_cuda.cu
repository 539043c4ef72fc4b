// SPDX-License-Identifier: Apache-2.0
// A launch copies 4 MiB from pinned host memory, or with HELPED_PAGEABLE from pageable, works on
// them with a kernel, and has libhelper.so do something on the host.
#include <cstdint>
#include <vector>

#include "cuda_check.hpp"

extern "C" void helper_work(std::int64_t ns);

namespace {

using namespace perfgate::sdk;

constexpr int elements = 1 << 20;
constexpr int threads = 256;

__global__ void twice_kernel(const float* x, float* y) {
    const int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
    y[i] = 2 * x[i];
}

class Device : public Instance {
  public:
    explicit Device(const Values& values) : ns_(values.integer("ns")), pageable_(elements) {
        cuda_check(cudaMalloc(&x_, bytes), "x");
        cuda_check(cudaMalloc(&y_, bytes), "y");
        cuda_check(cudaMallocHost(&pinned_, bytes), "pinned memory");
    }
    ~Device() override {
        cudaFree(x_);
        cudaFree(y_);
        cudaFreeHost(pinned_);
    }
    void fill(std::uint64_t seed) override {
        for (int i = 0; i < elements; ++i) {
            pinned_[i] = pageable_[static_cast<std::size_t>(i)] =
                static_cast<float>((seed + static_cast<std::uint64_t>(i)) % 1000);
        }
        cuda_check(cudaMemset(y_, 0xff, bytes), "y");
        cuda_check(cudaDeviceSynchronize(), "fill");
    }
    void launch(void* stream) override {
        const auto on = static_cast<cudaStream_t>(stream);
#if defined(HELPED_PAGEABLE)
        const float* from = pageable_.data();
#else
        const float* from = pinned_;
#endif
        cuda_check(cudaMemcpyAsync(x_, from, bytes, cudaMemcpyHostToDevice, on), "copy");
        twice_kernel<<<elements / threads, threads, 0, on>>>(x_, y_);
        cuda_check(cudaGetLastError(), "twice_kernel");
        helper_work(ns_);
    }
    Verification verify() override {
        std::vector<float> y(elements);
        cuda_check(cudaMemcpy(y.data(), y_, bytes, cudaMemcpyDeviceToHost), "copying the result");
        for (std::size_t i = 0; i < y.size(); ++i) {
            if (y[i] != 2 * pageable_[i]) return {false, "element " + std::to_string(i)};
        }
        return {true, "all elements"};
    }

  private:
    static constexpr std::size_t bytes = elements * sizeof(float);

    std::int64_t ns_;
    std::vector<float> pageable_;
    float *x_ = nullptr, *y_ = nullptr, *pinned_ = nullptr;
};

Plugin plugin() {
    // A copy from pageable memory waits for the stream.
    Variant device{.name = "device", .help = "", .target = Target::cuda};
    device.submission = Submission::synchronous;
    device.create = [](const Values& values) { return std::make_unique<Device>(values); };
    Workload workload;
    workload.name = "helped";
    workload.variants = {device};
    return {.name = "helped", .cuda_module = "", .workloads = {workload}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
