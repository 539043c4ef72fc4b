// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions as a table. The process's copy is used, else one that is found: two copies in
// one process would conflict. Which versions can be used, and for what; errors with their remedy.
#pragma once

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "util/error.hpp"

namespace perfgate::cupti {

/// The first of CUDA 13; CUDA 12's are 18 to 28.
inline constexpr std::uint32_t first_of_13 = 130000;

/// Why CUPTI of this version cannot be used; empty if it can. From 12.0 on, records begin with the
/// fields that we read, in the same places; later versions append to them.
std::string_view refusal(std::uint32_t version);
/// "13.0 update 1 (130001)", "12.9 (28)".
std::string version_text(std::uint32_t version);

// clang-format off
#define PERFGATE_CUPTI_FUNCTIONS(X) \
    X(cuptiGetVersion) X(cuptiGetResultString) X(cuptiGetErrorMessage) X(cuptiGetTimestamp) \
    X(cuptiGetCallbackName) X(cuptiSubscribe) X(cuptiEnableCallback) \
    X(cuptiSetThreadIdType) X(cuptiActivityRegisterCallbacks) X(cuptiActivityEnable) \
    X(cuptiActivityDisable) X(cuptiActivityFlushAll) X(cuptiActivityGetNextRecord) \
    X(cuptiActivityGetNumDroppedRecords) X(cuptiGetDeviceId) X(cuptiDeviceGetChipName) \
    X(cuptiGetGraphNodeId)
// From 13.0, 12.5 and 12.5 on; null in older versions.
#define PERFGATE_CUPTI_NEWER_FUNCTIONS(X) \
    X(cuptiSubscribe_v2) X(cuptiActivityEnableDriverApi) X(cuptiActivityEnableRuntimeApi)
// What only a worker needs.
#define PERFGATE_CUPTI_WORKER_FUNCTIONS(X) \
    X(cuptiUnsubscribe) X(cuptiEnableDomain) X(cuptiGetStreamIdEx) \
    X(cuptiActivityPushExternalCorrelationId) X(cuptiActivityPopExternalCorrelationId)
// From 12.6 update 2 on.
#define PERFGATE_CUPTI_COUNTER_FUNCTIONS(X) \
    X(cuptiProfilerInitialize) X(cuptiProfilerDeviceSupported) X(cuptiProfilerGetCounterAvailability) \
    X(cuptiProfilerHostInitialize) X(cuptiProfilerHostDeinitialize) \
    X(cuptiProfilerHostConfigAddMetrics) X(cuptiProfilerHostGetMetricProperties) \
    X(cuptiProfilerHostGetConfigImageSize) X(cuptiProfilerHostGetConfigImage) \
    X(cuptiProfilerHostGetNumOfPasses) X(cuptiProfilerHostEvaluateToGpuValues) \
    X(cuptiRangeProfilerEnable) X(cuptiRangeProfilerDisable) X(cuptiRangeProfilerSetConfig) \
    X(cuptiRangeProfilerStart) X(cuptiRangeProfilerStop) X(cuptiRangeProfilerDecodeData) \
    X(cuptiRangeProfilerGetCounterDataSize) X(cuptiRangeProfilerCounterDataImageInitialize) \
    X(cuptiRangeProfilerGetCounterDataInfo) X(cuptiRangeProfilerPushRange) \
    X(cuptiRangeProfilerPopRange)
#define PERFGATE_CUPTI_WORKER_COUNTER_FUNCTIONS(X) \
    X(cuptiProfilerDeInitialize) X(cuptiProfilerHostGetBaseMetrics) \
    X(cuptiProfilerHostGetSupportedChips) X(cuptiRangeProfilerCounterDataGetRangeInfo)
// From 12.6 on.
#define PERFGATE_CUPTI_PM_FUNCTIONS(X) \
    X(cuptiPmSamplingGetCounterAvailability) X(cuptiPmSamplingEnable) X(cuptiPmSamplingDisable) \
    X(cuptiPmSamplingSetConfig) X(cuptiPmSamplingStart) X(cuptiPmSamplingStop) \
    X(cuptiPmSamplingDecodeData) X(cuptiPmSamplingGetCounterDataSize) \
    X(cuptiPmSamplingCounterDataImageInitialize) X(cuptiPmSamplingGetCounterDataInfo) \
    X(cuptiPmSamplingCounterDataGetSampleInfo)
// Samples of the program counter; null in versions without them.
#define PERFGATE_CUPTI_PC_FUNCTIONS(X) \
    X(cuptiPCSamplingEnable) X(cuptiPCSamplingDisable) X(cuptiPCSamplingStart) \
    X(cuptiPCSamplingStop) X(cuptiPCSamplingGetData) X(cuptiPCSamplingGetNumStallReasons) \
    X(cuptiPCSamplingGetStallReasons) X(cuptiPCSamplingSetConfigurationAttribute)
// Counts of instructions; likewise.
#define PERFGATE_CUPTI_SASS_FUNCTIONS(X) \
    X(cuptiSassMetricsGetProperties) X(cuptiSassMetricsSetConfig) X(cuptiSassMetricsUnsetConfig) \
    X(cuptiSassMetricsEnable) X(cuptiSassMetricsDisable) X(cuptiSassMetricsGetDataProperties) \
    X(cuptiSassMetricsFlushData)
// clang-format on

struct Api {
#define PERFGATE_CUPTI_DECLARE(name) decltype(&::name) name = nullptr;
    PERFGATE_CUPTI_FUNCTIONS(PERFGATE_CUPTI_DECLARE)
    PERFGATE_CUPTI_NEWER_FUNCTIONS(PERFGATE_CUPTI_DECLARE)
    PERFGATE_CUPTI_WORKER_FUNCTIONS(PERFGATE_CUPTI_DECLARE)          ///< own() has them
    PERFGATE_CUPTI_COUNTER_FUNCTIONS(PERFGATE_CUPTI_DECLARE)         ///< after load_counters()
    PERFGATE_CUPTI_WORKER_COUNTER_FUNCTIONS(PERFGATE_CUPTI_DECLARE)  ///< own_counters() has them
    PERFGATE_CUPTI_PM_FUNCTIONS(PERFGATE_CUPTI_DECLARE)              ///< after load_sampling()
    PERFGATE_CUPTI_PC_FUNCTIONS(PERFGATE_CUPTI_DECLARE)              ///< require_pc_sampling()
    PERFGATE_CUPTI_SASS_FUNCTIONS(PERFGATE_CUPTI_DECLARE)            ///< require_sass_counts()
#undef PERFGATE_CUPTI_DECLARE
    void* library = nullptr;
    std::string path;  ///< of the file that is used
    std::uint32_t version = 0;

