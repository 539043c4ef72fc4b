// A plugin: one kernel, its host reference, and the check of its result.
#include "perfgate_cuda.hpp"
using namespace perfgate::sdk;

__global__ void scale(const float* in, float* out, std::size_t n) {
    const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}

// A case on the GPU (DeviceBuffer) or on the host (HostBuffer).
template <template <class> class Buffer>
struct Scale : Instance {
    explicit Scale(const Values& values) : in(values.size("n")), out(values.size("n")) {}
    void fill(std::uint64_t seed) override { in.fill(seed), out.poison(); }
    Verification verify() override {
        return elementwise(out, [&](std::size_t i) { return 2.0 * in.filled(i); });
    }
    Buffer<float> in, out;
};

struct OnDevice : Scale<DeviceBuffer> {
    using Scale::Scale;
    void launch(void* stream) override {
        scale<<<blocks_for(in.size(), 256), 256, 0, stream_of(stream)>>>(in.data(), out.data(),
                                                                         in.size());
        check_launch();
    }
};

struct OnHost : Scale<HostBuffer> {
    using Scale::Scale;
    void launch(void*) override {
        for (std::size_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
    }
};

static Plugin plugin() {
    return one_workload("scale", {Param::integer("n", "elements", 1, 1 << 30)},
                        {cuda_variant<OnDevice>("simple"), host_variant<OnHost>("reference")});
}
PERFGATE_PLUGIN(plugin);
