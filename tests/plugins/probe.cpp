// SPDX-License-Identifier: Apache-2.0
#include "probe.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "pace.hpp"

namespace {

using namespace perfgate::sdk;

constexpr std::size_t lanes = 8;
using Lanes = float __attribute__((vector_size(lanes * sizeof(float))));

class HostProbe : public Instance {
  public:
    explicit HostProbe(const Values& values)
        : iterations_(static_cast<int>(values.integer("iterations"))),
          x_(static_cast<std::size_t>(values.integer("n"))),
          y_(x_.size()) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = probe::input(seed, i);
        y_.assign(y_.size(), std::numeric_limits<float>::quiet_NaN());
    }

    void launch(void* /*stream*/) override {
        const pace::Lasting lasting(probe::host_factor * 2 * iterations_ *
                                    std::chrono::nanoseconds(x_.size()));
        // Side by side, so that it takes less than that with a sanitizer, too.
        for (std::size_t i = 0; i < x_.size(); i += lanes) {
            const std::size_t bytes = std::min(lanes, x_.size() - i) * sizeof(float);
            Lanes value = {};
            std::memcpy(&value, &x_[i], bytes);
            for (int k = 0; k < iterations_; ++k) {
                value = value * static_cast<float>(probe::multiplier) +
                        static_cast<float>(probe::addend);
            }
            std::memcpy(&y_[i], &value, bytes);
        }
        if (probe::wrong) y_.back() += 1;
    }

    Verification verify() override { return probe::check(y_, seed_, iterations_); }

  private:
    int iterations_;
    std::uint64_t seed_ = 0;
    std::vector<float> x_, y_;
};

std::uint64_t memory(const Values& values) {
    return 2 * sizeof(float) * static_cast<std::uint64_t>(values.integer("n"));
}

Plugin plugin() {
    Variant host{.name = "host", .help = "on the CPU", .target = Target::host};
    host.memory_bytes = memory;
    host.create = [](const Values& values) { return std::make_unique<HostProbe>(values); };
    Variant device{.name = "device", .help = "on the GPU", .target = Target::cuda};
    device.memory_bytes = memory;

    Workload workload;
    workload.name = "probe";
    workload.help = "a known amount of multiply-adds per element";
    workload.params = {Param::integer("n", "elements", 1, std::int64_t{1} << 40, "65536"),
                       Param::integer("iterations", "multiply-adds per element", 1, 1 << 20, "64")};
    workload.variants = {host, device};
    workload.work = [](const Values& values) {
        const double n = static_cast<double>(values.integer("n"));
        return Work{2 * n * static_cast<double>(values.integer("iterations")), 8 * n};
    };
    return {.name = "probe", .cuda_module = PROBE_CUDA_MODULE, .workloads = {workload}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
