// SPDX-License-Identifier: Apache-2.0
// The driver calls that launch kernels and graphs, or put kernels into graphs, as CUPTI's callbacks
// see them.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

namespace perfgate::cupti {

inline constexpr std::array kernel_launches{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync,
};
inline constexpr std::array graph_launches{
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};
/// Their kernels wait for each other.
inline constexpr std::array launches_on_several_devices{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
};
inline constexpr std::array capture_begins{
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
};
inline constexpr std::array capture_ends{
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz,
};

template <class Ids, class Id>
bool contains(const Ids& ids, const Id& id) {
    for (const auto& each : ids) {
        if (each == id) return true;
    }
    return false;
}

/// The arguments of a launch of a kernel.
struct KernelLaunch {
    CUstream stream = nullptr;
    CUfunction function = nullptr;     ///< null for obsolete calls
    void* const* arguments = nullptr;  ///< one per parameter; null: passed in another way
    std::array<std::uint32_t, 3> grid{}, block{}, cluster{};
    std::uint32_t dynamic_smem_bytes = 0;
    bool cooperative = false;
};

/// Zeros for calls that have no such arguments.
KernelLaunch launch_of(CUpti_CallbackId id, const CUpti_CallbackData& data);

/// Which streams are being captured into a graph: what is launched into them does not run.
class Captures {
  public:
    /// Finds the driver's function; without it no stream is ever captured.
    void find_driver();
    /// For each call of `capture_begins` and `capture_ends`.
    void on_call(CUpti_CallbackId id, bool succeeded);

    [[nodiscard]] bool any() const { return count_ > 0; }
    [[nodiscard]] bool holds(CUstream stream) const;
    /// Asks the driver, whatever calls were seen; also true where it does not know.
    [[nodiscard]] bool may_hold(CUstream stream) const;

  private:
    std::atomic<std::int64_t> count_{0};
    decltype(&cuStreamIsCapturing) is_capturing_ = nullptr;
};

// The driver calls that put a kernel into a CUDA graph other than by capture.

inline constexpr std::array graph_kernels{
    CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode,
    CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode,
    CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams,
};

/// The kernel of the node, as one or the other; both null for nodes of another kind.
std::pair<CUfunction, CUkernel> graph_kernel_of(CUpti_CallbackId id,
                                                const CUpti_CallbackData& data);

}  // namespace perfgate::cupti
