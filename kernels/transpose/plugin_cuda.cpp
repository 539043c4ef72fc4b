// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the launchers.
#include <vector>

#include "common/cuda.hpp"
#include "common/device_inputs.hpp"
#include "transpose/catalogue.hpp"
#include "transpose/launchers.hpp"
#include "transpose/reference.hpp"

namespace transpose {
namespace {

using Check = CheckReport (*)(const Problem&, std::uint64_t seed, const void* out);

class Transposition : public sdk::Instance {
  public:
    Transposition(const Problem& problem, Launcher launcher, Check check)
        : problem_(problem),
          launcher_(launcher),
          check_(check),
          in_(problem.bytes(), "the input"),
          out_(problem.bytes(), "the output") {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        common::fill_device(in_.get(), problem_.dtype, kInput, seed, problem_.count());
        out_.poison();
        common::check(cudaStreamSynchronize(nullptr), "filling the input");
    }

    void launch(void* stream) override {
        common::check(launcher_(problem_, in_.get(), out_.get(), static_cast<cudaStream_t>(stream)),
                      "launch");
    }

    sdk::Verification verify() override {
        const CheckReport report = check_(problem_, seed_, out_.read<unsigned char>().data());
        return {report.passed, report.detail};
    }

  private:
    Problem problem_;
    Launcher launcher_;
    Check check_;
    common::DeviceMemory in_, out_;
    std::uint64_t seed_ = 0;
};

// The bandwidth reference: moves the same bytes and transposes nothing.
cudaError_t launch_copy(const Problem& p, const void* in, void* out, cudaStream_t stream) {
    return cudaMemcpyAsync(out, in, p.bytes(), cudaMemcpyDeviceToDevice, stream);
}

Create create_with(Launcher launcher, Check check = check_transposed) {
    return [=](const sdk::Values& values) {
        return std::make_unique<Transposition>(problem_of(values), launcher, check);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "copy") return create_with(launch_copy, check_copied);
        if (variant == "naive") return create_with(launch_naive);
        if (variant == "shared") return create_with(launch_shared);
        if (variant == "padded") return create_with(launch_padded);
        if (variant == "swizzled") return create_with(launch_swizzled);
        return {};
    });
}

}  // namespace
}  // namespace transpose

PERFGATE_PLUGIN(transpose::plugin);
