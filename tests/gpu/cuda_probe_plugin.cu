// SPDX-License-Identifier: Apache-2.0
//
// A workload that does on purpose what the CUDA backend must cope with: each variant is one habit
// of real kernels. Known sizes make counts exact: n floats, n a multiple of 1024.
#include <cuda_runtime.h>

#include <cmath>
#include <string>
#include <vector>

#include "perfgate.hpp"

namespace {

using perfgate::sdk::Instance;
using perfgate::sdk::Submission;
using perfgate::sdk::Target;
using perfgate::sdk::Values;
using perfgate::sdk::Variant;
using perfgate::sdk::Verification;

constexpr int kBlock = 256;

void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    throw perfgate::sdk::DeviceError(std::string(what) + ": " + cudaGetErrorString(code));
}

__global__ void scale(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

__global__ void add(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

__global__ void write_nowhere(float* y) {
    y[size_t{1} << 50] = 1.0f;
}

__global__ void spin(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

class Probe : public Instance {
  public:
    explicit Probe(const Values& values) : n_(static_cast<int>(values.integer("n"))) {
        check(cudaMalloc(&x_, bytes()), "cudaMalloc");
        check(cudaMalloc(&y_, bytes()), "cudaMalloc");
    }
    ~Probe() override {
        cudaFree(x_);
        cudaFree(y_);
    }

    void fill(std::uint64_t seed) override {
        host_.resize(n_);
        for (int i = 0; i < n_; ++i) host_[i] = static_cast<float>((i * 7 + seed) % 1000);
        check(cudaMemcpy(x_, host_.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
        check(cudaMemset(y_, 0xFF, bytes()), "cudaMemset");
        check(cudaDeviceSynchronize(), "fill");
    }

    Verification verify() override {
        std::vector<float> y(n_);
        check(cudaMemcpy(y.data(), y_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
        for (int i = 0; i < n_; ++i) {
            if (y[i] != factor() * host_[i]) {
                return {false, "element " + std::to_string(i) + " is wrong"};
            }
        }
        return {true, "all elements"};
    }

  protected:
    virtual float factor() const { return 2.0f; }
    std::size_t bytes() const { return sizeof(float) * n_; }
    int blocks() const { return (n_ + kBlock - 1) / kBlock; }
    void scale_on(void* stream) {
        scale<<<blocks(), kBlock, 0, static_cast<cudaStream_t>(stream)>>>(x_, y_, n_);
        check(cudaGetLastError(), "scale");
    }

    int n_;
    float* x_ = nullptr;
    float* y_ = nullptr;
    std::vector<float> host_;
};

struct One : Probe {
    using Probe::Probe;
    void launch(void* stream) override { scale_on(stream); }
};

// More kernels than are queued behind a blocked stream.
struct Many : Probe {
    using Probe::Probe;
    void launch(void* stream) override {
        for (int i = 0; i < 600; ++i) scale_on(stream);
    }
};

// A memset, two kernels and a copy.
struct Several : Probe {
    using Probe::Probe;
    float factor() const override { return 3.0f; }
    void launch(void* stream) override {
        auto* s = static_cast<cudaStream_t>(stream);
        check(cudaMemsetAsync(y_, 0, bytes(), s), "cudaMemsetAsync");
        scale_on(stream);
        add<<<blocks(), kBlock, 0, s>>>(x_, y_, n_);
        check(cudaGetLastError(), "add");
        check(cudaMemcpyAsync(x_, x_, bytes() / 2, cudaMemcpyDeviceToDevice, s), "cudaMemcpyAsync");
    }
};

// Changes what it reads: y is y + x, and y starts as zeros.
struct InPlace : Probe {
    using Probe::Probe;
    float factor() const override { return 1.0f; }
    void fill(std::uint64_t seed) override {
        Probe::fill(seed);
        check(cudaMemset(y_, 0, bytes()), "cudaMemset");
        check(cudaDeviceSynchronize(), "fill");
    }
    void launch(void* stream) override {
        add<<<blocks(), kBlock, 0, static_cast<cudaStream_t>(stream)>>>(x_, y_, n_);
        check(cudaGetLastError(), "add");
    }
    void reset(void* stream) override {
        check(cudaMemsetAsync(y_, 0, bytes(), static_cast<cudaStream_t>(stream)),
              "cudaMemsetAsync");
    }
};

struct Graph : Probe {
    explicit Graph(const Values& values) : Probe(values) {
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        scale_on(stream);
        add<<<blocks(), kBlock, 0, stream>>>(x_, y_, n_);
        check(cudaStreamEndCapture(stream, &graph), "capture");
        check(cudaGraphInstantiate(&exec_, graph, 0), "cudaGraphInstantiate");
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
    }
    ~Graph() override { cudaGraphExecDestroy(exec_); }
    float factor() const override { return 3.0f; }
    void launch(void* stream) override {
        check(cudaGraphLaunch(exec_, static_cast<cudaStream_t>(stream)), "cudaGraphLaunch");
    }
    cudaGraphExec_t exec_ = nullptr;
};

struct Waits : Probe {
    using Probe::Probe;
    void launch(void* stream) override {
        scale_on(stream);
        check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize");
    }
};

struct Wrong : Probe {
    using Probe::Probe;
    float factor() const override { return 2.5f; }
    void launch(void* stream) override { scale_on(stream); }
};

struct Crash : Probe {
    using Probe::Probe;
    void launch(void* stream) override {
        write_nowhere<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(y_);
        check(cudaGetLastError(), "write_nowhere");
    }
};

// Each launch differs from the one before: one kernel, then two.
struct Fickle : Probe {
    using Probe::Probe;
    void launch(void* stream) override {
        scale_on(stream);
        if (++launches_ % 2 == 0) scale_on(stream);
    }
    int launches_ = 0;
};

// Asks the L2 cache to keep its input.
struct Persisting : Probe {
    explicit Persisting(const Values& values) : Probe(values) {
        check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes()), "cudaDeviceSetLimit");
    }
    void launch(void* stream) override {
        cudaStreamAttrValue attribute{};
        attribute.accessPolicyWindow.base_ptr = x_;
        attribute.accessPolicyWindow.num_bytes = bytes();
        attribute.accessPolicyWindow.hitRatio = 1.0f;
        attribute.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
        attribute.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
        check(cudaStreamSetAttribute(static_cast<cudaStream_t>(stream),
                                     cudaStreamAttributeAccessPolicyWindow, &attribute),
              "cudaStreamSetAttribute");
        scale_on(stream);
    }
};

// Works on a stream of its own, between events on the one given.
struct Elsewhere : Probe {
    explicit Elsewhere(const Values& values) : Probe(values) {
        check(cudaStreamCreateWithFlags(&own_, cudaStreamNonBlocking), "cudaStreamCreate");
        for (cudaEvent_t* event : {&begin_, &end_}) {
            check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreate");
        }
    }
    ~Elsewhere() override {
        cudaStreamDestroy(own_);
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    void launch(void* stream) override {
        auto* given = static_cast<cudaStream_t>(stream);
        check(cudaEventRecord(begin_, given), "cudaEventRecord");
        check(cudaStreamWaitEvent(own_, begin_, 0), "cudaStreamWaitEvent");
        scale_on(own_);
        check(cudaEventRecord(end_, own_), "cudaEventRecord");
        check(cudaStreamWaitEvent(given, end_, 0), "cudaStreamWaitEvent");
    }
    cudaStream_t own_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// A known length of time, about: half a million cycles.
struct Spin : Probe {
    using Probe::Probe;
    void launch(void* stream) override {
        scale_on(stream);
        spin<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(500'000);
        check(cudaGetLastError(), "spin");
    }
};

class OnHost : public Instance {
  public:
    void fill(std::uint64_t) override { done_ = false; }
    void launch(void*) override { done_ = true; }
    Verification verify() override { return {done_, "ran"}; }

  private:
    bool done_ = false;
};

template <class Kind>
Variant variant(const char* name, Submission submission = Submission::async,
                bool needs_reset = false) {
    Variant variant{.name = name, .help = "see the source"};
    variant.submission = submission;
    variant.needs_reset = needs_reset;
    variant.create = [](const Values& values) { return std::make_unique<Kind>(values); };
    return variant;
}

perfgate::sdk::Plugin plugin() {
    Variant host{.name = "host", .help = "does nothing", .target = Target::host};
    host.create = [](const Values&) { return std::make_unique<OnHost>(); };
    return {.name = "cuda_probe",
            .cuda_module = "",
            .workloads = {
                {.name = "probe",
                 .help = "what a backend must cope with",
                 .params = {perfgate::sdk::Param::integer("n", "floats", 1, 1 << 28, "1048576")},
                 .variants = {
                     variant<One>("one"), variant<Several>("several"), variant<Many>("many"),
                     variant<InPlace>("in_place", Submission::async, true),
                     variant<Graph>("graph", Submission::graph),
                     variant<Waits>("waits", Submission::synchronous), variant<Waits>("liar"),
                     variant<Wrong>("wrong"), variant<Crash>("crash"), variant<Fickle>("fickle"),
                     variant<Spin>("spin"), variant<Persisting>("persisting"),
                     variant<Elsewhere>("elsewhere"), host}}}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
