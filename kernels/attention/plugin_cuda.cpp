// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the launchers.
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/checker.hpp"
#include "attention/launchers.hpp"
#include "common/cuda.hpp"
#include "common/device_inputs.hpp"
#include "common/unfilled.hpp"

namespace attention {
namespace {

using common::DeviceMemory;

class Heads : public sdk::Instance {
  public:
    using Prepare = Launch (*)(const Problem&, const Tensors&);

    Heads(const Problem& problem, Prepare prepare, double score_rounding)
        : problem_(problem),
          q_(problem.elements() * 2, "Q"),
          k_(problem.elements() * 2, "K"),
          v_(problem.elements() * 2, "V"),
          o_(problem.elements() * 2, "O"),
          launch_(prepare(problem, {q_.as<const std::uint16_t>(), k_.as<const std::uint16_t>(),
                                    v_.as<const std::uint16_t>(), o_.as<std::uint16_t>()})),
          score_rounding_(score_rounding) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        const auto make = [&](const DeviceMemory& operand, Operand which) {
            common::fill_device(operand.get(), common::Dtype::kBf16, which, seed,
                                problem_.elements());
        };
        make(q_, kQuery);
        make(k_, kKey);
        make(v_, kValue);
        o_.poison();
        common::check(cudaStreamSynchronize(nullptr), "filling Q, K and V");
    }

    void launch(void* stream) override { launch_(static_cast<cudaStream_t>(stream)); }

    sdk::Verification verify() override {
        const auto o = o_.read<std::uint16_t, common::Unfilled<std::uint16_t>>();
        const CheckReport report = check_output(problem_, seed_, o.data(), score_rounding_);
        return {report.passed, report.detail};
    }

    std::vector<sdk::Output> outputs() override {
        return {{"O", o_.get(), o_.bytes(), sizeof(std::uint16_t), PG_ELEMENT_BFLOAT16}};
    }

  private:
    Problem problem_;
    DeviceMemory q_, k_, v_, o_;
    Launch launch_;
    double score_rounding_;
    std::uint64_t seed_ = 0;
};

Create create_with(Heads::Prepare prepare, double score_rounding) {
    return [=](const sdk::Values& values) {
        return std::make_unique<Heads>(problem_of(values), prepare, score_rounding);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "unfused") return create_with(prepare_unfused, kScoresInBf16);
        if (variant == "flash") return create_with(prepare_flash, kScoresInF32);
        if (variant == "flash_hopper") return create_with(prepare_flash_hopper, kScoresInF32);
        return {};
    });
}

}  // namespace
}  // namespace attention

PERFGATE_PLUGIN(attention::plugin);
