// A plugin: one kernel, its host reference, and the check of its result.
#include "perfgate_cuda.hpp"
using namespace perfgate::sdk;

__global__ void scale(const float* in, float* out, std::size_t n) {
    const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}

struct OnDevice : CudaInstance {
    explicit OnDevice(const Values& values)
        : in(input<float>(values.size("n"))), out(output<float>(in.size())) {}
    void enqueue(cudaStream_t stream) override {
        scale<<<blocks_for(in.size(), 256), 256, 0, stream>>>(in.data(), out.data(), in.size());
    }
    Verification verify() override {
        return elementwise(out, [&](std::size_t i) { return 2.0 * in.filled(i); });
    }
    DeviceBuffer<float>&in, &out;
};

struct OnHost : HostInstance {
    explicit OnHost(const Values& values)
        : in(input<float>(values.size("n"))), out(output<float>(in.size())) {}
    void launch(void*) override {
        for (std::size_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
    }
    Verification verify() override {
        return elementwise(out, [&](std::size_t i) { return 2.0 * in.filled(i); });
    }
    HostBuffer<float>&in, &out;
};

PERFGATE_PLUGIN(one_workload("scale", {Param::integer("n", "elements", 1, 1 << 30)},
                             {cuda_variant<OnDevice>("simple"),
                              host_variant<OnHost>("reference")}));
