// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 that runs nothing and tells the mock of CUPTI about it. A CUfunction is the
// kernel's name, a CUgraphExec the number of its kernels.
#include <cuda.h>
#include <cudaProfiler.h>
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "mock_hooks.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace perfgate::mock {
namespace {

const Hooks* hooks = nullptr;
std::atomic<std::uint32_t> last_correlation{0};
std::atomic<int> captures{0};
bool ready = false;
/// Context 1 and 2 are on the first device, 3 is on the second.
thread_local CUcontext current = reinterpret_cast<CUcontext>(1);

template <class Parameters, class Body>
CUresult call(std::uint32_t id, const Parameters& parameters, const Body& body,
              bool runtime = false) {
    if (!ready) return CUDA_ERROR_NOT_INITIALIZED;
    const std::uint32_t correlation = ++last_correlation;
    if (hooks != nullptr) hooks->call(runtime, id, &parameters, CUDA_SUCCESS, correlation, false);
    const CUresult result = body(correlation);
    if (hooks != nullptr) hooks->call(runtime, id, &parameters, result, correlation, true);
    return result;
}

void work(const Work& done) {
    if (hooks != nullptr) hooks->work(done);
}

}  // namespace

EXPORT void mock_set_hooks(const Hooks* new_hooks) {
    hooks = new_hooks;
}

EXPORT CUresult cuInit(unsigned int) {
    if (ready) return CUDA_SUCCESS;
    ready = true;
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr) return CUDA_SUCCESS;
    void* library = dlopen(path, RTLD_NOW);
    if (library == nullptr) return CUDA_SUCCESS;  // silently, as the real one
    if (auto* initialise = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) {
        initialise();
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice* device, int) {
    *device = 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    static int primary;
    *context = reinterpret_cast<CUcontext>(&primary);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    current = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = current;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
    std::memset(uuid, 0, sizeof(*uuid));
    const char* first = std::getenv("MOCK_UUID");
    uuid->bytes[0] = static_cast<char>((first == nullptr ? 10 : std::atoi(first)) + device);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetName(const char** name, CUfunction function) {
    *name = reinterpret_cast<const char*>(function);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                        std::size_t count, const CUDA_KERNEL_NODE_PARAMS* kernel) {
    const cuGraphAddKernelNode_v2_params parameters{node, graph, after, count, kernel};
    return call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2, parameters,
                [](std::uint32_t) { return CUDA_SUCCESS; });
}

EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned int x, unsigned int y, unsigned int z,
                               unsigned int bx, unsigned int by, unsigned int bz,
                               unsigned int shared, CUstream stream, void** arguments,
                               void** extra) {
    const cuLaunchKernel_params parameters{f,  x,      y,      z,         bx,   by,
                                           bz, shared, stream, arguments, extra};
    return call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, parameters, [&](std::uint32_t correlation) {
        if (x == 0) return CUDA_ERROR_INVALID_VALUE;
        Work kernel;
        kernel.name = reinterpret_cast<const char*>(f);
        kernel.grid = x;
        kernel.stream = stream == nullptr ? 7 : 14;
        kernel.correlation = correlation;
        if (captures == 0) {
            work(kernel);
        } else if (hooks != nullptr) {
            static std::atomic<std::uint64_t> nodes{0};
            const std::uint64_t node = ++nodes;
            hooks->node_captured(100 + node, node);
        }
        return CUDA_SUCCESS;
    });
}

