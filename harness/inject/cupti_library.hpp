// SPDX-License-Identifier: Apache-2.0
// CUPTI inside a foreign program: the copy that the program brought, else one found with dlopen.
// Two copies in one process would conflict, so none is linked.
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "backend/cuda/cupti_facts.hpp"

namespace perfgate::inject {

// clang-format off
#define PERFGATE_CUPTI_FUNCTIONS(X) \
    X(cuptiGetVersion) X(cuptiGetResultString) X(cuptiGetTimestamp) X(cuptiGetCallbackName) \
    X(cuptiSubscribe) X(cuptiSubscribe_v2) X(cuptiEnableCallback) X(cuptiSetThreadIdType) \
    X(cuptiActivityRegisterCallbacks) X(cuptiActivityEnable) X(cuptiActivityDisable) \
    X(cuptiActivityEnableDriverApi) X(cuptiActivityEnableRuntimeApi) X(cuptiActivityFlushAll) \
    X(cuptiActivityGetNextRecord) X(cuptiActivityGetNumDroppedRecords)
// clang-format on

struct CuptiApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name takes none
#define PERFGATE_CUPTI_DECLARE(name) decltype(&::name) name = nullptr;
    PERFGATE_CUPTI_FUNCTIONS(PERFGATE_CUPTI_DECLARE)
#undef PERFGATE_CUPTI_DECLARE
    void* library = nullptr;
    std::string path;  ///< of the file that is used
    std::uint32_t version = 0;

    /// Before anything else is asked of CUPTI.
    [[nodiscard]] bool subscribes_first() const {
        return backend::cuda::has_two_sets_of_functions(version);
    }
};

/// Finds and loads CUPTI. `named` is tried before the usual places, but after a copy that is loaded
/// already. False: `why` says what is missing, in one line. Throws only std::bad_alloc.
bool load_cupti(const std::string& named, CuptiApi& api, std::string& why);

/// "CUPTI_ERROR_HARDWARE_BUSY (26)".
std::string describe(const CuptiApi& api, CUptiResult code);

/// Whether CUPTI refuses the call because of who has subscribed to it, and with which functions.
bool is_refusal(CUptiResult code);

/// Subscribes to callbacks; on failure `why` names who holds CUPTI, as far as CUPTI tells.
CUptiResult subscribe(const CuptiApi& api, CUpti_SubscriberHandle* handle,
                      CUpti_CallbackFunc callback, void* self, std::string& why);

/// A function of a loaded library; null if it does not have it.
void* library_function(void* library, const char* name);

// CUPTI's functions for counters, from the copy that cupti_library found.

// clang-format off
#define PERFGATE_COUNTER_FUNCTIONS(X) \
    X(cuptiGetDeviceId) X(cuptiDeviceGetChipName) \
    X(cuptiProfilerInitialize) X(cuptiProfilerDeviceSupported) X(cuptiProfilerGetCounterAvailability) \
    X(cuptiProfilerHostInitialize) X(cuptiProfilerHostDeinitialize) \
    X(cuptiProfilerHostConfigAddMetrics) X(cuptiProfilerHostGetMetricProperties) \
    X(cuptiProfilerHostGetConfigImageSize) X(cuptiProfilerHostGetConfigImage) \
    X(cuptiProfilerHostGetNumOfPasses) X(cuptiProfilerHostEvaluateToGpuValues) \
    X(cuptiRangeProfilerEnable) X(cuptiRangeProfilerDisable) X(cuptiRangeProfilerSetConfig) \
    X(cuptiRangeProfilerStart) X(cuptiRangeProfilerStop) X(cuptiRangeProfilerDecodeData) \
    X(cuptiRangeProfilerGetCounterDataSize) X(cuptiRangeProfilerCounterDataImageInitialize) \
    X(cuptiRangeProfilerGetCounterDataInfo)
// clang-format on

struct CounterApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name takes none
#define PERFGATE_COUNTER_DECLARE(name) decltype(&::name) name = nullptr;
    PERFGATE_COUNTER_FUNCTIONS(PERFGATE_COUNTER_DECLARE)
#undef PERFGATE_COUNTER_DECLARE
    const CuptiApi* cupti = nullptr;
};

/// Why nothing can be counted, in one line; it goes into the recording.
class NotCounted : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// `cupti` is loaded, and outlives the result. False: `why` says what is missing.
bool load_counters(const CuptiApi& cupti, CounterApi& api, std::string& why);

/// Throws NotCounted with what went wrong, CUPTI's code and the remedy.
void check(const CounterApi& api, CUptiResult code, std::string_view what);

/// Zeroed parameters of a CUPTI call. Their size is CUPTI's macro, which differs from sizeof.
#define PERFGATE_CUPTI_PARAMS(type, name) \
    type name{};                          \
    (name).structSize = type##_STRUCT_SIZE

}  // namespace perfgate::inject
