// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cupti.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "backend/cuda/cupti_facts.hpp"

namespace perfgate::backend::cuda {
namespace {

constexpr std::array launch_callbacks{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
    CUPTI_DRIVER_TRACE_CBID_cuLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync,
};

constexpr std::array remedies{
    CuptiRemedy{
        CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
        "another profiler is attached: run without nsys, ncu, cuda-gdb and compute-sanitizer, or "
        "pass --no-cupti"},
    CuptiRemedy{CUPTI_ERROR_INVALID_CHIP_NAME,
                "this CUPTI does not know the chip: install a newer CUDA toolkit"},
};

std::string name_of(CUptiResult code) {
    const char* name = nullptr;
    cuptiGetResultString(code, &name);
    return fmt::format("{} ({})", name != nullptr ? name : "unknown CUPTI error",
                       static_cast<int>(code));
}

std::string message(CUptiResult code, std::string_view what, std::string_view detail) {
    const std::string_view advice = remedy(code);
    // If there is a remedy, it is more informative than CUPTI's text.
    std::string text = fmt::format("{}: {}", what, advice.empty() ? describe(code) : name_of(code));
    if (!detail.empty()) text += fmt::format("; {}", detail);
    if (!advice.empty()) text += fmt::format("; {}", advice);
    return text;
}

// Each run of white space, line breaks included, as one space; without a full stop at the end.
std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
        if (!blank) {
            line += c;
        } else if (!line.empty() && line.back() != ' ') {
            line += ' ';
        }
    }
    while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
    return line;
}

/// The arguments of a launch call.
Subscriber::Launch launch_of(CUpti_CallbackId id, const CUpti_CallbackData& call) {
    Subscriber::Launch launch;
    launch.context = call.context;
    launch.call = call.correlationId;
    if (call.symbolName != nullptr) launch.symbol = call.symbolName;
    const auto take = [&](const auto* params) {
        launch.function = params->f;
        launch.arguments = params->kernelParams;
    };
    switch (id) {
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
            take(static_cast<const cuLaunchKernel_params*>(call.functionParams));
            launch.stream = static_cast<const cuLaunchKernel_params*>(call.functionParams)->hStream;
            break;
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
            take(static_cast<const cuLaunchKernelEx_params*>(call.functionParams));
            if (const auto* config =
                    static_cast<const cuLaunchKernelEx_params*>(call.functionParams)->config) {
                launch.stream = config->hStream;
            }
            break;
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
            take(static_cast<const cuLaunchCooperativeKernel_params*>(call.functionParams));
            launch.stream =
                static_cast<const cuLaunchCooperativeKernel_params*>(call.functionParams)->hStream;
            break;
        default:
            break;
    }
    return launch;
}

// One attempt; on MULTIPLE_SUBSCRIBERS, `holder` gets the name of the current subscriber.
CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* self,
                      std::string& holder) {
    if (has_two_sets_of_functions(cupti_version())) return cuptiSubscribe(handle, callback, self);
    std::array<char, std::size_t{2} * CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> name{};
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "perfgate";
    params.oldSubscriberName = name.data();
    params.oldSubscriberSize = name.size() - 1;
    const CUptiResult code = cuptiSubscribe_v2(handle, callback, self, &params);
    holder = name.data();
    if (holder == unnamed_holder) holder.clear();
    return code;
}

}  // namespace

CuptiError::CuptiError(CUptiResult code, std::string_view what, std::string_view detail)
    : util::Error(message(code, what, detail)), code_(code) {}

bool CuptiError::no_permission() const {
    return code_ == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
           code_ == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
}

void check(CUptiResult code, std::string_view what) {
    if (code != CUPTI_SUCCESS) throw CuptiError(code, what);
}

std::string describe(CUptiResult code) {
    const char* name = nullptr;
    const char* text = nullptr;
    cuptiGetResultString(code, &name);
    cuptiGetErrorMessage(code, &text);
    std::string words = name_of(code);
    // For many results CUPTI's text repeats the name; for some it is a paragraph.
    if (text != nullptr && (name == nullptr || std::string_view(name) != text)) {
        words += fmt::format(": {}", one_line(text));
    }
    return words;
}

std::string_view remedy(CUptiResult code) {
    for (const CuptiRemedy& entry : remedies) {
        if (entry.code == code) return entry.text;
    }
    for (const CuptiRemedy& entry : counter_remedies) {
        if (entry.code == code) return entry.text;
    }
    return {};
}

std::uint32_t cupti_version() {
    std::uint32_t version = 0;
    check(cuptiGetVersion(&version), "cannot read CUPTI's version");
    return version;
}

void preload_metric_libraries() {
    static const bool done = [] {
        Dl_info cupti{};
        if (dladdr(reinterpret_cast<void*>(&cuptiGetVersion), &cupti) == 0) return false;
        const auto folder = std::filesystem::path(cupti.dli_fname).parent_path();
        for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
            // Kept open, so that CUPTI gets this one when it opens it by name.
            dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
        }
        return true;
    }();
    (void)done;
}

void require_cupti_version() {
    const std::uint32_t version = cupti_version();
    if (version < required_cupti_version) {
        throw util::Error(fmt::format(
            "CUPTI {} is too old: {} or newer is needed. Install CUDA 13.0 update 1 or newer, and "
            "check that LD_LIBRARY_PATH does not put an older libcupti first",
            version, required_cupti_version));
    }
}

Subscriber::Subscriber() {
    std::string holder;
    const CUptiResult code = subscribe(&handle_, &Subscriber::callback, this, holder);
    if (code != CUPTI_SUCCESS) {
        throw CuptiError(code, "cannot use CUPTI",
                         holder.empty() ? std::string{} : fmt::format("held by \"{}\"", holder));
    }
}

Subscriber::~Subscriber() {
    if (handle_ != nullptr) cuptiUnsubscribe(handle_);
}

void Subscriber::on_launch(LaunchHandler handler, FailureHandler failed) {
    const std::uint32_t enable = handler ? 1 : 0;
    if (enable != 0) launch_ = std::move(handler);
    launch_failed_ = std::move(failed);
    for (const auto id : launch_callbacks) {
        check(cuptiEnableCallback(enable, handle_, CUPTI_CB_DOMAIN_DRIVER_API, id),
              "cannot watch kernel launches");
    }
    if (enable == 0) launch_ = nullptr;
}

void Subscriber::on_module(ModuleHandler handler) {
    const std::uint32_t enable = handler ? 1 : 0;
    if (enable != 0) module_ = std::move(handler);
    check(cuptiEnableCallback(enable, handle_, CUPTI_CB_DOMAIN_RESOURCE,
                              CUPTI_CBID_RESOURCE_MODULE_LOADED),
          "cannot watch module loads");
    if (enable == 0) module_ = nullptr;
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
        const CUptiResult result = cuptiEnableDomain(enable, handle_, domain);
        if (result != CUPTI_SUCCESS) set({});
        check(result, "cannot watch API calls");
    }
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
                                   const void* data) {
    // Nothing may be thrown through the driver's frames; a lost record shows as a wrong count.
    try {
        auto* subscriber = static_cast<Subscriber*>(self);
        const bool is_call =
            domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
        if (is_call && subscriber->counts_calls_) {
            subscriber->note_call(*static_cast<const CUpti_CallbackData*>(data));
        } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
            const auto* call = static_cast<const CUpti_CallbackData*>(data);
            if (!subscriber->launch_) return;
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
