// SPDX-License-Identifier: Apache-2.0
// The descriptor module: the catalogue and the host variant. Loads without CUDA.
#include <algorithm>
#include <limits>

#include "interpolate/catalogue.hpp"
#include "interpolate/reference.hpp"

namespace interpolate {
namespace {

class Reference : public sdk::Instance {
  public:
    explicit Reference(const Problem& problem) : problem_(problem) {}

    void fill(std::uint64_t seed) override {
        scene_ = make_scene(problem_, seed);
        for (std::size_t f = 0; f < kFields; ++f) {
            result_[f].assign(problem_.elements(kAllFields[f]),
                              std::numeric_limits<float>::quiet_NaN());
        }
    }

    void launch(void*) override { result_ = interpolate_scene(problem_, scene_); }

    sdk::Verification verify() override {
        const CheckReport report = check_result(problem_, scene_, result_);
        return {report.passed, report.detail};
    }

    std::vector<sdk::Output> outputs() override {
        std::vector<sdk::Output> all;
        for (std::size_t f = 0; f < kFields; ++f) all.emplace_back(kAllFields[f].name, result_[f]);
        return all;
    }

  private:
    Problem problem_;
    Scene scene_;
    Result result_;
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
}  // namespace interpolate

PERFGATE_PLUGIN(interpolate::plugin);
