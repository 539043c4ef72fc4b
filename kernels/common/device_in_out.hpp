// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of a workload with one input and one output of the same size.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "common/cuda.hpp"
#include "common/unfilled.hpp"
#include "perfgate.hpp"

namespace common {

// kFill(problem, seed, in) enqueues filling the input on the default stream.
template <class Problem, class Report, auto kFill>
class DeviceInOut : public perfgate::sdk::Instance {
  public:
    using Prepare = Launch (*)(const Problem&, const void* in, void* out);
    using Check = Report (*)(const Problem&, std::uint64_t seed, const void* out);

    DeviceInOut(const Problem& problem, Prepare prepare, Check check)
        : problem_(problem),
          check_(check),
          in_(problem.bytes(), "the input"),
          out_(problem.bytes(), "the output"),
          launch_(prepare(problem, in_.get(), out_.get())) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        kFill(problem_, seed, in_.get());
        out_.poison();
        check(cudaStreamSynchronize(nullptr), "filling the input");
    }

    void launch(void* stream) override { launch_(static_cast<cudaStream_t>(stream)); }

    perfgate::sdk::Verification verify() override {
        using Byte = unsigned char;
        const auto bytes = out_.template read<Byte, Unfilled<Byte>>();
        const Report report = check_(problem_, seed_, bytes.data());
        return {report.passed, report.detail};
    }

    std::vector<perfgate::sdk::Output> outputs() override { return {{"out", out_}}; }

  private:
    Problem problem_;
    Check check_;
    DeviceMemory in_, out_;
    Launch launch_;
    std::uint64_t seed_ = 0;
};

// The bandwidth reference: moves the same bytes and computes nothing.
template <class Problem>
Launch prepare_copy(const Problem& problem, const void* in, void* out) {
    return [=, bytes = problem.bytes()](cudaStream_t stream) {
        check(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream), "copying");
    };
}

}  // namespace common
