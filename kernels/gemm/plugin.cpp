// SPDX-License-Identifier: Apache-2.0
// The descriptor module: the catalogue and the host variant. Loads without CUDA.
#include <algorithm>
#include <limits>
#include <vector>

#include "gemm/catalogue.hpp"
#include "gemm/epilogue.hpp"
#include "gemm/epilogue_check.hpp"
#include "gemm/inputs.hpp"
#include "gemm/reference.hpp"

namespace gemm {
namespace {

class Reference : public sdk::Instance {
  public:
    explicit Reference(const Problem& problem)
        : problem_(problem),
          a_(problem.a_count() * element_bytes(problem.dtype)),
          b_(problem.b_count() * element_bytes(problem.dtype)),
          product_(problem.c_count()),
          c_(problem.epilogue == Epilogue::kNone ? 0 : problem.c_count()) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        fill_host(a_.data(), problem_.dtype, Operand::kA, seed, 0, problem_.a_count());
        fill_host(b_.data(), problem_.dtype, Operand::kB, seed, 0, problem_.b_count());
        bias_ = common::widened_inputs(Dtype::kF32, Operand::kBias, seed,
                                       static_cast<std::size_t>(problem_.n), 1);
        std::fill(product_.begin(), product_.end(), std::numeric_limits<float>::quiet_NaN());
        std::fill(c_.begin(), c_.end(), std::numeric_limits<float>::quiet_NaN());
    }

    void launch(void*) override {
        multiply_reference(problem_, a_.data(), b_.data(), product_.data());
        for (std::size_t i = 0; i < c_.size(); ++i) {
            c_[i] = static_cast<float>(finish(problem_.epilogue, static_cast<double>(product_[i]),
                                              static_cast<double>(bias_[i % bias_.size()])));
        }
    }

    sdk::Verification verify() override {
        const CheckReport report = check_epilogue_of_seed(problem_, seed_, product_.data(),
                                                          c_.empty() ? product_.data() : c_.data());
        return {report.passed, report.detail};
    }

    std::vector<sdk::Output> outputs() override { return {{"C", c_.empty() ? product_ : c_}}; }

  private:
    Problem problem_;
    std::vector<unsigned char> a_, b_;  // operator new aligns them for any element
    common::UnfilledVector<float> bias_;
    std::vector<float> product_;
    std::vector<float> c_;  // empty where the product is all
    std::uint64_t seed_ = 0;
};

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant != "reference") return {};
        return [](const sdk::Values& values) {
            return std::make_unique<Reference>(problem_of(values));
        };
    });
}

}  // namespace
}  // namespace gemm

PERFGATE_PLUGIN(gemm::plugin);