EXPORT CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
    const cuGraphLaunch_params parameters{graph, stream};
    return call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, parameters, [&](std::uint32_t correlation) {
        const auto nodes = reinterpret_cast<std::uintptr_t>(graph);
        for (std::uintptr_t node = 1; node <= nodes; ++node) {
            Work kernel;
            kernel.name = "graph_node";
            kernel.correlation = correlation;
            kernel.graph = 3;
            kernel.graph_node = node;
            work(kernel);
        }
        return CUDA_SUCCESS;
    });
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                     CUstream stream) {
    const cuMemcpyHtoDAsync_v2_params parameters{to, from, bytes, stream};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, parameters,
                [&](std::uint32_t correlation) {
                    Work copy;
                    copy.kind = Work::copy;
                    copy.bytes = bytes;
                    copy.pageable = true;
                    copy.correlation = correlation;
                    work(copy);
                    return CUDA_SUCCESS;
                });
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes,
                                CUstream stream) {
    const cuMemsetD8Async_params parameters{to, value, bytes, stream};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, parameters,
                [&](std::uint32_t correlation) {
                    Work memset;
                    memset.kind = Work::memset;
                    memset.bytes = bytes;
                    memset.correlation = correlation;
                    work(memset);
                    return CUDA_SUCCESS;
                });
}

EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    const cuStreamBeginCapture_v2_params parameters{stream, mode};
    return call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, parameters, [&](std::uint32_t) {
        ++captures;
        return CUDA_SUCCESS;
    });
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    const cuStreamEndCapture_params parameters{stream, graph};
    return call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, parameters, [&](std::uint32_t) {
        if (captures == 0) return CUDA_ERROR_ILLEGAL_STATE;
        --captures;
        return CUDA_SUCCESS;
    });
}

EXPORT CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
    *status = captures > 0 ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSynchronize() {
    return call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, nullptr,
                [](std::uint32_t) { return CUDA_SUCCESS; });
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
    const cuMemAlloc_v2_params parameters{address, bytes};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, parameters, [&](std::uint32_t correlation) {
        static std::atomic<CUdeviceptr> next{CUdeviceptr{1} << 40};
        if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        *address = next.fetch_add(bytes);
        if (hooks != nullptr) hooks->memory({false, *address, bytes, correlation});
        return CUDA_SUCCESS;
    });
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    const cuMemFree_v2_params parameters{address};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, parameters, [&](std::uint32_t correlation) {
        if (hooks != nullptr) hooks->memory({true, address, 0, correlation});
        return CUDA_SUCCESS;
    });
}

EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                            const CUmemAllocationProp* properties, unsigned long long flags) {
    const cuMemCreate_params parameters{handle, bytes, properties, flags};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemCreate, parameters,
                [](std::uint32_t) { return CUDA_SUCCESS; });
}

EXPORT CUresult cuEventQuery(CUevent event) {
    const cuEventQuery_params parameters{event};
    return call(CUPTI_DRIVER_TRACE_CBID_cuEventQuery, parameters,
                [](std::uint32_t) { return CUDA_SUCCESS; });
}

EXPORT CUresult cuProfilerStart() {
    return call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, nullptr,
                [](std::uint32_t) { return CUDA_SUCCESS; });
}

EXPORT CUresult cuProfilerStop() {
    return call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, nullptr,
                [](std::uint32_t) { return CUDA_SUCCESS; });
}

/// The runtime's, which call the driver's.
EXPORT int cudaProfilerStart() {
    return call(
        CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, nullptr,
        [](std::uint32_t) { return cuProfilerStart(); }, true);
}

EXPORT int cudaProfilerStop() {
    return call(
        CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000, nullptr,
        [](std::uint32_t) { return cuProfilerStop(); }, true);
}

/// cuCtxCreate, whose parameters differ between versions.
EXPORT void mock_create_context(CUcontext context) {
    if (hooks != nullptr) hooks->context_created(context);
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext) {
    if (hooks != nullptr) hooks->context_destroyed();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleUnload(CUmodule) {
    if (hooks != nullptr) hooks->module_unloads();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule*, const void* image, unsigned int bytes, CUjit_option*,
                                   void**) {
    if (hooks != nullptr) hooks->module_loaded(static_cast<const char*>(image), bytes);
    return CUDA_SUCCESS;
}

}  // namespace perfgate::mock