    /// CUPTI 13.3, and 13.2 in part, has a second set of functions ("V2", with a subscriber as
    /// argument), must not be called with both, and wants a subscriber before anything else (its
    /// documentation, "CUPTI multiple subscribers"). We then use the first set alone, whose records
    /// have the layout that we know. It does not name who else has subscribed, so that below this
    /// version we subscribe with cuptiSubscribe_v2, where there is one, which does.
    [[nodiscard]] bool subscribes_first() const {
        return version >= 130200;
    }
    /// Whether a range must be open for launches to be counted, in automatic mode too.
    [[nodiscard]] bool counts_in_pushed_ranges() const {
        return version < first_of_13;
    }
};

/// Finds and loads CUPTI: the copy in this process, else `named`, else one in the usual places.
/// False: `why` says what is missing, in one line. Throws only std::bad_alloc.
bool load(const std::string& named, Api& api, std::string& why);
/// Looks up the functions for counters. False: `why` says what is missing.
bool load_counters(Api& api, std::string& why);
/// Looks up the functions for counters and for their samples over time. False: likewise.
bool load_sampling(Api& api, std::string& why);
/// The worker's: loaded at the first call. Throws util::Error with `why`, each time.
const Api& own();
/// Likewise, with the functions for counters.
const Api& own_counters();

/// Throws util::Error if this CUPTI has no functions for samples of the program counter.
void require_pc_sampling(const Api& api);
/// Likewise, for counts of instructions.
void require_sass_counts(const Api& api);

/// Opens the libraries that libcupti opens by name (libnvperf_host, libnvperf_target) from its own
/// folder: it gets those, and they need not be on the loader's path.
void preload_metric_libraries(const Api& api);

/// "CUPTI_ERROR_HARDWARE_BUSY (26)".
std::string name_of(const Api& api, CUptiResult code);
/// What a user can do about it; may be empty.
std::string_view remedy(CUptiResult code);
/// Whether CUPTI refuses the call because of who has subscribed to it, and with which functions.
bool is_refusal(CUptiResult code);

/// A failed call: what was being done, CUPTI's name, and the remedy or else CUPTI's text.
class Error : public util::Error {
  public:
    Error(const Api& api, CUptiResult code, std::string_view what);
    [[nodiscard]] CUptiResult code() const { return code_; }
    /// Counters are restricted to administrators here.
    [[nodiscard]] bool no_permission() const;

  private:
    CUptiResult code_;
};

/// Throws Error unless `code` is CUPTI_SUCCESS. `what` is a clause: "cannot start a pass".
void check(const Api& api, CUptiResult code, std::string_view what);

/// Subscribes to callbacks, of which a process has one subscription; on failure `why` has the error
/// and who holds it, as far as CUPTI tells. Nothing may be thrown through the driver's frames.
using Callback = void(CUPTIAPI*)(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void* data) noexcept;
CUptiResult subscribe(const Api& api, CUpti_SubscriberHandle* handle, Callback callback, void* self,
                      std::string& why);

/// Callbacks at calls of the driver. Calls that this version does not know are left out: a program
/// that brought it was built without them.
template <class Ids>
CUptiResult enable_driver_callbacks(const Api& api, CUpti_SubscriberHandle handle, const Ids& ids) {
    CUptiResult first = CUPTI_SUCCESS;
    for (const CUpti_CallbackId id : ids) {
        const char* name = nullptr;
        if (api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS) {
            continue;
        }
        const CUptiResult code = api.cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, id);
        if (first == CUPTI_SUCCESS) first = code;
    }
    return first;
}

/// Zeroed parameters of a CUPTI call. Their size is CUPTI's macro, which differs from sizeof.
#define PERFGATE_CUPTI_PARAMS(type, name) \
    type name{};                          \
    (name).structSize = type##_STRUCT_SIZE

}  // namespace perfgate::cupti
