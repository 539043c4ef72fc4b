// SPDX-License-Identifier: Apache-2.0
//
// The power that the reading "energy" derives from the energy counter, against power samples of the
// same board that are taken during the loop in another way: NVML's instantaneous power.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// nvmlFieldValue_t of NVML's ABI.
struct FieldValue {
    unsigned field;
    unsigned scope;
    long long timestamp_us;
    long long latency_us;
    unsigned type;  ///< 1: unsigned
    int result;
    union {
        double real;
        unsigned natural;
        unsigned long long large;
    } value;
};
static_assert(sizeof(FieldValue) == 40);

constexpr unsigned kPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT, mW

/// NVML through functions of its own: nothing of the backend's.
class PowerSensor {
  public:
    explicit PowerSensor(const std::string& uuid)
        : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
        if (library_ == nullptr) return;
        const auto init = resolve<int (*)()>("nvmlInit_v2");
        const auto handle = resolve<int (*)(const char*, void**)>("nvmlDeviceGetHandleByUUID");
        fields_ = resolve<int (*)(void*, int, FieldValue*)>("nvmlDeviceGetFieldValues");
        good_ = init != nullptr && handle != nullptr && fields_ != nullptr && init() == 0 &&
                handle(uuid.c_str(), &device_) == 0 && watts() > 0;
    }
    bool good() const { return good_; }
    /// 0: not reported.
    double watts() const {
        FieldValue value{};
        value.field = kPowerInstant;
        if (fields_(device_, 1, &value) != 0 || value.result != 0 || value.type != 1) return 0;
        return value.value.natural / 1000.0;
    }

  private:
    template <typename Function>
    Function resolve(const char* name) {
        return reinterpret_cast<Function>(dlsym(library_, name));
    }
    void* library_;
    void* device_ = nullptr;
    int (*fields_)(void*, int, FieldValue*) = nullptr;
    bool good_ = false;
};

/// Samples every 2 ms until it is destroyed.
class Sampling {
  public:
    explicit Sampling(const PowerSensor& sensor)
        : thread_([this, &sensor] {
              while (!stop_) {
                  samples_.push_back({Clock::now(), sensor.watts()});
                  std::this_thread::sleep_for(std::chrono::milliseconds(2));
              }
          }) {}
    ~Sampling() { end(); }
    /// The mean from `skip` after the first sample to `skip` before the last; 0: no samples.
    double mean(std::chrono::duration<double> skip_begin, std::chrono::duration<double> skip_end) {
        end();
        double sum = 0;
        double count = 0;
        for (const auto& [at, watts] : samples_) {
            if (at - samples_.front().at < skip_begin || samples_.back().at - at < skip_end) {
                continue;
            }
            sum += watts;
            ++count;
        }
        return count > 0 ? sum / count : 0;
    }

  private:
    void end() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
    }
    struct Sample {
        Clock::time_point at;
        double watts;
    };
    std::vector<Sample> samples_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

model::CaseSpec spec(const char* workload, const char* variant, model::Params params) {
    return {workload, variant, std::move(params), model::Cache::hot};
}

std::string text(const char* value) {
    return value;
}

/// From nearly idle to the power limit.
std::vector<model::CaseSpec> kernels() {
    const auto product = [](const char* variant, const char* dtype, std::int64_t n) {
        return spec("gemm", variant, {{"dtype", text(dtype)}, {"m", n}, {"n", n}, {"k", n}});
    };
    return {
        spec("launch", "stream_sync",
             {{"kernels", std::int64_t{1000}}, {"elements", std::int64_t{4096}}}),
        spec("transpose", "naive", {{"rows", std::int64_t{8192}}, {"cols", std::int64_t{4096}}}),
        spec("transpose", "swizzled", {{"rows", std::int64_t{8192}}, {"cols", std::int64_t{4096}}}),
        spec("softmax", "online", {{"rows", std::int64_t{4096}}, {"width", std::int64_t{8192}}}),
        product("naive", "f32", 2048),
        product("tiled", "f32", 4096),
        product("hopper", "bf16", 4096),
        product("cublas", "bf16", 8192),
    };
}

TEST(EnergyDevice, ThePowerOfTheCounterIsThatOfThePowerSamples) {
    std::string why;
    if (!driver_available(&why)) GTEST_SKIP() << why;
    const PowerSensor sensor(device_facts(0).uuid);
    if (!sensor.good()) GTEST_SKIP() << "NVML reports no instantaneous power on this device";
    measure::BackendOptions options;
    for (const char* plugin : {"gemm", "launch", "softmax", "transpose"}) {
        options.plugins.push_back(fmt::format("{}/{}.so", PERFGATE_PLUGIN_DIR, plugin));
    }
    const auto backend = make_cuda_backend(options);
    fmt::print(
        "| kernel | W, counter | W, samples | difference | mJ per launch | seconds | note |\n");
    fmt::print("|---|--:|--:|--:|--:|--:|---|\n");
    for (const model::CaseSpec& kernel : kernels()) {
        const auto opened = backend->open(kernel);
        opened->fill(1);
        opened->warm_up(3, std::chrono::duration<double>(0.05));
        const auto start = Clock::now();
        Sampling sampling(sensor);
        measure::Reading sample = backend->read({"energy", opened.get(), kernel});
        const std::chrono::duration<double> spent = Clock::now() - start;
        // The loop settles for half a second first, and ends with readings of the board.
        const double watts =
            sampling.mean(std::chrono::milliseconds(600), std::chrono::milliseconds(100));
        ASSERT_EQ(sample.problem, "") << model::case_id(kernel);
        const double difference = sample.values["power"].value / watts - 1;
        fmt::print("| {} | {:.1f} | {:.1f} | {:+.1f} % | {:.4g} | {:.2f} | {} |\n",
                   model::case_id(kernel), sample.values["power"].value, watts, 100 * difference,
                   1000 * sample.values["energy"].value, spent.count(), sample.note);
        std::fflush(stdout);
        EXPECT_LE(std::abs(difference), 0.05) << model::case_id(kernel);
    }
}

}  // namespace
}  // namespace perfgate::backend::cuda
