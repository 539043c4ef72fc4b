// SPDX-License-Identifier: Apache-2.0
#include "inject/callbacks.hpp"

#include <unistd.h>

#include <array>
#include <utility>

#include "elf/cubin.hpp"

namespace perfgate::inject {
namespace {

/// Copies and memsets: the time of the call determines the range they belong to.
constexpr std::array copies_and_memsets{
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoH_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoHAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoA_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoA_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoA_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeer,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeerAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoA_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoD_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoA_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoH_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoA_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeer_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoHAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeerAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2_ptsz,
};
/// A program may call the runtime or the driver; a call of the runtime may show as both.
constexpr std::pair<CUpti_CallbackDomain, CUpti_CallbackId> profiler_starts[] = {
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart},
};
constexpr std::pair<CUpti_CallbackDomain, CUpti_CallbackId> profiler_stops[] = {
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop},
};
constexpr CUpti_CallbackId graph_updates[] = {CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate,
                                              CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2};
/// The kernel whose launch the thread is about to make or to capture.
thread_local const char* launching = nullptr;
/// Launch calls are handed over in chunks, or here if nobody fetches them.
constexpr std::size_t calls_at_most = 16384;

}  // namespace

bool Callbacks::subscribe(std::string& why) {
    return cupti::subscribe(api_, &subscriber_, &callback, this, why) == CUPTI_SUCCESS;
}

bool Callbacks::enable(const Settings& settings, std::string& why) {
    CUptiResult code = CUPTI_SUCCESS;
    captures_.find_driver();
    const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
        const CUptiResult result = api_.cuptiEnableCallback(1, subscriber_, domain, id);
        if (code == CUPTI_SUCCESS) code = result;
    };
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
    if (sampler_ != nullptr || code_ != nullptr) {
        enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
    }
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
    if (settings.code) enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
    if (watches_launches(settings.level)) {
        // With API records, these contain the time of each launch.
        keep_calls_ = settings.level != Level::api;
        const auto enable_all = [&](const auto& ids) {
            const CUptiResult result = cupti::enable_driver_callbacks(api_, subscriber_, ids);
            if (code == CUPTI_SUCCESS) code = result;
        };
        enable_all(cupti::kernel_launches);
        enable_all(cupti::graph_launches);
        // A call that this CUPTI does not know is assigned to a range by its device time.
        for (const auto id : copies_and_memsets) {
            if (keep_calls_) {
                api_.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
            }
        }
        enable_all(cupti::capture_begins);
        enable_all(cupti::capture_ends);
        enable_all(cupti::graph_kernels);
        enable_all(graph_updates);
        enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
        enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
        launch_names_.watch_launches();
    }
    for (const auto& [domain, id] : profiler_starts) enable(domain, id);
    for (const auto& [domain, id] : profiler_stops) enable(domain, id);
    if (code != CUPTI_SUCCESS) {
        why = cupti::name_of(api_, code);
        return false;
    }
    add_profiler_call(activity::ProfilerCallKind::watched);
    return true;
}

void Callbacks::add_profiler_call(activity::ProfilerCallKind kind) {
    activity::Records records;
    activity::ProfilerCall& call = records.profiler_calls.emplace_back();
    api_.cuptiGetTimestamp(&call.time_ns);
    call.thread = static_cast<std::uint32_t>(gettid());
    call.kind = kind;
    writer_.append(records);
}

std::vector<activity::LaunchCall> Callbacks::take_launch_calls() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
}

// Nothing may be thrown through the driver's frames.
void CUPTIAPI Callbacks::callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void* data) noexcept {
    auto& own = *static_cast<Callbacks*>(self);
    if (own.abandoned_ || data == nullptr) return;
    try {
        const auto* call = static_cast<const CUpti_CallbackData*>(data);
        const std::pair called{domain, id};
        if (cupti::contains(profiler_starts, called)) {
            if (call->callbackSite == CUPTI_API_EXIT) {
                own.add_profiler_call(activity::ProfilerCallKind::start);
            }
        } else if (cupti::contains(profiler_stops, called)) {
            if (call->callbackSite == CUPTI_API_ENTER) {
                own.add_profiler_call(activity::ProfilerCallKind::stop);
            }
        } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
            own.on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
        } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
            own.on_driver_call(id, *call);
        }
    } catch (...) {
        // The launch is counted, so that a missing record shows.
    }
}

