// SPDX-License-Identifier: Apache-2.0
// Finds CUPTI: the copy that is in the process, else one in the usual places.
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <string_view>
#include <vector>

#include "cupti/api.hpp"
#include "util/toolkit.hpp"

namespace perfgate::cupti {
namespace {

constexpr std::array sonames{"libcupti.so.13", "libcupti.so.12"};  ///< best first

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

/// Folders to look in behind the loader's path: where this code is installed
/// (lib/perfgate/backends, with lib above), NVIDIA's packages beside it in a Python environment,
/// and those of a toolkit.
std::vector<std::string> folders() {
    std::vector<std::string> all;
    Dl_info code{};
    if (dladdr(reinterpret_cast<void*>(&file_name), &code) != 0 && code.dli_fname != nullptr) {
        std::string_view path = code.dli_fname;
        constexpr std::string_view packages = "/site-packages/";
        if (const auto at = path.rfind(packages); at != std::string_view::npos) {
            const std::string root(path.substr(0, at + packages.size()));
            all.push_back(root + "nvidia/cu13/lib/");
            all.push_back(root + "nvidia/cuda_cupti/lib/");
        }
        for (int level = 0; level < 3 && path.find('/') != std::string_view::npos; ++level) {
            path = path.substr(0, path.rfind('/'));
            all.push_back(std::string(path) + "/");
        }
    }
#ifdef PERFGATE_CUPTI_LIBRARY_FOLDER
    all.emplace_back(PERFGATE_CUPTI_LIBRARY_FOLDER "/");
#endif
    for (const std::string& toolkit : util::toolkit_folders()) {
        all.push_back(toolkit + "/extras/CUPTI/lib64/");
        all.push_back(toolkit + "/lib64/");
    }
    return all;
}

/// Possible places of libcupti if the program brought none, best first.
std::vector<std::string> candidates(const std::string& named) {
    std::vector<std::string> paths;
    if (!named.empty()) paths.push_back(named);
    for (const std::string soname : sonames) {
        paths.push_back(soname);  // the loader's search path
        for (const std::string& folder : folders()) paths.push_back(folder + soname);
    }
    return paths;
}

#define PERFGATE_CUPTI_FIND(name) \
    api.name = reinterpret_cast<decltype(api.name)>(dlsym(api.library, #name));
#define PERFGATE_CUPTI_LOOK_UP(name) \
    PERFGATE_CUPTI_FIND(name)        \
    if (api.name == nullptr) missing = #name;

std::string incomplete(const Api& api, const char* missing) {
    return "CUPTI " + version_text(api.version) + " (" + api.path + ") has no " + missing +
           ": install another, or set LD_LIBRARY_PATH to its folder";
}

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
            "libcupti.so.13 or .12 was not found: install cuda-cupti, or set LD_LIBRARY_PATH to "
            "its folder";
        return false;
    }
    if (const auto* place = dlsym(api.library, "cuptiGetVersion"); place != nullptr) {
        Dl_info info{};
        if (dladdr(place, &info) != 0 && info.dli_fname != nullptr) api.path = info.dli_fname;
    }
    const char* missing = nullptr;
    PERFGATE_CUPTI_FUNCTIONS(PERFGATE_CUPTI_LOOK_UP)
    PERFGATE_CUPTI_NEWER_FUNCTIONS(PERFGATE_CUPTI_FIND)
    PERFGATE_CUPTI_PC_FUNCTIONS(PERFGATE_CUPTI_FIND)
    PERFGATE_CUPTI_SASS_FUNCTIONS(PERFGATE_CUPTI_FIND)
    if (api.cuptiGetVersion != nullptr) api.cuptiGetVersion(&api.version);
    if (const std::string_view refused = refusal(api.version); !refused.empty()) {
        why = "CUPTI " + version_text(api.version) + " of this process (" + api.path +
              ") cannot be used: " + std::string(refused);
        return false;
    }
    if (missing != nullptr) why = incomplete(api, missing);
    return missing == nullptr;
}

#define PERFGATE_CUPTI_REQUIRE(name) \
    if (api.name == nullptr) throw util::Error(incomplete(api, #name));

void require_pc_sampling(const Api& api) {
    PERFGATE_CUPTI_PC_FUNCTIONS(PERFGATE_CUPTI_REQUIRE)
}

void require_sass_counts(const Api& api) {
    PERFGATE_CUPTI_SASS_FUNCTIONS(PERFGATE_CUPTI_REQUIRE)
}

bool load_counters(Api& api, std::string& why) {
    const char* missing = nullptr;
    PERFGATE_CUPTI_COUNTER_FUNCTIONS(PERFGATE_CUPTI_LOOK_UP)
    if (missing != nullptr) {
        why = "CUPTI " + version_text(api.version) + " (" + api.path + ") has no " + missing +
              ": counters need the CUDA libraries of 12.6 update 2 or newer";
        return false;
    }
    preload_metric_libraries(api);
    return true;
}

bool load_sampling(Api& api, std::string& why) {
    if (!load_counters(api, why)) return false;
    const char* missing = nullptr;
    PERFGATE_CUPTI_PM_FUNCTIONS(PERFGATE_CUPTI_LOOK_UP)
    if (missing != nullptr) {
        why = "CUPTI " + version_text(api.version) + " (" + api.path + ") has no " + missing +
              ": the GPU's metrics over time need the CUDA libraries of 12.6 or newer";
    }
    return missing == nullptr;
}

namespace {

/// Loaded once; `why` says what is missing, `why_no_counters` what is missing for those.
struct Own {
    Api api;
    std::string why, why_no_counters;
    Own() {
        const char* missing = nullptr;
        if (!load({}, api, why)) return;
        PERFGATE_CUPTI_WORKER_FUNCTIONS(PERFGATE_CUPTI_LOOK_UP)
        if (missing != nullptr) why = incomplete(api, missing);
        if (!load_counters(api, why_no_counters)) return;
        PERFGATE_CUPTI_WORKER_COUNTER_FUNCTIONS(PERFGATE_CUPTI_LOOK_UP)
        if (missing != nullptr) why_no_counters = incomplete(api, missing);
    }
};

const Own& loaded_own() {
    static const auto* own = new Own;  // threads may still use it when the process ends
    return *own;
}

}  // namespace

const Api& own() {
    const Own& own = loaded_own();
    if (!own.why.empty()) throw util::Error(own.why);
    return own.api;
}

const Api& own_counters() {
    const Api& api = own();
    if (const std::string& why = loaded_own().why_no_counters; !why.empty()) throw util::Error(why);
    return api;
}

}  // namespace perfgate::cupti
