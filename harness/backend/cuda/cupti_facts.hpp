// SPDX-License-Identifier: Apache-2.0
// What holds for CUPTI here and in a program: which versions can be used, how to subscribe, and
// what to do about its errors.
#pragma once

#include <cupti.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace perfgate::backend::cuda {

/// 13.0 before update 1 deadlocks, and older versions have a different record layout.
inline constexpr std::uint32_t required_cupti_version = 130001;

/// CUPTI 13.3, and 13.2 in part, has a second set of functions ("V2", with a subscriber as
/// argument), must not be called with both, and wants a subscriber first (its documentation, "CUPTI
/// multiple subscribers"). We then use the first set alone, whose records have the layout that we
/// know. It does not name who else has subscribed, so that below this version we subscribe with
/// cuptiSubscribe_v2, which does.
constexpr bool has_two_sets_of_functions(std::uint32_t cupti_version) {
    return cupti_version >= 130200;
}

/// What CUPTI writes in place of the holder's name if that gave none, as compute-sanitizer does.
inline constexpr std::string_view unnamed_holder = "<not provided>";

// What to do about CUPTI's errors that keep counters from being collected, here or in a program.

struct CuptiRemedy {
    CUptiResult code;
    std::string_view text;
};

inline constexpr std::array counter_remedies{
    CuptiRemedy{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
                "the driver lets only administrators read performance counters: run as root or "
                "with CAP_PERFMON (driver 565 or newer) or CAP_SYS_ADMIN, in a container with "
                "--cap-add=SYS_ADMIN as root, or load the nvidia module with "
                "NVreg_RestrictProfilingToAdminUsers=0"},
    CuptiRemedy{CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
                "enable profiling for this virtual GPU in the hypervisor"},
    CuptiRemedy{CUPTI_ERROR_HARDWARE_BUSY,
                "another program holds the performance counters: stop other profilers, or pause "
                "DCGM profiling with `dcgmi profile --pause`"},
    CuptiRemedy{CUPTI_ERROR_NOT_INITIALIZED,
                "libnvperf_host.so, which belongs to CUPTI, may not be on the loader path: set "
                "LD_LIBRARY_PATH to the folder that holds libcupti.so"},
    CuptiRemedy{CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED,
                "counters cannot be read on this MIG instance"},
    CuptiRemedy{CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
                "counters cannot be read in confidential-computing mode"},
    CuptiRemedy{CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "this WSL device cannot be profiled"},
};

}  // namespace perfgate::backend::cuda