void Callbacks::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
        if (code_ != nullptr) code_->end(data.context);
        context_ends_();
    } else if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
        if (code_ != nullptr) return code_->begin(data.context);
        std::uint32_t device = 0;
        if (api_.cuptiGetDeviceId(data.context, &device) == CUPTI_SUCCESS) sampler_->add(device);
    } else if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) {
        std::uint64_t time_ns = 0;
        api_.cuptiGetTimestamp(&time_ns);
        launch_names_.unload(time_ns);
        if (code_ != nullptr) code_->take(data.context);
    } else if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED && data.resourceDescriptor != nullptr) {
        on_module(data.context,
                  *static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor));
    } else if (data.resourceDescriptor != nullptr) {
        on_graph_node(id, *static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
    }
}

void Callbacks::on_graph_node(CUpti_CallbackId id, const CUpti_GraphData& data) {
    std::uint64_t node = 0, original = 0;
    if (data.nodeType != CU_GRAPH_NODE_TYPE_KERNEL ||
        api_.cuptiGetGraphNodeId(data.node, &node) != CUPTI_SUCCESS) {
        return;
    }
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED && launching != nullptr) {
        launch_names_.capture(node, launching);
    } else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED &&
               api_.cuptiGetGraphNodeId(data.originalNode, &original) == CUPTI_SUCCESS) {
        launch_names_.copy_node(original, node);
    }
}

void Callbacks::on_module(CUcontext context, const CUpti_ModuleResourceData& module) {
    if (module.pCubin == nullptr) return;
    try {
        activity::Records records;
        const elf::ElfImage image({module.pCubin, module.cubinSize});
        const auto places = elf::function_places(image);
        const auto functions = elf::machine_code(image);
        if (code_ != nullptr) code_->keep(context, {module.pCubin, module.cubinSize}, functions);
        for (const auto& [symbol, code] : functions) {
            records.function_codes.push_back(
                {writer_.string(symbol), writer_.string(code.fingerprint)});
            const auto known = places.find(symbol);
            const model::SourcePlace place =
                known == places.end() ? model::SourcePlace{} : known->second;
            records.function_places.push_back({writer_.string(symbol), writer_.string(place.file),
                                               static_cast<std::uint32_t>(place.line),
                                               static_cast<std::uint32_t>(code.bytes)});
        }
        for (const auto& [symbol, bytes] : elf::stack_sizes(image)) {
            records.stack_sizes.push_back(
                {writer_.string(symbol), static_cast<std::uint32_t>(bytes)});
        }
        writer_.append(records);
    } catch (...) {
        ++unreadable_modules_;
    }
}

void Callbacks::on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    const bool launches_kernel = cupti::contains(cupti::kernel_launches, id);
    if (data.callbackSite != CUPTI_API_EXIT) {
        if (sampler_ != nullptr) sampler_->hold();
        // Before the launch, because its record may come before the call returns.
        if (launches_kernel) launch_names_.launch(data.correlationId, data.symbolName);
        launching = launches_kernel ? data.symbolName : nullptr;
        return;
    }
    launching = nullptr;
    const bool succeeded = data.functionReturnValue != nullptr &&
                           *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
    if (launches_kernel) {
        if (!succeeded) {
            ++launches_.failed;
            launch_names_.forget(data.correlationId);
            return;
        }
        ++launches_.kernels;
        if (captures_.any() && captures_.holds(cupti::launch_of(id, data).stream)) {
            ++launches_.captured;
            launch_names_.forget(data.correlationId);
            return;
        }
    } else if (cupti::contains(cupti::graph_launches, id)) {
        if (!succeeded) {
            ++launches_.failed;
            return;
        }
        ++launches_.graphs;
    } else if (cupti::contains(copies_and_memsets, id)) {
        if (!succeeded) return;
    } else if (cupti::contains(cupti::graph_kernels, id) || cupti::contains(graph_updates, id)) {
        launch_names_.forget_nodes();
        return;
    } else {
        captures_.on_call(id, succeeded);
        return;
    }
    if (!keep_calls_) return;
    activity::LaunchCall call;
    api_.cuptiGetTimestamp(&call.time_ns);
    call.thread = static_cast<std::uint32_t>(gettid());
    call.correlation = data.correlationId;
    std::vector<activity::LaunchCall> full;
    {
        const std::lock_guard lock(mutex_);
        calls_.push_back(call);
        if (calls_.size() < calls_at_most) return;
        full = std::exchange(calls_, {});
    }
    activity::Records records;
    records.launch_calls = std::move(full);
    writer_.append(records);
}

}  // namespace perfgate::inject
