// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the launchers.
#include <vector>

#include "common/cuda.hpp"
#include "softmax/catalogue.hpp"
#include "softmax/launchers.hpp"
#include "softmax/reference.hpp"

namespace softmax {
namespace {

using Check = CheckReport (*)(const Problem&, std::uint64_t seed, const void* out);

class Softmax : public sdk::Instance {
  public:
    Softmax(const Problem& problem, Launcher launcher, Check check)
        : problem_(problem),
          launcher_(launcher),
          check_(check),
          in_(problem.bytes(), "the input"),
          out_(problem.bytes(), "the output") {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        common::check(fill_logits_device(problem_, seed, in_.get(), nullptr), "filling the input");
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

// The bandwidth reference: moves the same bytes and computes nothing.
cudaError_t launch_copy(const Problem& p, const void* in, void* out, cudaStream_t stream) {
    return cudaMemcpyAsync(out, in, p.bytes(), cudaMemcpyDeviceToDevice, stream);
}

Create create_with(Launcher launcher, Check check = check_softmax) {
    return [=](const sdk::Values& values) {
        return std::make_unique<Softmax>(problem_of(values), launcher, check);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "copy") return create_with(launch_copy, check_copied);
        if (variant == "three_pass") return create_with(launch_three_pass);
        if (variant == "online") return create_with(launch_online);
        return {};
    });
}

}  // namespace
}  // namespace softmax

PERFGATE_PLUGIN(softmax::plugin);
