// SPDX-License-Identifier: Apache-2.0
// A release build must fail its assertion too.
#undef NDEBUG
#include <cassert>

#include "cuda_check.hpp"
#include "later.hpp"

namespace {

using namespace perfgate::sdk;

__global__ void fine(float* out) {
    out[threadIdx.x] = static_cast<float>(threadIdx.x);
}
__global__ void illegal_address(float* out) {
    out[std::int64_t{1} << 40] = 1;
}
__global__ void device_assert(float* out) {
    assert(out[0] == 123456.0f);
}
__global__ void endless(float* out) {
    while (*static_cast<volatile float*>(out) != 123456.0f) {
    }
}

class Fault : public Instance {
  public:
    Fault(void (*kernel)(float*), bool waits) : kernel_(kernel), waits_(waits) {
        cuda_check(cudaMalloc(&out_, 4096), "out");
    }
    ~Fault() override { cudaFree(out_); }
    void fill(std::uint64_t /*seed*/) override { cuda_check(cudaMemset(out_, 0, 4096), "fill"); }
    void launch(void* stream) override {
        kernel_<<<1, 256, 0, static_cast<cudaStream_t>(stream)>>>(out_);
        cuda_check(cudaGetLastError(), "launch");
        if (waits_) cuda_check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "wait");
    }
    Verification verify() override {
        cuda_check(cudaDeviceSynchronize(), "verify");
        return {true, "nothing to check"};
    }

  private:
    void (*kernel_)(float*);
    bool waits_;
    float* out_ = nullptr;
};

class OutOfMemoryFault : public Fault {
  public:
    OutOfMemoryFault() : Fault(fine, false) {
        cuda_check(cudaMalloc(&more_, std::size_t{1} << 46), "64 TiB");
    }
    ~OutOfMemoryFault() override { cudaFree(more_); }

  private:
    void* more_ = nullptr;
};

class Late : public Fault {
  public:
    Late() : Fault(fault::is_late() ? illegal_address : fine, false) {}
};

class Wrong : public Fault {
  public:
    Wrong() : Fault(fine, false) {}
    Verification verify() override {
        Fault::verify();
        return {false, "element 7 is 8, expected 9"};
    }
};

template <class Kind>
Variant variant_of(std::string name) {
    Variant v{.name = std::move(name), .help = "", .target = Target::cuda};
    v.create = [](const Values&) { return std::make_unique<Kind>(); };
    return v;
}

Variant variant(std::string name, void (*kernel)(float*), bool waits = false) {
    Variant v{.name = std::move(name), .help = "", .target = Target::cuda};
    v.create = [=](const Values&) { return std::make_unique<Fault>(kernel, waits); };
    return v;
}

Plugin plugin() {
    Workload workload;
    workload.name = "fault";
    workload.variants = {variant("fine", fine),
                         variant("illegal_address", illegal_address),
                         variant("device_assert", device_assert),
                         variant("waits", fine, true),
                         variant("endless", endless),
                         variant_of<OutOfMemoryFault>("out_of_memory"),
                         variant_of<Late>("late"),
                         variant_of<Wrong>("wrong_on_device")};
    return {.name = "fault", .cuda_module = "", .workloads = {workload}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
