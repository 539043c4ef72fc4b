// SPDX-License-Identifier: Apache-2.0
// The descriptor module: the catalogue and the host variant. Loads without CUDA.
#include <cstring>
#include <vector>

#include "softmax/catalogue.hpp"
#include "softmax/reference.hpp"

namespace softmax {
namespace {

class Reference : public sdk::Instance {
  public:
    explicit Reference(const Problem& problem)
        : problem_(problem), in_(problem.bytes()), out_(problem.bytes()) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        fill_logits(problem_, seed, in_.data());
        std::memset(out_.data(), 0xff, out_.size());  // NaN
    }

    void launch(void*) override { softmax_reference(problem_, in_.data(), out_.data()); }

    sdk::Verification verify() override {
        const CheckReport report = check_softmax(problem_, seed_, out_.data());
        return {report.passed, report.detail};
    }

  private:
    Problem problem_;
    std::vector<unsigned char> in_, out_;  // operator new aligns them for any element
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
}  // namespace softmax

PERFGATE_PLUGIN(softmax::plugin);
