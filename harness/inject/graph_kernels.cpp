// SPDX-License-Identifier: Apache-2.0
#include "inject/graph_kernels.hpp"

namespace perfgate::inject {
namespace {

using FoundKernel = std::pair<CUfunction, CUkernel>;

FoundKernel of(const CUDA_KERNEL_NODE_PARAMS_v1* node) {
    if (node == nullptr) return {};
    return {node->func, nullptr};
}

template <class Node>
FoundKernel of(const Node* node) {
    if (node == nullptr) return {};
    return {node->func, node->func == nullptr ? node->kern : nullptr};
}

FoundKernel of(const CUgraphNodeParams* node) {
    if (node == nullptr || node->type != CU_GRAPH_NODE_TYPE_KERNEL) return {};
    return of(&node->kernel);
}

template <class Parameters>
FoundKernel from(const CUpti_CallbackData& data) {
    return of(static_cast<const Parameters*>(data.functionParams)->nodeParams);
}

}  // namespace

std::pair<CUfunction, CUkernel> graph_kernel_of(CUpti_CallbackId id,
                                                const CUpti_CallbackData& data) {
    if (data.functionParams == nullptr) return {};
    switch (id) {
        case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode:
            return from<cuGraphAddKernelNode_params>(data);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2:
            return from<cuGraphAddKernelNode_v2_params>(data);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams:
            return from<cuGraphKernelNodeSetParams_params>(data);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2:
            return from<cuGraphKernelNodeSetParams_v2_params>(data);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams:
            return from<cuGraphExecKernelNodeSetParams_params>(data);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2:
            return from<cuGraphExecKernelNodeSetParams_v2_params>(data);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode:
            return from<cuGraphAddNode_params>(data);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2:
            return from<cuGraphAddNode_v2_params>(data);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams:
            return from<cuGraphNodeSetParams_params>(data);
        case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams:
            return from<cuGraphExecNodeSetParams_params>(data);
        default:
            return {};
    }
}

}  // namespace perfgate::inject
