// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of repeats: what can and cannot be captured by a graph, and outputs on the
// device.
#include <cstdint>
#include <vector>

#include "perfgate_cuda.hpp"

namespace {

using namespace perfgate::sdk;

constexpr unsigned threads = 256;

__global__ void twice(const float* x, float* y, std::size_t n, float factor) {
    const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

struct Twice : Instance {
    explicit Twice(const Values& values) : x(values.size("n")), y(x.size()) {}
    void fill(std::uint64_t seed) override {
        x.fill(seed);
        y.poison();
    }
    void launch(void* stream) override { enqueue(stream_of(stream), 2); }
    Verification verify() override {
        return elementwise(y, [&](std::size_t i) { return 2.0 * x.filled(i); });
    }
    std::vector<Output> outputs() override { return {{"y", y}}; }

    void enqueue(cudaStream_t stream, float factor) {
        twice<<<blocks_for(x.size(), threads), threads, 0, stream>>>(x.data(), y.data(), x.size(),
                                                                     factor);
        check_launch();
    }
    DeviceBuffer<float> x, y;
};

/// Says that it does not wait.
struct Waits : Twice {
    using Twice::Twice;
    void launch(void* stream) override {
        Twice::launch(stream);
        check(cudaStreamSynchronize(stream_of(stream)), "waiting");
    }
};

/// Right by a launch, within the tolerance by a graph.
struct OtherByGraph : Twice {
    using Twice::Twice;
    void launch(void* stream) override {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        check(cudaStreamIsCapturing(stream_of(stream), &status), "asking whether it captures");
        const bool captures = status == cudaStreamCaptureStatusActive;
        enqueue(stream_of(stream), captures ? 2.000001f : 2);
    }
};

/// Ignores the stream that it is given.
struct Elsewhere : Twice {
    using Twice::Twice;
    void launch(void*) override { enqueue(nullptr, 2); }
};

/// Its output goes to the host's memory.
struct ToHost : Twice {
    explicit ToHost(const Values& values) : Twice(values), host(y.size()) {
        check(cudaHostRegister(host.data(), host.size() * sizeof(float), 0), "page-locking");
    }
    ~ToHost() override { cudaHostUnregister(host.data()); }
    void fill(std::uint64_t seed) override {
        Twice::fill(seed);
        host.poison();
    }
    void launch(void* stream) override {
        Twice::launch(stream);
        check(cudaMemcpyAsync(host.data(), y.data(), host.size() * sizeof(float),
                              cudaMemcpyDeviceToHost, stream_of(stream)),
              "copying to the host");
    }
    std::vector<Output> outputs() override { return {{"host", host}}; }
    HostBuffer<float> host;
};

/// Names more than it has.
struct Beyond : Twice {
    using Twice::Twice;
    std::vector<Output> outputs() override {
        return {{"y", y.data(), std::size_t{1} << 30, sizeof(float)}};
    }
};

struct Unnamed : Twice {
    using Twice::Twice;
    std::vector<Output> outputs() override { return {}; }
};

Plugin plugin() {
    return one_workload(
        "repeats", {Param::integer("n", "elements", 4, 1 << 28, "4096")},
        {cuda_variant<Twice>("device_same"), cuda_variant<Waits>("device_waits"),
         cuda_variant<OtherByGraph>("device_other_by_graph"),
         cuda_variant<Elsewhere>("device_elsewhere"), cuda_variant<ToHost>("device_to_host"),
         cuda_variant<Beyond>("device_beyond"), cuda_variant<Unnamed>("device_unnamed")});
}

}  // namespace

PERFGATE_PLUGIN(plugin);
