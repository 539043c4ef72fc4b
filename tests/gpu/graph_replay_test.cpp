// SPDX-License-Identifier: Apache-2.0
//
// A variant whose launch only enqueues gives a right result from a stream and from a CUDA graph of
// the same launch, for the same inputs.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "perfgate.h"

namespace {

struct Subject {
    std::string module;                         // that has the CUDA variants
    std::map<std::string, std::string> params;  // the others take their defaults
    friend void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.module; }
};

const Subject kSubjects[] = {
    {"render_backward_cuda",
     {{"gaussians", "20000"},
      {"camera_width", "203"},
      {"camera_height", "101"},
      {"lidar_columns", "301"},
      {"lidar_beams", "37"}}},
};

std::string last_error;

const pg_host kHost{sizeof(pg_host), nullptr,
                    [](void*, const char* message) { last_error = message; },
                    [](void*, const char* message) { std::cerr << message << '\n'; }};

// The values of a workload's parameters, in the order of their names.
class Values {
  public:
    Values(const pg_workload& workload, const Subject& subject) {
        std::map<std::string, const pg_param*> sorted;
        for (const pg_param* const* param = workload.params; *param; ++param) {
            sorted[(*param)->name] = *param;
        }
        for (const auto& [name, param] : sorted) {
            const auto set = subject.params.find(name);
            const char* text =
                set != subject.params.end() ? set->second.c_str() : param->default_value;
            if (!text) throw std::runtime_error(subject.module + " needs a value of " + name);
            const bool is_true = param->type == PG_BOOL && std::string(text) == "true";
            values_.push_back({param->name, param->type,
                               is_true ? 1 : std::strtoll(text, nullptr, 10),
                               std::strtod(text, nullptr), text});
        }
    }
    pg_values get() const { return {sizeof(pg_values), values_.size(), values_.data()}; }

  private:
    std::vector<pg_value> values_;
};

class GraphReplay : public testing::TestWithParam<Subject> {
  protected:
    void SetUp() override {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
            GTEST_SKIP() << "no CUDA device";
        }
    }
};

void expect_right(const pg_variant& variant, pg_instance* instance, const char* from) {
    pg_verification verification{};
    verification.size = sizeof verification;
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_EQ(variant.verify(instance, &verification), PG_OK) << last_error;
    EXPECT_TRUE(verification.passed)
        << variant.name << " from a " << from << ": " << verification.detail;
}

void replay(const pg_variant& variant, const pg_values& values) {
    pg_instance* created = nullptr;
    ASSERT_EQ(variant.create(&variant, &kHost, &values, &created), PG_OK) << last_error;
    const std::unique_ptr<pg_instance, decltype(variant.destroy)> instance(created,
                                                                           variant.destroy);
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    constexpr std::uint64_t kSeed = 5;

    ASSERT_EQ(variant.fill(created, kSeed), PG_OK) << last_error;
    ASSERT_EQ(variant.launch(created, stream), PG_OK) << last_error;
    expect_right(variant, created, "stream");

    // Filled anew: the outputs are poisoned, and the inputs the same.
    ASSERT_EQ(variant.fill(created, kSeed), PG_OK) << last_error;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(variant.launch(created, stream), PG_OK) << last_error;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    expect_right(variant, created, "graph");

    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

TEST_P(GraphReplay, IsRightAsTheStreamIs) {
    const std::string path = std::string(PERFGATE_PLUGIN_DIR) + "/" + GetParam().module + ".so";
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(module, nullptr) << dlerror();
    const auto entry = reinterpret_cast<pg_plugin_entry_fn>(dlsym(module, PG_PLUGIN_SYMBOL));
    ASSERT_NE(entry, nullptr) << dlerror();
    int replayed = 0;
    for (const pg_workload* const* workload = entry()->workloads; *workload; ++workload) {
        const Values values(**workload, GetParam());
        for (const pg_variant* const* variant = (*workload)->variants; *variant; ++variant) {
            if ((*variant)->target != PG_CUDA || (*variant)->submission != PG_ASYNC) continue;
            replay(**variant, values.get());
            ++replayed;
        }
    }
    EXPECT_GT(replayed, 0);
}

INSTANTIATE_TEST_SUITE_P(, GraphReplay, testing::ValuesIn(kSubjects),
                         [](const auto& test) { return test.param.module; });

}  // namespace
