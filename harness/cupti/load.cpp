// SPDX-License-Identifier: Apache-2.0
// CUPTI inside a foreign program: the copy that the program brought, else one found with dlopen.
#include <dlfcn.h>
#include <link.h>

#include <string_view>
#include <vector>

#include "cupti/api.hpp"

namespace perfgate::cupti {
namespace {

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

#define PERFGATE_CUPTI_LOOK_UP(name)                                            \
    api.name = reinterpret_cast<decltype(api.name)>(dlsym(api.library, #name)); \
    if (api.name == nullptr) missing = #name;

}  // namespace

bool load(const std::string& named, Api& api, std::string& why) {
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
    PERFGATE_CUPTI_FUNCTIONS(PERFGATE_CUPTI_LOOK_UP)
    if (api.cuptiGetVersion != nullptr) api.cuptiGetVersion(&api.version);
    if (api.version < required_version || missing != nullptr) {
        why = "this program uses CUPTI " + std::to_string(api.version) + " (" + api.path +
              "), and " + std::to_string(required_version) +
              " or newer is needed: update the program's CUDA libraries to 13.0 update 1";
        return false;
    }
    return true;
}

bool load_counters(Api& api, std::string& why) {
    const char* missing = nullptr;
    PERFGATE_CUPTI_COUNTER_FUNCTIONS(PERFGATE_CUPTI_LOOK_UP)
    if (missing != nullptr) {
        why = "this program's CUPTI (" + api.path + ") has no " + missing +
              ": update the program's CUDA libraries";
        return false;
    }
    preload_metric_libraries(api);
    return true;
}

}  // namespace perfgate::cupti
