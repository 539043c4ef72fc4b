// SPDX-License-Identifier: Apache-2.0
// The descriptor module: the catalogue and the host variant. Loads without CUDA.
#include <algorithm>
#include <vector>

#include "launch/catalogue.hpp"
#include "launch/reference.hpp"

namespace launch {
namespace {

class Reference : public sdk::Instance {
  public:
    explicit Reference(const Problem& problem)
        : problem_(problem),
          in_(static_cast<std::size_t>(problem.elements)),
          out_(static_cast<std::size_t>(problem.elements)) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        fill_input(problem_, seed, in_.data());
        std::fill(out_.begin(), out_.end(), 0xffffffffu);
    }

    void launch(void*) override { run_reference(problem_, in_.data(), out_.data()); }

    sdk::Verification verify() override {
        const CheckReport report = check_chain(problem_, seed_, out_.data());
        return {report.passed, report.detail};
    }

    std::vector<sdk::Output> outputs() override { return {{"out", out_}}; }

  private:
    Problem problem_;
    std::vector<std::uint32_t> in_, out_;
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
}  // namespace launch

PERFGATE_PLUGIN(launch::plugin);
