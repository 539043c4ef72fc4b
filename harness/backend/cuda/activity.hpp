// SPDX-License-Identifier: Apache-2.0
// What the device did for each launch, from CUPTI's activity records: kernels with their launch
// facts, copies and memsets, all with the device's own time stamps. `gpu_time` comes from here.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/open_device.hpp"
#include "model/memory_operation.hpp"

namespace perfgate::backend::cuda {

/// What a kernel was launched with. Sizes in bytes.
struct KernelFacts {
    std::string name;    ///< demangled
    std::string symbol;  ///< as in the machine code
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::array<std::uint32_t, 3> cluster{};  ///< 0 if the kernel has no cluster
    std::uint32_t registers_per_thread = 0;
    std::uint32_t static_smem_bytes = 0;
    std::uint32_t dynamic_smem_bytes = 0;
    std::uint32_t local_bytes_per_thread = 0;
    bool smem_optin = false;         ///< the function raised its limit of dynamic shared memory
    int smem_carveout_percent = -1;  ///< as requested for the function; -1: not requested
    bool cooperative = false;

    bool operator==(const KernelFacts&) const = default;
};

enum class ActivityKind { kernel, copy, memset };

/// One record. Times are device time stamps, in nanoseconds since an arbitrary origin.
struct ActivityRecord {
    ActivityKind kind = ActivityKind::kernel;
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::size_t kernel = 0;              ///< kernels: index into ActivityTrace::kernels
    model::MemoryOperation memory = {};  ///< of copies and memsets
    std::uint64_t graph_node_id = 0;     ///< 0 outside CUDA graphs
    std::uint32_t stream_id = 0;
};

struct LaunchActivity {
    std::vector<ActivityRecord> records;  ///< by start time

    /// Union of the records' intervals, ns: time in which the device was busy with this launch.
    [[nodiscard]] double gpu_time_ns() const;
    [[nodiscard]] std::size_t kernel_count() const;
};

struct ActivityTrace {
    std::vector<KernelFacts> kernels;  ///< the distinct kernels
    std::vector<LaunchActivity>
        launches;                  ///< one per launch, in order; one that did nothing is empty
    std::size_t dropped = 0;       ///< records that CUPTI lost
    std::size_t without_time = 0;  ///< records with start and end 0, left out
    std::vector<ActivityRecord> outside;  ///< of no launch: flushes, resets, other threads' work
};

/// Records device activity during its lifetime; one at a time per process, and not while counters
/// are collected (no kernel records would arrive). Costs about 4 µs of CPU time per launch.
class ActivityRecorder {
  public:
    /// Throws cupti::Error, or util::Error if a recorder exists already.
    ActivityRecorder();
    ~ActivityRecorder();
    ActivityRecorder& operator=(ActivityRecorder&&) = delete;  // nor copied

    /// Runs `submit`; the work that it submits from this thread belongs to the next launch. Work
    /// submitted otherwise belongs to no launch.
    void launch(const std::function<void()>& submit);

    /// Waits for the device and returns everything since construction or the last `finish`. Throws
    /// CudaError if the work failed.
    ActivityTrace finish();

  private:
    std::uint64_t first_id_ = 0;
    std::uint64_t launches_ = 0;
};

// Whether the records of a launch are all that it did: gpu_time must not miss a kernel in silence.

/// Throws util::Error with both counts if fewer kernels were recorded than `launches` has that
/// were not captured. Kernels of graphs have no launch call and do not count.
void require_records(std::span<const ObservedLaunch> launches, const LaunchActivity& launch);

/// Throws util::Error with both counts if launches of the same work left different numbers of
/// records: gpu_time of some would be too short.
void require_equal_launches(std::span<const LaunchActivity> launches);

/// Records of no launch that begin while one is running: what another thread submitted, which is
/// not in gpu_time. Flushes and resets end before the launch begins.
std::size_t unattributed_records(const ActivityTrace& trace);

}  // namespace perfgate::backend::cuda
