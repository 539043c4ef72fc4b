// SPDX-License-Identifier: Apache-2.0
// The descriptor module: the catalogue and the host variant. Loads without CUDA.
#include <algorithm>
#include <vector>

#include "attention/catalogue.hpp"
#include "attention/checker.hpp"
#include "attention/reference.hpp"
#include "common/inputs.hpp"

namespace attention {
namespace {

class Reference : public sdk::Instance {
  public:
    explicit Reference(const Problem& problem)
        : problem_(problem),
          q_(problem.elements()),
          k_(problem.elements()),
          v_(problem.elements()),
          o_(problem.elements()) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        const auto make = [&](std::vector<std::uint16_t>& operand, Operand which) {
            common::fill_host(operand.data(), common::Dtype::kBf16, which, seed, 0, operand.size());
        };
        make(q_, kQuery);
        make(k_, kKey);
        make(v_, kValue);
        std::fill(o_.begin(), o_.end(), static_cast<std::uint16_t>(0xffff));  // NaN
    }

    void launch(void*) override {
        attend_all(problem_, q_.data(), k_.data(), v_.data(), o_.data());
    }

    sdk::Verification verify() override {
        const CheckReport report = check_output(problem_, seed_, o_.data(), kScoresInF32);
        return {report.passed, report.detail};
    }

    std::vector<sdk::Output> outputs() override {
        return {{"O", o_.data(), o_.size() * sizeof(std::uint16_t), sizeof(std::uint16_t),
                 PG_ELEMENT_BFLOAT16}};
    }

  private:
    Problem problem_;
    std::vector<std::uint16_t> q_, k_, v_, o_;
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
}  // namespace attention

PERFGATE_PLUGIN(attention::plugin);
