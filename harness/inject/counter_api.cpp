// SPDX-License-Identifier: Apache-2.0
#include "inject/counter_api.hpp"

#include <dlfcn.h>

#include "backend/cuda/counter_remedies.hpp"

namespace perfgate::inject {
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
