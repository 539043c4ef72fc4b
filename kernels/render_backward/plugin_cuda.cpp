// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the launchers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
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

// A scene on both sides. `forward`: the forward pass is still to come, and leaves its outputs in
// both.
class SensorImage {
  public:
    SensorImage(Scene& scene, bool forward)
        : scene_(scene),
          splats_(scene.splats, "splats"),
          order_(scene.order, "the lists of tiles"),
          tile_begin_(scene.tile_begin, "tiles"),
          row_y_(scene.row_y, "rows"),
          cotangent_(scene.cotangent, "the loss"),
          light_(scene.light, "light"),
          range_(scene.range, "range"),
          walked_(scene.walked, "list lengths") {
        if (!forward) return;
        render_forward(view(), light_.get(), range_.get(), walked_.get());
        light_.read_into(scene.light);
        range_.read_into(scene.range);
        walked_.read_into(scene.walked);
    }

    View view() const {
        return {scene_.sensor, scene_.width,      scene_.height, splats_.get(),
                order_.get(),  tile_begin_.get(), row_y_.get(),  cotangent_.get(),
                light_.get(),  range_.get(),      walked_.get()};
    }

  private:
    const Scene& scene_;
    DeviceCopy<Splat> splats_;
    DeviceCopy<std::uint32_t> order_, tile_begin_;
    DeviceCopy<float> row_y_, cotangent_, light_, range_;
    DeviceCopy<std::uint32_t> walked_;
};

// What a scene is made from: the other sensor's image is no part of it.
using SceneKey = std::tuple<int, Density, Sensor, int, int, std::uint64_t>;

SceneKey key_of(const Problem& problem, Sensor sensor, std::uint64_t seed) {
    const bool camera = sensor == Sensor::kCamera;
    return {problem.gaussians,
            problem.density,
            sensor,
            camera ? problem.camera_width : problem.lidar_columns,
            camera ? problem.camera_height : problem.lidar_beams,
            seed};
}

// The scenes of this process, on the host, and their gradients: making one takes longer than all
// launches of a case, and variants, cases of one sensor and the collection of counters need the
// same.
class Scenes {
  public:
    struct Entry {
        Scene scene;
        bool forward = true;                     // its forward pass is still to come
        std::optional<GradientReference> right;  // made at the first check
    };

    std::vector<std::shared_ptr<Entry>> of(const Problem& problem, std::uint64_t seed) {
        const std::vector<Sensor> sensors = sensors_of(problem);
        std::vector<std::shared_ptr<Entry>> found(sensors.size());
        // Side by side: half of making a scene runs on one core.
        common::parallel_for(sensors.size(), 0, [&](std::size_t i) {
            const auto known = entries_.find(key_of(problem, sensors[i], seed));
            found[i] = known == entries_.end() ? std::make_shared<Entry>() : known->second;
            if (known == entries_.end()) found[i]->scene = make_scene(problem, sensors[i], seed);
        });
        if (entries_.size() + sensors.size() > kMost) entries_.clear();
        for (std::size_t i = 0; i < sensors.size(); ++i) {
            entries_[key_of(problem, sensors[i], seed)] = found[i];
        }
        return found;
    }

  private:
    static constexpr std::size_t kMost = 16;
    std::map<SceneKey, std::shared_ptr<Entry>> entries_;
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
        static Scenes scenes;
        scenes_ = scenes.of(problem_, seed);
        for (const auto& entry : scenes_) {
            float* const gradients = gradients_.as<float>() + images_.size() * count();
            images_.push_back(std::make_unique<SensorImage>(entry->scene, entry->forward));
            entry->forward = false;
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
            Scenes::Entry& entry = *scenes_[i];
            if (!entry.right) entry.right = make_reference(entry.scene.view(), gaussians(), seed_);
            reports[i] = check_gradients(*entry.right, gradients.data() + i * count());
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
    std::vector<std::shared_ptr<Scenes::Entry>> scenes_;
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
