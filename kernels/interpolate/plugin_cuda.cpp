// SPDX-License-Identifier: Apache-2.0
// The CUDA module: the scene in device memory, and the three ways to interpolate it.
#include <memory>
#include <optional>
#include <utility>

#include "common/cuda.hpp"
#include "interpolate/catalogue.hpp"
#include "interpolate/chain.hpp"
#include "interpolate/fused.hpp"
#include "interpolate/reference.hpp"

namespace interpolate {
namespace {

using common::DeviceMemory;

// Calls make(f) for each field and keeps what it returns.
template <class Make>
auto for_each_field(Make&& make) {
    return [&]<std::size_t... kField>(std::index_sequence<kField...>) {
        return std::array{make(kField)...};
    }
    (std::make_index_sequence<kFields>{});
}

// The scene's copy on the device, and what all variants do with it.
class Interpolation : public sdk::Instance {
  public:
    explicit Interpolation(const Problem& problem)
        : problem_(problem),
          times_(static_cast<std::size_t>(problem.frames) * sizeof(float), "times"),
          frames_(for_each_field([&](std::size_t f) {
              return std::make_unique<DeviceMemory>(problem.elements(kAllFields[f]) *
                                                        static_cast<std::size_t>(problem.frames) *
                                                        sizeof(float),
                                                    kAllFields[f].name);
          })) {}

    void fill(std::uint64_t seed) override {
        scene_ = make_scene(problem_, seed);
        upload(times_, scene_.times);
        for (std::size_t f = 0; f < kFields; ++f) upload(*frames_[f], scene_.frames[f]);
        poison();
        common::check(cudaStreamSynchronize(nullptr), "filling the scene");
    }

    sdk::Verification verify() override {
        Result result;
        for (std::size_t f = 0; f < kFields; ++f) {
            result[f].resize(problem_.elements(kAllFields[f]));
            common::check(cudaMemcpy(result[f].data(), result_of(f),
                                     result[f].size() * sizeof(float), cudaMemcpyDeviceToHost),
                          "reading a result");
        }
        const CheckReport report = check_result(problem_, scene_, result);
        return {report.passed, report.detail};
    }

    std::vector<sdk::Output> outputs() override {
        std::vector<sdk::Output> all;
        for (std::size_t f = 0; f < kFields; ++f) {
            all.emplace_back(kAllFields[f].name, const_cast<float*>(result_of(f)),
                             problem_.elements(kAllFields[f]) * sizeof(float), sizeof(float),
                             PG_ELEMENT_FLOAT);
        }
        return all;
    }

  protected:
    // Fills with NaN whatever the next launch is going to write.
    virtual void poison() = 0;
    virtual const float* result_of(std::size_t field) const = 0;

    const Problem& problem() const { return problem_; }
    const Scene& scene() const { return scene_; }
    float* times() const { return times_.as<float>(); }
    float* frames(std::size_t field) const { return frames_[field]->as<float>(); }

  private:
    static void upload(const DeviceMemory& memory, const std::vector<float>& values) {
        common::check(
            cudaMemcpy(memory.get(), values.data(), memory.bytes(), cudaMemcpyHostToDevice),
            "copying the scene to the device");
    }

    Problem problem_;
    DeviceMemory times_;
    std::array<std::unique_ptr<DeviceMemory>, kFields> frames_;
    Scene scene_;
};

class Fused : public Interpolation {
  public:
    explicit Fused(const Problem& p)
        : Interpolation(p), results_(for_each_field([&](std::size_t f) {
              return std::make_unique<DeviceMemory>(p.elements(kAllFields[f]) * sizeof(float),
                                                    kAllFields[f].name);
          })) {}

    void launch(void* stream) override {
        const Buffers buffers{
            times(), for_each_field([&](std::size_t f) -> const float* { return frames(f); }),
            for_each_field([&](std::size_t f) { return results_[f]->as<float>(); })};
        interpolate_fused(problem(), buffers, scene().time, static_cast<cudaStream_t>(stream));
    }

  private:
    void poison() override {
        for (const auto& result : results_) result->poison();
    }
    const float* result_of(std::size_t field) const override {
        return results_[field]->as<float>();
    }

    std::array<std::unique_ptr<DeviceMemory>, kFields> results_;
};

// The chain, its context and its results, which the context must outlive.
class Chain : public Interpolation {
  protected:
    Chain(const Problem& p, bool waits_for_uploads)
        : Interpolation(p),
          context_(waits_for_uploads),
          device_{Tensor(context_, times(), p.frames, 1), for_each_field([&](std::size_t f) {
                      return Tensor(context_, frames(f), p.frames,
                                    static_cast<int>(p.elements(kAllFields[f])));
                  })} {}

    void run(cudaStream_t stream, const float* time) {
        context_.use(stream);
        results_ = interpolate_chain(context_, problem(), device_, time);
    }
    void forget_results() { results_ = {}; }

  private:
    void poison() override {
        for (const Tensor& result : results_) {
            if (result.elements() == 0) continue;
            common::check(
                cudaMemsetAsync(result.data(), 0xff, result.elements() * sizeof(float), nullptr),
                "poisoning a result");
        }
        context_.allocator().poison();
    }
    const float* result_of(std::size_t field) const override { return results_[field].data(); }

    Context context_;
    DeviceScene device_;
    std::array<Tensor, kFields> results_;
};

class Eager : public Chain {
  public:
    explicit Eager(const Problem& p) : Chain(p, true) {}
    void launch(void* stream) override {
        const float time = scene().time;
        run(static_cast<cudaStream_t>(stream), &time);
    }
};

// An element on the host that the device copies from whenever it comes to it.
class PinnedFloat {
  public:
    PinnedFloat() { common::check(cudaMallocHost(&memory_, sizeof(float)), "pinned memory"); }
    ~PinnedFloat() { cudaFreeHost(memory_); }
    PinnedFloat(const PinnedFloat&) = delete;
    PinnedFloat& operator=(const PinnedFloat&) = delete;
    float* get() const { return static_cast<float*>(memory_); }

  private:
    void* memory_ = nullptr;
};

class GraphOfChain final : public Chain {
  public:
    explicit GraphOfChain(const Problem& p) : Chain(p, false) {
        // Once without a graph, on any scene: recording cannot wait for memory to be found.
        fill(0);
        run(nullptr, time_.get());
        common::check(cudaStreamSynchronize(nullptr), "running the chain");
        forget_results();
        graph_.emplace([&](cudaStream_t stream) { run(stream, time_.get()); });
    }

    void fill(std::uint64_t seed) override {
        Chain::fill(seed);
        *time_.get() = scene().time;
    }
    void launch(void* stream) override { graph_->launch(static_cast<cudaStream_t>(stream)); }

  private:
    PinnedFloat time_;
    std::optional<common::Graph> graph_;
};

template <class Variant>
Create create_variant() {
    return [](const sdk::Values& values) { return std::make_unique<Variant>(problem_of(values)); };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "eager") return create_variant<Eager>();
        if (variant == "graph") return create_variant<GraphOfChain>();
        if (variant == "fused") return create_variant<Fused>();
        return {};
    });
}

}  // namespace
}  // namespace interpolate

PERFGATE_PLUGIN(interpolate::plugin);
