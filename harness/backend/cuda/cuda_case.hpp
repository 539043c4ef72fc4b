// SPDX-License-Identifier: Apache-2.0
//
// One case of a CUDA variant or a source: verified, warmed up and timed on the open device.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/activity.hpp"
#include "backend/cuda/loaded_code.hpp"
#include "backend/cuda/nvml.hpp"
#include "backend/cuda/open_device.hpp"
#include "backend/plugin/instance.hpp"
#include "measure/backend.hpp"

namespace perfgate::backend::cuda {

/// Runs `work`; a sticky CUDA error becomes measure::DeviceLost, and so does any error of a plugin:
/// its CUDA runtime may return the error, sticky or not, to the next case that queries the last
/// error. The state of the context is added to the message.
void guarded(const PrimaryContext& context, const std::function<void()>& work);

/// The board that a case runs on: what NVML says of it.
struct Board {
    const Nvml* nvml = nullptr;  ///< null: `problem` says why
    std::string problem;
    std::optional<double> idle_w;  ///< before the process launched anything
};

/// A kernel of the case's launch.
struct LaunchedFunction {
    std::string symbol;  ///< mangled
    LoadedFunction code;
    std::string name;  ///< demangled
};

class CudaCase : public measure::Case {
  public:
    /// `board` must outlive it.
    CudaCase(OpenDevice& device, const Board& board, std::unique_ptr<Instance> instance)
        : device_(device), board_(board), instance_(std::move(instance)) {}
    ~CudaCase() override;

    void fill(std::uint64_t seed) override;
    measure::Verified verify(std::uint64_t seed, const measure::Checks& checks) override;
    void warm_up(int launches, std::chrono::duration<double> at_least) override;
    measure::LaunchRecord record_launch() override;
    measure::TimeSamples time(measure::TimeKind kind, model::Cache cache, int count) override;
    void add_work(double ns) override;
    model::Work work() override { return instance_->work(); }
    std::optional<measure::Prepared> prepared() override;

    /// For counter passes and readings: enqueue on the device's stream, without waiting.
    void enqueue_reset();
    /// A reset, and a flush of the caches if the launch that follows is timed cold.
    void prepare(model::Cache cache);
    void enqueue_launch();
    /// A launch, and the work that a self-test adds to it.
    void enqueue_timed(CUstream stream);
    bool needs_reset() const;
    /// Kernels that the last `record_launch` found in a reset; 0 before.
    std::size_t reset_kernels() const { return reset_kernels_; }
    /// Those of the last `record_launch`, in launch order; none before.
    const std::vector<LaunchedFunction>& launched_functions() const { return launched_functions_; }

  private:
    /// Enqueues a reset, and releases what earlier launches keep in the L2 cache. A flush follows.
    void prepare_cold();
    measure::TimeSamples time_records(model::Cache cache, int count);
    measure::TimeSamples time_events(model::Cache cache, int count);
    measure::TimeSamples time_submission(int count);
    std::uint32_t given_stream_id() const;
    std::vector<std::string> notes_on(const LaunchActivity& launch) const;

    OpenDevice& device_;
    const Board& board_;
    std::unique_ptr<Instance> instance_;
    std::size_t operations_ = 0;  ///< of a reset and a launch, as found by record_launch
    std::size_t reset_kernels_ = 0;
    std::vector<LaunchedFunction> launched_functions_;
    double added_ns_ = 0;
};

}  // namespace perfgate::backend::cuda
