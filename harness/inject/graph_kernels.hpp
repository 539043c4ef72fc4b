// SPDX-License-Identifier: Apache-2.0
// The driver calls that put a kernel into a CUDA graph other than by capture.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <array>
#include <utility>

namespace perfgate::inject {

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

}  // namespace perfgate::inject
