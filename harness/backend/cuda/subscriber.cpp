// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/subscriber.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace perfgate::backend::cuda {
namespace {

Subscriber::Launch launch_of(CUpti_CallbackId id, const CUpti_CallbackData& call) {
    Subscriber::Launch launch{cupti::launch_of(id, call), call.context, {}, call.correlationId};
    if (call.symbolName != nullptr) launch.symbol = call.symbolName;
    return launch;
}

constexpr std::array module_calls{
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,        CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,  CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
    CUPTI_DRIVER_TRACE_CBID_cuModuleGetFunction, CUPTI_DRIVER_TRACE_CBID_cuModuleUnload,
};

template <class Parameters>
CUmodule loaded_by(const CUpti_CallbackData& call) {
    const auto* parameters = static_cast<const Parameters*>(call.functionParams);
    return parameters->module == nullptr ? nullptr : *parameters->module;
}

CUmodule module_of(CUpti_CallbackId id, const CUpti_CallbackData& call) {
    switch (id) {
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
            return loaded_by<cuModuleLoad_params>(call);
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
            return loaded_by<cuModuleLoadData_params>(call);
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
            return loaded_by<cuModuleLoadDataEx_params>(call);
        case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
            return loaded_by<cuModuleLoadFatBinary_params>(call);
        case CUPTI_DRIVER_TRACE_CBID_cuModuleGetFunction:
            return static_cast<const cuModuleGetFunction_params*>(call.functionParams)->hmod;
        case CUPTI_DRIVER_TRACE_CBID_cuModuleUnload:
            return static_cast<const cuModuleUnload_params*>(call.functionParams)->hmod;
        default:
            return nullptr;
    }
}

/// Nothing: the end of an unload.
std::optional<Subscriber::ModuleCall> module_call_of(CUpti_CallbackId id,
                                                     const CUpti_CallbackData& call) {
    using Site = Subscriber::ModuleCall::Site;
    if (call.functionParams == nullptr) return std::nullopt;
    const bool begins = call.callbackSite == CUPTI_API_ENTER;
    if (id == CUPTI_DRIVER_TRACE_CBID_cuModuleUnload) {
        if (!begins) return std::nullopt;
        return Subscriber::ModuleCall{Site::unload_begins, module_of(id, call)};
    }
    if (begins) return Subscriber::ModuleCall{Site::load_begins, nullptr};
    const bool succeeded = call.functionReturnValue != nullptr &&
                           *static_cast<const CUresult*>(call.functionReturnValue) == CUDA_SUCCESS;
    return Subscriber::ModuleCall{Site::load_ends, succeeded ? module_of(id, call) : nullptr};
}

}  // namespace

Subscriber::Subscriber() {
    std::string why;
    const CUptiResult code =
        cupti::subscribe(cupti::own(), &handle_, &Subscriber::callback, this, why);
    if (code == CUPTI_SUCCESS) return;
    const std::string_view advice = cupti::remedy(code);
    throw util::Error("cannot use CUPTI: {}{}{}", why, advice.empty() ? "" : "; ", advice);
}

Subscriber::~Subscriber() {
    if (handle_ != nullptr) cupti::own().cuptiUnsubscribe(handle_);
}

void Subscriber::on_launch(LaunchHandler handler, FailureHandler failed) {
    const std::uint32_t enable = handler ? 1 : 0;
    if (enable != 0) launch_ = std::move(handler);
    launch_failed_ = std::move(failed);
    const auto set = [&](const auto& ids) {
        for (const auto id : ids) {
            check(cupti::own().cuptiEnableCallback(enable, handle_, CUPTI_CB_DOMAIN_DRIVER_API, id),
                  "cannot watch kernel launches");
        }
    };
    set(cupti::kernel_launches);
    set(cupti::launches_on_several_devices);
    if (enable == 0) launch_ = nullptr;
}

void Subscriber::watch_module_calls(bool enable) {
    for (const auto id : module_calls) {
        check(cupti::own().cuptiEnableCallback(enable ? 1 : 0, handle_, CUPTI_CB_DOMAIN_DRIVER_API,
                                               id),
              "cannot watch module loads");
    }
}

void Subscriber::on_module(ModuleHandler handler, ModuleCallHandler calls) {
    const std::uint32_t enable = handler ? 1 : 0;
    if (enable != 0) module_ = std::move(handler);
    check(cupti::own().cuptiEnableCallback(enable, handle_, CUPTI_CB_DOMAIN_RESOURCE,
                                           CUPTI_CBID_RESOURCE_MODULE_LOADED),
          "cannot watch module loads");
    if (enable == 0) module_ = nullptr;
    const bool watches = static_cast<bool>(calls);
    if (watches) module_call_ = std::move(calls);
    watch_module_calls(watches);
    if (!watches) module_call_ = nullptr;
}

void Subscriber::on_call(CallHandler handler) {
    const std::uint32_t enable = handler ? 1 : 0;
    const auto set = [&](CallHandler to) {
        const std::lock_guard lock(calls_mutex_);
        call_depth_.clear();
        call_ = std::move(to);
        counts_calls_ = static_cast<bool>(call_);
    };
    set(std::move(handler));
    for (const auto domain : {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API}) {
        const CUptiResult result = cupti::own().cuptiEnableDomain(enable, handle_, domain);
        if (result != CUPTI_SUCCESS) set({});
        check(result, "cannot watch API calls");
    }
    // Ending the watch of all calls has ended that of these.
    if (enable == 0 && module_call_) watch_module_calls(true);
}

void Subscriber::note_call(const CUpti_CallbackData& call) {
    const std::lock_guard lock(calls_mutex_);
    if (!call_) return;
    int& depth = call_depth_[std::this_thread::get_id()];
    if (call.callbackSite == CUPTI_API_ENTER) {
        if (depth++ == 0) call_(call.functionName != nullptr ? call.functionName : "unnamed");
    } else if (depth > 0) {
        --depth;
    }
}

void CUPTIAPI Subscriber::callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data) noexcept {
    // Nothing may be thrown through the driver's frames; a lost record shows as a wrong count.
    try {
        auto* subscriber = static_cast<Subscriber*>(self);
        const bool is_call =
            domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
        if (is_call && subscriber->counts_calls_) {
            subscriber->note_call(*static_cast<const CUpti_CallbackData*>(data));
        }
        if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
            const auto* call = static_cast<const CUpti_CallbackData*>(data);
            if (cupti::contains(module_calls, static_cast<CUpti_driver_api_trace_cbid>(id))) {
                const auto module = module_call_of(id, *call);
                if (subscriber->module_call_ && module) subscriber->module_call_(*module);
                return;
            }
            if (!subscriber->launch_ || subscriber->counts_calls_) return;
            if (call->callbackSite == CUPTI_API_ENTER) {
                subscriber->launch_(launch_of(id, *call));
            } else if (subscriber->launch_failed_ && call->functionReturnValue != nullptr &&
                       *static_cast<const CUresult*>(call->functionReturnValue) != CUDA_SUCCESS) {
                subscriber->launch_failed_(call->correlationId);
            }
        } else if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
            const auto* resource = static_cast<const CUpti_ResourceData*>(data);
            const auto* loaded =
                static_cast<const CUpti_ModuleResourceData*>(resource->resourceDescriptor);
            if (loaded == nullptr || loaded->pCubin == nullptr || !subscriber->module_) return;
            subscriber->module_({loaded->pCubin, loaded->cubinSize});
        }
    } catch (...) {
    }
}

}  // namespace perfgate::backend::cuda
