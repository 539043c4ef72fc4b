// SPDX-License-Identifier: Apache-2.0
// The descriptor module: the catalogue and the host variant. Loads without CUDA.
#include <limits>
#include <vector>

#include "render_backward/catalogue.hpp"
#include "render_backward/checker.hpp"
#include "render_backward/reference.hpp"
#include "render_backward/scene.hpp"

namespace render_backward {
namespace {

struct Side {
    Scene scene;
    std::vector<double> gradients;  // kFields for each Gaussian
};

class Reference : public sdk::Instance {
  public:
    explicit Reference(const Problem& problem) : problem_(problem) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        sides_.clear();
        for (const Sensor sensor : sensors_of(problem_)) {
            Side& side = sides_.emplace_back();
            side.scene = make_scene(problem_, sensor, seed);
            forward_reference(side.scene);
            side.gradients.assign(static_cast<std::size_t>(problem_.gaussians) * kFields,
                                  std::numeric_limits<double>::quiet_NaN());
        }
    }

    void launch(void*) override {
        for (Side& side : sides_) backward_reference(side.scene.view(), side.gradients);
    }

    sdk::Verification verify() override {
        constexpr int kSamples = 8;
        std::string detail;
        for (const Side& side : sides_) {
            const CheckReport report = check_by_differences(
                side.scene.view(), static_cast<std::size_t>(problem_.gaussians),
                side.gradients.data(), seed_, kSamples);
            if (!report.passed) return {false, report.detail};
            detail += (detail.empty() ? "" : "; ") + report.detail;
        }
        return {true, detail};
    }

    std::vector<sdk::Output> outputs() override {
        std::vector<sdk::Output> all;
        for (Side& side : sides_) all.emplace_back("gradients", side.gradients);
        return all;
    }

  private:
    Problem problem_;
    std::vector<Side> sides_;
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
}  // namespace render_backward

PERFGATE_PLUGIN(render_backward::plugin);
