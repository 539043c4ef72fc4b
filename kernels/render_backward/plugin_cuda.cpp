// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the launchers.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda.hpp"
#include "common/parallel.hpp"
#include "common/unfilled.hpp"
#include "render_backward/catalogue.hpp"
#include "render_backward/checker.hpp"
#include "render_backward/launchers.hpp"
#include "render_backward/scene.hpp"

namespace render_backward {
namespace {

// A copy on the device. An empty vector has memory too: no null pointer reaches a kernel.
template <class T>
class DeviceCopy {
  public:
    DeviceCopy(const std::vector<T>& values, const char* what)
        : memory_(std::max<std::size_t>(values.size(), 1) * sizeof(T), what) {
        common::check(cudaMemcpy(memory_.get(), values.data(), values.size() * sizeof(T),
                                 cudaMemcpyHostToDevice),
                      std::string("copying ") + what);
    }
    T* get() const { return memory_.as<T>(); }

    void read_into(std::vector<T>& values) const {
        common::check(cudaMemcpy(values.data(), memory_.get(), values.size() * sizeof(T),
                                 cudaMemcpyDeviceToHost),
                      "reading what the forward pass left");
    }

  private:
    common::DeviceMemory memory_;
};

// A scene on both sides, after the forward pass.
class SensorImage {
  public:
    explicit SensorImage(Scene scene)
        : scene_(std::move(scene)),
          splats_(scene_.splats, "splats"),
          order_(scene_.order, "the lists of tiles"),
          tile_begin_(scene_.tile_begin, "tiles"),
          row_y_(scene_.row_y, "rows"),
          cotangent_(scene_.cotangent, "the loss"),
          light_(scene_.light, "light"),
          range_(scene_.range, "range"),
          walked_(scene_.walked, "list lengths") {
        render_forward(view(), light_.get(), range_.get(), walked_.get());
        light_.read_into(scene_.light);
        range_.read_into(scene_.range);
        walked_.read_into(scene_.walked);
    }

    View view() const {
        return {scene_.sensor, scene_.width,      scene_.height, splats_.get(),
                order_.get(),  tile_begin_.get(), row_y_.get(),  cotangent_.get(),
                light_.get(),  range_.get(),      walked_.get()};
    }
    const Scene& scene() const { return scene_; }

  private:
    Scene scene_;
    DeviceCopy<Splat> splats_;
    DeviceCopy<std::uint32_t> order_, tile_begin_;
    DeviceCopy<float> row_y_, cotangent_, light_, range_;
    DeviceCopy<std::uint32_t> walked_;
};

class Gradients : public sdk::Instance {
  public:
    Gradients(const Problem& problem, Prepare* prepare)
        : problem_(problem),
          prepare_(prepare),
          gradients_(sensors_of(problem).size() * count() * sizeof(float), "gradients") {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        launches_.clear();
        images_.clear();
        // Side by side: half of making a scene runs on one core.
        const std::vector<Sensor> sensors = sensors_of(problem_);
        std::vector<Scene> scenes(sensors.size());
        common::parallel_for(sensors.size(), 0, [&](std::size_t i) {
            scenes[i] = make_scene(problem_, sensors[i], seed);
        });
        for (Scene& scene : scenes) {
            float* const gradients = gradients_.as<float>() + images_.size() * count();
            images_.push_back(std::make_unique<SensorImage>(std::move(scene)));
            launches_.push_back(prepare_(images_.back()->view(), gradients));
        }
        gradients_.poison();
        common::check(cudaStreamSynchronize(nullptr), "setting up the scene");
    }

    // Zeroing is part of the work: atomics add to what is there.
    void launch(void* stream) override {
        auto* const to = static_cast<cudaStream_t>(stream);
        common::check(cudaMemsetAsync(gradients_.get(), 0, gradients_.bytes(), to), "zeroing");
        for (const common::Launch& add_gradients : launches_) add_gradients(to);
    }

    sdk::Verification verify() override {
        const auto gradients = gradients_.read<float, common::Unfilled<float>>();
        // Both sensors at once: half of a check is serial.
        std::vector<CheckReport> reports(images_.size());
        common::parallel_for(images_.size(), 0, [&](std::size_t i) {
            reports[i] = check_gradients(images_[i]->scene().view(), gaussians(),
                                         gradients.data() + i * count(), seed_);
        });
        std::string detail;
        for (const CheckReport& report : reports) {
            if (!report.passed) return {false, report.detail};
            detail += (detail.empty() ? "" : "; ") + report.detail;
        }
        return {true, detail};
    }

    std::vector<sdk::Output> outputs() override {
        return {
            {"gradients", gradients_.get(), gradients_.bytes(), sizeof(float), PG_ELEMENT_FLOAT}};
    }

  private:
    std::size_t gaussians() const { return static_cast<std::size_t>(problem_.gaussians); }
    std::size_t count() const { return gaussians() * kFields; }

    Problem problem_;
    Prepare* prepare_;
    common::DeviceMemory gradients_;  // of each sensor in turn
    std::vector<std::unique_ptr<SensorImage>> images_;
    std::vector<common::Launch> launches_;  // one for each image
    std::uint64_t seed_ = 0;
};

Create create_with(Prepare* prepare) {
    return [prepare](const sdk::Values& values) {
        return std::make_unique<Gradients>(problem_of(values), prepare);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "monolithic") return create_with(prepare_monolithic);
        if (variant == "split") return create_with(prepare_split);
        return {};
    });
}

}  // namespace
}  // namespace render_backward

PERFGATE_PLUGIN(render_backward::plugin);
