// SPDX-License-Identifier: Apache-2.0
//
// Hardware counters by CUPTI's range profiler with user replay: many launches share one session,
// whose passes the caller repeats. Either each kernel is a range of its own (exact values per
// kernel), or each launch is one (for CUDA graphs, whose kernels the first mode cannot separate).
//
// Not to be used while an ActivityRecorder exists: with both enabled, no kernel record arrives.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/host_evaluator.hpp"
#include "backend/cuda/subscriber.hpp"

namespace perfgate::backend::cuda {

enum class RangeMode {
    kernel,  ///< CUPTI's auto range: one range per kernel launch
    launch,  ///< CUPTI's user range: one range per `Pass::launch`, its gaps included
};

/// The counters of one range.
struct CounterRange {
    std::size_t tag = 0;         ///< as given to Pass::launch
    std::string symbol;          ///< the kernel's mangled name; empty with RangeMode::launch
    std::vector<double> values;  ///< one per metric; NaN: the unit was shared or not available
};

struct CounterData {
    std::vector<CounterRange>
        ranges;  ///< in launch order; what was launched outside a tag is left out
    std::size_t passes = 0;
};

/// Passed to the caller's pass, to mark which launches count.
class Pass {
  public:
    virtual ~Pass() = default;
    /// Runs `submit`; the kernels that it launches belong to `tag`. With RangeMode::launch each tag
    /// may occur once in a pass.
    virtual void launch(std::size_t tag, const std::function<void()>& submit) = 0;
    /// The pass's number, from 0.
    [[nodiscard]] virtual std::size_t index() const = 0;
};

class RangeProfiler {
  public:
    /// Determines what the context's device can count (about 0.5 s). Throws cupti::Error, with
    /// `no_permission()` if counters are restricted, or util::Error if the device cannot be
    /// profiled.
    RangeProfiler(const PrimaryContext& context, int ordinal, Subscriber& subscriber);
    ~RangeProfiler();
    RangeProfiler& operator=(RangeProfiler&&) = delete;  // nor copied

    /// The Host API for this device: names, passes, units.
    [[nodiscard]] const HostEvaluator& host() const { return *host_; }

    /// The compiled configuration, kept for the next call with the same metrics.
    const CounterConfig& config(const std::vector<std::string>& metrics);

    /// Host memory that each range of a session takes, about 1 MB for 30 metrics. Batch
    /// accordingly.
    std::size_t bytes_per_range(const std::vector<std::string>& metrics);

    struct Request {
        std::vector<std::string> metrics;
        RangeMode mode = RangeMode::kernel;
        std::size_t max_ranges =
            0;  ///< at least as many as a pass has; kernels outside tags count too
    };

    /// Calls `run` once per pass: it launches the same work in the same order each time, with
    /// inputs restored if a launch changes them. Throws util::Error if the passes differ in their
    /// kernels, if a range is lost, or if the work fails.
    CounterData collect(const Request& request, const std::function<void(Pass&)>& run);

  private:
    class Session;
    const PrimaryContext& context_;
    Subscriber& subscriber_;
    std::unique_ptr<HostEvaluator> host_;
    std::map<std::vector<std::string>, CounterConfig> configs_;
    std::map<std::vector<std::string>, std::size_t> bytes_per_range_;
};

}  // namespace perfgate::backend::cuda
