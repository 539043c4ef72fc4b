// SPDX-License-Identifier: Apache-2.0
// The CUDA module: one round trip in three ways.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "common/cuda.hpp"
#include "transfer/catalogue.hpp"
#include "transfer/kernels.hpp"
#include "transfer/reference.hpp"

namespace transfer {
namespace {

using common::check;

// Ordinary memory, which the system may move or page out.
class PageableMemory {
  public:
    explicit PageableMemory(std::size_t count) : values_(count) {}
    float* get() { return values_.data(); }

  private:
    std::vector<float> values_;
};

// Memory that stays where it is: the device reads and writes it by itself.
class PinnedMemory {
  public:
    explicit PinnedMemory(std::size_t count) {
        check(cudaMallocHost(reinterpret_cast<void**>(&values_), count * sizeof(float)),
              std::to_string(count * sizeof(float)) + " bytes of page-locked memory");
    }
    ~PinnedMemory() { cudaFreeHost(values_); }
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    float* get() { return values_; }

  private:
    float* values_ = nullptr;
};

class Event {
  public:
    Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "an event"); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    cudaEvent_t get() const { return event_; }

  private:
    cudaEvent_t event_ = nullptr;
};

// `second` goes on only when all that is in `first` now is done.
void order(const Event& event, cudaStream_t first, cudaStream_t second) {
    check(cudaEventRecord(event.get(), first), "recording an event");
    check(cudaStreamWaitEvent(second, event.get(), 0), "waiting for an event");
}

template <class HostMemory>
class RoundTrip : public sdk::Instance {
  public:
    explicit RoundTrip(const Problem& problem)
        : problem_(problem),
          host_in_(problem.count()),
          host_out_(problem.count()),
          in_(problem.bytes(), "the input"),
          out_(problem.bytes(), "the output") {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        fill_input(problem_, seed, host_in_.get());
        std::memset(host_out_.get(), 0xff, problem_.bytes());  // NaN
        // Or a copy that came too late would bring the same values along once more.
        in_.poison();
        out_.poison();
        check(cudaStreamSynchronize(nullptr), "filling the input");
    }

    void launch(void* stream) override {
        enqueue_part(0, problem_.count(), static_cast<cudaStream_t>(stream));
    }

    sdk::Verification verify() override {
        const CheckReport report = check_result(problem_, seed_, host_out_.get());
        return {report.passed, report.detail};
    }

    std::vector<sdk::Output> outputs() override {
        return {{"out", host_out_.get(), problem_.bytes(), sizeof(float), PG_ELEMENT_FLOAT}};
    }

  protected:
    const Problem& problem() const { return problem_; }

    void enqueue_part(std::size_t first, std::size_t count, cudaStream_t stream) {
        const std::size_t bytes = count * sizeof(float);
        float* in = in_.as<float>() + first;
        float* out = out_.as<float>() + first;
        check(cudaMemcpyAsync(in, host_in_.get() + first, bytes, cudaMemcpyHostToDevice, stream),
              "copying to the device");
        enqueue_compute(count, problem_.steps, in, out, stream);
        check(cudaMemcpyAsync(host_out_.get() + first, out, bytes, cudaMemcpyDeviceToHost, stream),
              "copying to the host");
    }

  private:
    Problem problem_;
    HostMemory host_in_, host_out_;
    common::DeviceMemory in_, out_;
    std::uint64_t seed_ = 0;
};

// While one part comes back, the next is computed on and the one after that is on its way.
class Overlapped : public RoundTrip<PinnedMemory> {
  public:
    using RoundTrip::RoundTrip;

    void launch(void* stream) override {
        const auto caller = static_cast<cudaStream_t>(stream);
        for (const Lane& lane : lanes_) order(begin_, caller, lane.stream.get());
        const std::size_t count = problem().count();
        for (std::size_t part = 0; part < kParts; ++part) {
            const std::size_t first = count * part / kParts;
            const std::size_t end = count * (part + 1) / kParts;
            enqueue_part(first, end - first, lanes_[part % kLanes].stream.get());
        }
        for (const Lane& lane : lanes_) order(lane.done, lane.stream.get(), caller);
    }

  private:
    static constexpr std::size_t kParts = 16;
    static constexpr std::size_t kLanes = 4;  // one for each copy engine, two that compute
    struct Lane {
        common::Stream stream;
        Event done;
    };
    std::array<Lane, kLanes> lanes_;
    Event begin_;
};

template <class Instance>
Create create() {
    return [](const sdk::Values& values) { return std::make_unique<Instance>(problem_of(values)); };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "pageable") return create<RoundTrip<PageableMemory>>();
        if (variant == "pinned") return create<RoundTrip<PinnedMemory>>();
        if (variant == "overlapped") return create<Overlapped>();
        return {};
    });
}

}  // namespace
}  // namespace transfer

PERFGATE_PLUGIN(transfer::plugin);
