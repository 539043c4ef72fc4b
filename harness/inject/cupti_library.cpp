// SPDX-License-Identifier: Apache-2.0
#include "inject/cupti_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <string_view>
#include <vector>

#include "backend/cuda/cupti_facts.hpp"

namespace perfgate::inject {

namespace {

using backend::cuda::required_cupti_version;

constexpr const char* soname = "libcupti.so.13";

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

/// The path of the libcupti that is in this process, of whatever version.
std::string loaded_cupti() {
    std::string found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
            if (info->dlpi_name == nullptr ||
                !file_name(info->dlpi_name).starts_with("libcupti.so")) {
                return 0;
            }
            try {
                *static_cast<std::string*>(out) = info->dlpi_name;
            } catch (...) {
            }
            return 1;
        },
        &found);
    return found;
}

/// Possible places of libcupti if the program brought none, best first.
std::vector<std::string> candidates(const std::string& named) {
    std::vector<std::string> paths;
    if (!named.empty()) paths.push_back(named);
    paths.emplace_back(soname);  // the loader's search path
    Dl_info own{};
    if (dladdr(reinterpret_cast<void*>(&file_name), &own) != 0 && own.dli_fname != nullptr) {
        const std::string_view path = own.dli_fname;
        paths.push_back(std::string(path.substr(0, path.rfind('/') + 1)) + soname);
    }
#ifdef PERFGATE_CUPTI_LIBRARY_FOLDER
    paths.push_back(std::string(PERFGATE_CUPTI_LIBRARY_FOLDER "/") + soname);
#endif
    for (const char* folder : {"/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/"}) {
        paths.push_back(std::string(folder) + soname);
    }
    return paths;
}

}  // namespace

bool load_cupti(const std::string& named, CuptiApi& api, std::string& why) {
    if (const std::string loaded = loaded_cupti(); !loaded.empty()) {
        api.library = dlopen(loaded.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    } else {
        for (const std::string& path : candidates(named)) {
            api.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (api.library != nullptr) break;
        }
    }
    if (api.library == nullptr) {
        why =
            "libcupti.so.13 was not found: install cuda-cupti or set LD_LIBRARY_PATH to its "
            "folder";
        return false;
    }
    if (const auto* place = dlsym(api.library, "cuptiGetVersion"); place != nullptr) {
        Dl_info info{};
        if (dladdr(place, &info) != 0 && info.dli_fname != nullptr) api.path = info.dli_fname;
    }
    const char* missing = nullptr;
#define PERFGATE_CUPTI_LOOK_UP(name)                                            \
    api.name = reinterpret_cast<decltype(api.name)>(dlsym(api.library, #name)); \
    if (api.name == nullptr) missing = #name;
    PERFGATE_CUPTI_FUNCTIONS(PERFGATE_CUPTI_LOOK_UP)
#undef PERFGATE_CUPTI_LOOK_UP
    if (api.cuptiGetVersion != nullptr) api.cuptiGetVersion(&api.version);
    if (api.version < required_cupti_version || missing != nullptr) {
        why = "this program uses CUPTI " + std::to_string(api.version) + " (" + api.path +
              "), and " + std::to_string(required_cupti_version) +
              " or newer is needed: update the program's CUDA libraries to 13.0 update 1";
        return false;
    }
    return true;
}

std::string describe(const CuptiApi& api, CUptiResult code) {
    const char* name = nullptr;
    if (api.cuptiGetResultString != nullptr) api.cuptiGetResultString(code, &name);
    return std::string(name != nullptr ? name : "unknown CUPTI error") + " (" +
           std::to_string(static_cast<int>(code)) + ")";
}

bool is_refusal(CUptiResult code) {
    return code == CUPTI_ERROR_NOT_COMPATIBLE ||
           code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

CUptiResult subscribe(const CuptiApi& api, CUpti_SubscriberHandle* handle,
                      CUpti_CallbackFunc callback, void* self, std::string& why) {
    if (api.subscribes_first()) {
        const CUptiResult code = api.cuptiSubscribe(handle, callback, self);
        if (code != CUPTI_SUCCESS) why = describe(api, code);
        return code;
    }
    std::array<char, 256> holder{};
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "perfgate";
    params.oldSubscriberName = holder.data();
    params.oldSubscriberSize = holder.size() - 1;
    const CUptiResult code = api.cuptiSubscribe_v2(handle, callback, self, &params);
    if (code != CUPTI_SUCCESS) {
        why = describe(api, code);
        const std::string_view name = holder.data();
        if (!name.empty() && name != backend::cuda::unnamed_holder) {
            why += ", held by \"" + std::string(name) + "\"";
        }
    }
    return code;
}

void* library_function(void* library, const char* name) {
    return dlsym(library, name);
}

namespace {

constexpr const char* unknown_chip =
    "this CUPTI does not know the chip: the program needs newer CUDA libraries";

/// libcupti opens these by name. Kept open, it gets those that belong to it.
void preload_metric_libraries(const std::string& cupti_path) {
    const std::string folder = cupti_path.substr(0, cupti_path.rfind('/') + 1);
    if (folder.empty()) return;
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
        dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
    }
}

}  // namespace

bool load_counters(const CuptiApi& cupti, CounterApi& api, std::string& why) {
    const char* missing = nullptr;
#define PERFGATE_COUNTER_LOOK_UP(name)                                            \
    api.name = reinterpret_cast<decltype(api.name)>(dlsym(cupti.library, #name)); \
    if (api.name == nullptr) missing = #name;
    PERFGATE_COUNTER_FUNCTIONS(PERFGATE_COUNTER_LOOK_UP)
#undef PERFGATE_COUNTER_LOOK_UP
    api.cupti = &cupti;
    if (missing != nullptr) {
        why = "this program's CUPTI (" + cupti.path + ") has no " + missing +
              ": update the program's CUDA libraries";
        return false;
    }
    preload_metric_libraries(cupti.path);
    return true;
}

void check(const CounterApi& api, CUptiResult code, std::string_view what) {
    if (code == CUPTI_SUCCESS) return;
    std::string text = std::string(what) + ": " + describe(*api.cupti, code);
    if (code == CUPTI_ERROR_INVALID_CHIP_NAME) text += std::string("; ") + unknown_chip;
    for (const auto& remedy : backend::cuda::counter_remedies) {
        if (remedy.code == code) text += "; " + std::string(remedy.text);
    }
    throw NotCounted(text);
}

}  // namespace perfgate::inject
