// SPDX-License-Identifier: Apache-2.0
//
// What verifying a case needs of the device: launches that are waited for, graphs, outputs.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "backend/cuda/driver.hpp"
#include "backend/plugin/verification.hpp"

namespace perfgate::backend::cuda {

class CudaExecutor final : public Executor {
  public:
    CudaExecutor(const PrimaryContext& context, CUstream stream)
        : context_(context), stream_(stream) {}

    void launch(Instance& instance, const char* range) override;
    void reset(Instance& instance) override;
    void read(const Output& output, std::uint64_t offset, std::span<std::byte> to) override;
    void overwrite(const Output& output, std::byte with) override;
    std::optional<GraphLaunch> launch_graph(Instance& instance,
                                            const std::function<void()>& captured) override;

  private:
    const PrimaryContext& context_;
    CUstream stream_;
};

}  // namespace perfgate::backend::cuda
