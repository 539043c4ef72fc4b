// SPDX-License-Identifier: Apache-2.0
#include "cupti/launch_calls.hpp"

#include <dlfcn.h>

namespace perfgate::cupti {

namespace {

template <class Parameters>
KernelLaunch from_arguments(const Parameters& call, bool cooperative) {
    KernelLaunch launch;
    launch.stream = call.hStream;
    launch.grid = {call.gridDimX, call.gridDimY, call.gridDimZ};
    launch.block = {call.blockDimX, call.blockDimY, call.blockDimZ};
    launch.dynamic_smem_bytes = call.sharedMemBytes;
    launch.cooperative = cooperative;
    return launch;
}

KernelLaunch from_config(const CUlaunchConfig& config) {
    KernelLaunch launch = from_arguments(config, false);
    for (unsigned int i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
        const CUlaunchAttribute& attribute = config.attrs[i];
        if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            const auto& size = attribute.value.clusterDim;
            launch.cluster = {size.x, size.y, size.z};
        } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
            launch.cooperative = attribute.value.cooperative != 0;
        }
    }
    return launch;
}

/// Calls of this kind take the null stream for that of the thread.
KernelLaunch in_thread_stream(KernelLaunch launch) {
    if (launch.stream == nullptr) launch.stream = CU_STREAM_PER_THREAD;
    return launch;
}

template <class Parameters>
KernelLaunch from_call(const CUpti_CallbackData& data, bool cooperative) {
    const auto& call = *static_cast<const Parameters*>(data.functionParams);
    KernelLaunch launch = from_arguments(call, cooperative);
    launch.function = call.f;
    launch.arguments = call.kernelParams;
    return launch;
}

KernelLaunch from_extended_call(const CUpti_CallbackData& data) {
    const auto& call = *static_cast<const cuLaunchKernelEx_params*>(data.functionParams);
    KernelLaunch launch = call.config == nullptr ? KernelLaunch{} : from_config(*call.config);
    launch.function = call.f;
    launch.arguments = call.kernelParams;
    return launch;
}

}  // namespace

KernelLaunch launch_of(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    if (data.functionParams == nullptr) return {};
    switch (id) {
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
            return from_call<cuLaunchKernel_params>(data, false);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
            return in_thread_stream(from_call<cuLaunchKernel_params>(data, false));
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
            return from_extended_call(data);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
            return in_thread_stream(from_extended_call(data));
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
            return from_call<cuLaunchCooperativeKernel_params>(data, true);
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
            return in_thread_stream(from_call<cuLaunchCooperativeKernel_params>(data, true));
        default:
            return {};
    }
}

void Captures::find_driver() {
    if (void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); driver != nullptr) {
        is_capturing_ =
            reinterpret_cast<decltype(is_capturing_)>(dlsym(driver, "cuStreamIsCapturing"));
    }
}

void Captures::on_call(CUpti_CallbackId id, bool succeeded) {
    if (contains(capture_begins, id) && succeeded) ++count_;
    // An invalid capture ends with an error, but it ends.
    if (!contains(capture_ends, id)) return;
    // One that began before callbacks did is not in the count.
    std::int64_t count = count_;
    while (count > 0 && !count_.compare_exchange_weak(count, count - 1)) {
    }
}

bool Captures::may_hold(CUstream stream) const {
    if (is_capturing_ == nullptr) return false;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return is_capturing_(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool Captures::holds(CUstream stream) const {
    if (!any() || is_capturing_ == nullptr) return false;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return is_capturing_(stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

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

}  // namespace perfgate::cupti
