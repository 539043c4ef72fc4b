// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions for counters, from the copy that cupti_library found.
#pragma once

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "inject/cupti_library.hpp"

namespace perfgate::inject {

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
