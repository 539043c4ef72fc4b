// SPDX-License-Identifier: Apache-2.0
// The CUDA module: the table of CUDA variants, and the device memory around them.
#include <memory>
#include <string_view>
#include <vector>

#include "common/cuda.hpp"
#include "common/unfilled.hpp"
#include "gemm/catalogue.hpp"
#include "gemm/device_operands.hpp"
#include "gemm/epilogue_check.hpp"
#include "gemm/launchers.hpp"

namespace gemm {

Prepare prepare_naive, prepare_tiled, prepare_tensor_core, prepare_pipelined, prepare_hopper,
    prepare_cublas;

namespace {

using common::check;
using common::DeviceMemory;

struct CudaVariant {
    std::string_view name;
    Prepare* prepare = nullptr;
};
constexpr CudaVariant kCudaVariants[] = {
    {"naive", prepare_naive},
    {"tiled", prepare_tiled},
    {"tensor_core", prepare_tensor_core},
    {"pipelined", prepare_pipelined},
    {"hopper", prepare_hopper},
    {"cublas", prepare_cublas},
};

DeviceLimits current_device_limits() {
    return {common::device_attribute(cudaDevAttrMultiProcessorCount),
            common::device_attribute(cudaDevAttrComputeCapabilityMajor) * 10 +
                common::device_attribute(cudaDevAttrComputeCapabilityMinor),
            common::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
}

class Product : public sdk::Instance {
  public:
    Product(const Problem& problem, bool fused, Prepare* prepare)
        : problem_(problem),
          prepare_(prepare),
          device_(current_device_limits()),
          a_(problem.a_count() * element_bytes(problem.dtype), "A"),
          b_(problem.b_count() * element_bytes(problem.dtype), "B"),
          c_(problem.c_count() * sizeof(float), "C") {
        if (problem.epilogue != Epilogue::kNone) {
            bias_ = std::make_unique<DeviceMemory>(
                static_cast<std::size_t>(problem.n) * sizeof(float), "the bias");
        }
        operands_ = {a_.get(), b_.get(), bias_ ? bias_->as<float>() : nullptr, c_.as<float>()};
        multiply_ = prepare(fused ? problem : bare(), operands_, device_);
        if (!fused) finish_ = prepare_epilogue(problem, operands_);
    }

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        fill_operands(problem_, seed, a_.get(), b_.get(), bias_ ? bias_->as<float>() : nullptr);
        c_.poison();
        check(cudaStreamSynchronize(nullptr), "filling A and B");
    }

    void launch(void* stream) override {
        const auto on = static_cast<cudaStream_t>(stream);
        multiply_(on);
        if (finish_) finish_(on);
    }

    sdk::Verification verify() override {
        const Elements c = c_.read<float, common::Unfilled<float>>();
        Elements product;
        if (problem_.epilogue != Epilogue::kNone) {
            c_.poison();
            prepare_(bare(), operands_, device_)(nullptr);
            product = c_.read<float, common::Unfilled<float>>();
        }
        const CheckReport report = check_epilogue_of_seed(
            problem_, seed_, product.empty() ? c.data() : product.data(), c.data());
        return {report.passed, report.detail};
    }

    std::vector<sdk::Output> outputs() override {
        return {{"C", c_.get(), c_.bytes(), sizeof(float), PG_ELEMENT_FLOAT}};
    }

  private:
    using Elements = common::UnfilledVector<float>;

    Problem bare() const {
        Problem problem = problem_;
        problem.epilogue = Epilogue::kNone;
        return problem;
    }

    Problem problem_;
    Prepare* prepare_;
    DeviceLimits device_;
    DeviceMemory a_, b_, c_;
    std::unique_ptr<DeviceMemory> bias_;
    Operands operands_;
    Launch multiply_;
    Launch finish_;  // empty where the product's kernel does it
    std::uint64_t seed_ = 0;
};

Create create_with(Prepare* prepare) {
    return [prepare](const sdk::Values& values) {
        return std::make_unique<Product>(problem_of(values), fused(values), prepare);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        for (const CudaVariant& known : kCudaVariants) {
            if (known.name == variant) return create_with(known.prepare);
        }
        return {};
    });
}

}  // namespace
}  // namespace gemm

PERFGATE_PLUGIN(gemm::plugin);
