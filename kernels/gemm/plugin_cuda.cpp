// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the launchers.
#include <functional>
#include <vector>

#include "common/cuda.hpp"
#include "common/device_inputs.hpp"
#include "gemm/catalogue.hpp"
#include "gemm/checker.hpp"
#include "gemm/inputs.hpp"
#include "gemm/launchers.hpp"

namespace gemm {
namespace {

using common::check;
using common::DeviceMemory;

// Enqueues the product of a variant.
using Multiply = std::function<void(const void* a, const void* b, float* c, cudaStream_t)>;

class Product : public sdk::Instance {
  public:
    Product(const Problem& problem, const std::function<Multiply(const Problem&)>& prepare)
        : problem_(problem),
          a_(problem.a_count() * element_bytes(problem.dtype), "A"),
          b_(problem.b_count() * element_bytes(problem.dtype), "B"),
          c_(problem.c_count() * sizeof(float), "C"),
          multiply_(prepare(problem)) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        const Dtype dtype = problem_.dtype;
        common::fill_device(a_.get(), dtype, Operand::kA, seed, problem_.a_count());
        common::fill_device(b_.get(), dtype, Operand::kB, seed, problem_.b_count());
        c_.poison();
        check(cudaStreamSynchronize(nullptr), "filling A and B");
    }

    void launch(void* stream) override {
        multiply_(a_.get(), b_.get(), c_.as<float>(), static_cast<cudaStream_t>(stream));
    }

    sdk::Verification verify() override {
        const std::vector<float> c = c_.read<float>();
        const CheckReport report = check_product_of_seed(problem_, seed_, c.data());
        return {report.passed, report.detail};
    }

  private:
    Problem problem_;
    DeviceMemory a_, b_, c_;
    Multiply multiply_;
    std::uint64_t seed_ = 0;
};

Multiply run(const Problem& problem, Launcher launcher) {
    return [problem, launcher](const void* a, const void* b, float* c, cudaStream_t stream) {
        check(launcher(problem, a, b, c, stream), "launch");
    };
}

DeviceLimits current_device_limits() {
    return {common::device_attribute(cudaDevAttrMultiProcessorCount)};
}

Multiply prepare_naive(const Problem& problem) {
    return run(problem, choose_naive(problem));
}

Multiply prepare_tiled(const Problem& problem) {
    return run(problem, choose_tiled(problem, current_device_limits()));
}

Multiply prepare_tensor_core(const Problem& problem) {
    return run(problem, choose_tensor_core(problem, current_device_limits()));
}

Multiply prepare_cublas(const Problem& problem) {
    const auto cublas = std::make_shared<Cublas>(kCublasWorkspaceBytes);
    return [problem, cublas](const void* a, const void* b, float* c, cudaStream_t stream) {
        cublas->launch(problem, a, b, c, stream);
    };
}

Create create_with(Multiply (*prepare)(const Problem&)) {
    return [prepare](const sdk::Values& values) {
        return std::make_unique<Product>(problem_of(values), prepare);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "naive") return create_with(prepare_naive);
        if (variant == "tiled") return create_with(prepare_tiled);
        if (variant == "tensor_core") return create_with(prepare_tensor_core);
        if (variant == "cublas") return create_with(prepare_cublas);
        return {};
    });
}

}  // namespace
}  // namespace gemm

PERFGATE_PLUGIN(gemm::plugin);
