// SPDX-License-Identifier: Apache-2.0
#include "cupti/api.hpp"

#include <dlfcn.h>

#include <array>

namespace perfgate::cupti {
namespace {

struct Remedy {
    CUptiResult code;
    std::string_view text;
};

constexpr std::array remedies{
    Remedy{
        CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
        "another profiler is attached: run without nsys, ncu, cuda-gdb and compute-sanitizer, or "
        "pass --no-cupti"},
    Remedy{CUPTI_ERROR_INVALID_CHIP_NAME,
           "this CUPTI does not know the chip: newer CUDA libraries are needed"},
    Remedy{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
           "the driver lets only administrators read performance counters: run as root or "
           "with CAP_PERFMON (driver 565 or newer) or CAP_SYS_ADMIN, in a container with "
           "--cap-add=SYS_ADMIN as root, or load the nvidia module with "
           "NVreg_RestrictProfilingToAdminUsers=0"},
    Remedy{CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
           "enable profiling for this virtual GPU in the hypervisor"},
    Remedy{CUPTI_ERROR_HARDWARE_BUSY,
           "another program holds the performance counters: stop other profilers, or pause "
           "DCGM profiling with `dcgmi profile --pause`"},
    Remedy{CUPTI_ERROR_NOT_INITIALIZED,
           "libnvperf_host.so, which belongs to CUPTI, may not be on the loader path: set "
           "LD_LIBRARY_PATH to the folder that holds libcupti.so"},
    Remedy{CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "counters cannot be read on this MIG instance"},
    Remedy{CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
           "counters cannot be read in confidential-computing mode"},
    Remedy{CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "this WSL device cannot be profiled"},
};

/// What CUPTI writes in place of the holder's name if that gave none, as compute-sanitizer does.
constexpr std::string_view unnamed_holder = "<not provided>";

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

std::string message(const Api& api, CUptiResult code, std::string_view what) {
    std::string words = std::string(what) + ": " + name_of(api, code);
    if (const std::string_view advice = remedy(code); !advice.empty()) {
        return words += "; " + std::string(advice);
    }
    const char* name = nullptr;
    const char* text = nullptr;
    api.cuptiGetResultString(code, &name);
    api.cuptiGetErrorMessage(code, &text);
    // For many results CUPTI's text repeats the name; for some it is a paragraph.
    if (text != nullptr && (name == nullptr || std::string_view(name) != text)) {
        words += ": " + one_line(text);
    }
    return words;
}

/// CUPTI 12's numbers; its versions from 13.0 on are in theirs.
struct Numbered {
    std::uint32_t number;
    std::string_view toolkit;
};
constexpr std::array versions_of_12{
    Numbered{18, "12.0 or 12.1"}, Numbered{20, "12.2"}, Numbered{21, "12.3"}, Numbered{22, "12.4"},
    Numbered{23, "12.5"},         Numbered{24, "12.6"}, Numbered{26, "12.8"}, Numbered{28, "12.9"},
};
constexpr std::uint32_t first_of_12 = 18;

}  // namespace

std::string_view refusal(std::uint32_t version) {
    if (version == first_of_13) {
        return "13.0 before update 1 deadlocks; update the CUDA libraries to 13.0 update 1";
    }
    return version < first_of_12 ? "12.0 or newer is needed; update the CUDA libraries" : "";
}

std::string version_text(std::uint32_t version) {
    const std::string number = " (" + std::to_string(version) + ")";
    if (version >= first_of_13) {
        const std::uint32_t update = version % 100;
        return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
               (update == 0 ? "" : " update " + std::to_string(update)) + number;
    }
    for (const Numbered& known : versions_of_12) {
        if (known.number == version) return std::string(known.toolkit) + number;
    }
    return std::to_string(version);
}

std::string name_of(const Api& api, CUptiResult code) {
    const char* name = nullptr;
    api.cuptiGetResultString(code, &name);
    return std::string(name != nullptr ? name : "unknown CUPTI error") + " (" +
           std::to_string(static_cast<int>(code)) + ")";
}

std::string_view remedy(CUptiResult code) {
    for (const Remedy& entry : remedies) {
        if (entry.code == code) return entry.text;
    }
    return {};
}

bool is_refusal(CUptiResult code) {
    return code == CUPTI_ERROR_NOT_COMPATIBLE ||
           code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

Error::Error(const Api& api, CUptiResult code, std::string_view what)
    : util::Error(message(api, code, what)), code_(code) {}

bool Error::no_permission() const {
    return code_ == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
           code_ == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
}

void check(const Api& api, CUptiResult code, std::string_view what) {
    if (code != CUPTI_SUCCESS) throw Error(api, code, what);
}

void preload_metric_libraries(const Api& api) {
    const std::string folder = api.path.substr(0, api.path.rfind('/') + 1);
    if (folder.empty()) return;
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
        dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);  // kept open
    }
}

CUptiResult subscribe(const Api& api, CUpti_SubscriberHandle* handle, Callback callback, void* self,
                      std::string& why) {
    if (api.subscribes_first() || api.cuptiSubscribe_v2 == nullptr) {
        const CUptiResult code = api.cuptiSubscribe(handle, callback, self);
        if (code != CUPTI_SUCCESS) why = name_of(api, code);
        return code;
    }
    std::array<char, std::size_t{2} * CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> name{};
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "perfgate";
    params.oldSubscriberName = name.data();
    params.oldSubscriberSize = name.size() - 1;
    const CUptiResult code = api.cuptiSubscribe_v2(handle, callback, self, &params);
    if (code == CUPTI_SUCCESS) return code;
    why = name_of(api, code);
    const std::string_view holder = name.data();
    if (!holder.empty() && holder != unnamed_holder) {
        why += ", held by \"" + std::string(holder) + "\"";
    }
    return code;
}

}  // namespace perfgate::cupti
