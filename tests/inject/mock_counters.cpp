// SPDX-License-Identifier: Apache-2.0
// The counters of the mock of CUPTI: its Host API and Range Profiler, with made-up counters. What a
// kernel counts is proportional to its blocks.
//
// It refuses what the real one gets wrong or refuses: parameters of another size, a profiler that
// starts before earlier work is done or stops before the launch is, an object after a bad name.
//
// Faults, by environment: MOCK_COUNTERS_ERROR (a CUptiResult of the permission probe), MOCK_BUSY
// (of enabling), MOCK_RANGES (so many more ranges than launches), MOCK_NAN (a counter without a
// number), MOCK_PER_PASS (hardware counters in one pass: 2), MOCK_COUNT_FACTOR (of each value: 1),
// MOCK_ALL_PASSES=0 (a pass more than announced). Of samples: MOCK_SAMPLING_BUSY (a CUptiResult of
// enabling), MOCK_SAMPLED_AT_MOST (counters, of those that fit one pass), MOCK_OVERFLOW (after the
// first samples), MOCK_LATE_MS (so long nobody decodes, once), MOCK_ENDLESS (they do not end when
// they are stopped), MOCK_NO_TIMER (only the system clock triggers samples).
#include "mock_counters.hpp"

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Without counters, before CUDA 12.6, nothing is exported.
#if defined(MOCK_CUDA) && MOCK_CUDA < 1206
#define EXPORT extern "C" __attribute__((visibility("hidden")))
#else
#define EXPORT extern "C" __attribute__((visibility("default")))
#endif
#define EXPORT_ALWAYS extern "C" __attribute__((visibility("default")))
#define REQUIRE_SIZE(type)                                                    \
    if (params->structSize != type##_STRUCT_SIZE || params->pPriv != nullptr) \
    return CUPTI_ERROR_INVALID_PARAMETER

struct CUpti_Profiler_Host_Object {
    std::vector<std::string> names;
    bool usable = true;
};
struct CUpti_PmSampling_Object {
    std::uint64_t read_to = 0;  ///< 0: not started
    std::uint64_t interval_ns = 0;
    std::uint32_t room = 0;
    bool decoded = false, stopped = false;
};
struct CUpti_RangeProfiler_Object {
    CUcontext context = nullptr;
};

namespace perfgate::mock {
namespace {

double number(const char* variable, double otherwise) {
    const char* value = std::getenv(variable);
    return value == nullptr ? otherwise : std::atof(value);
}

/// Of one block.
const std::map<std::string, double> known = {
    {"dram__bytes.sum", 4096},
    {"dram__bytes_read.sum", 3000},
    {"dram__bytes_write.sum", 1096},
    {"smsp__inst_executed.sum", 100},
    {"smsp__thread_inst_executed.sum", 3200},
    {"gpu__time_duration.sum", 10},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", 5},
    {"smsp__sass_data_bytes_mem_global_op_ld.sum", 2048},
    {"TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 70},
    {"sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed", 30},
    {"dram__read_throughput.avg.pct_of_peak_sustained_elapsed", 20},
    {"pcie__read_bytes.sum", 2000},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 1},
};

std::size_t passes_of(const std::vector<std::string>& names) {
    const auto starting = [&](const char* with) {
        return static_cast<std::size_t>(
            std::count_if(names.begin(), names.end(),
                          [&](const std::string& name) { return name.starts_with(with); }));
    };
    const std::size_t sass = starting("smsp__sass_"), throughput = starting("sm__throughput");
    const std::size_t hardware = names.size() - sass - throughput;
    const auto room = static_cast<std::size_t>(number("MOCK_PER_PASS", 2));
    return (hardware + room - 1) / room + (sass > 0 ? 1 : 0) + 8 * throughput;
}

struct Launch {
    CUcontext context;
    double blocks;
};

std::mutex mutex;
bool pending = false;  ///< work that was not waited for
bool started = false;
bool pushed = false;  ///< a range is open
#if defined(MOCK_CUDA) && MOCK_CUDA < 1300
constexpr bool counts_in_pushed_ranges = true;
#else
constexpr bool counts_in_pushed_ranges = false;
#endif
CUpti_RangeProfiler_Object* enabled = nullptr;
std::vector<Launch> ranges;

}  // namespace

void count_kernel(CUcontext context, const char*, unsigned int blocks) {
    const std::lock_guard lock(mutex);
    pending = true;
    if (started && (pushed || !counts_in_pushed_ranges) && enabled != nullptr &&
        enabled->context == context) {
        ranges.push_back({context, static_cast<double>(blocks)});
    }
}

void note_synchronised() {
    const std::lock_guard lock(mutex);
    pending = false;
}

EXPORT_ALWAYS CUptiResult cuptiGetDeviceId(CUcontext context, std::uint32_t* device) {
    *device = reinterpret_cast<std::uintptr_t>(context) == 3 ? 1 : 0;
    return CUPTI_SUCCESS;
}

EXPORT_ALWAYS CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
    REQUIRE_SIZE(CUpti_Device_GetChipName_Params);
    params->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_Initialize_Params);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_DeviceSupported_Params);
    for (auto* level : {&params->architecture, &params->sli, &params->vGpu,
                        &params->confidentialCompute, &params->cmp, &params->wsl}) {
        *level = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    }
    params->isSupported = params->confidentialCompute =
        std::getenv("MOCK_UNSUPPORTED") != nullptr ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
                                                   : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_GetCounterAvailability_Params);
    if (const double code = number("MOCK_COUNTERS_ERROR", 0); code != 0) {
        return static_cast<CUptiResult>(static_cast<int>(code));
    }
    params->counterAvailabilityImageSize = 16;
    if (params->pCounterAvailabilityImage != nullptr) {
        std::memset(params->pCounterAvailabilityImage, 1, 16);
    }
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_Host_Initialize_Params);
    if (std::string("GH100") != params->pChipName || params->pCounterAvailabilityImage == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    params->pHostObject = new CUpti_Profiler_Host_Object;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_Host_Deinitialize_Params);
    delete params->pHostObject;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_Host_GetMetricProperties_Params);
    // As the real one, it also knows names without a rollup.
    const std::string name = params->pMetricName;
    const bool found = std::any_of(known.begin(), known.end(), [&](const auto& each) {
        return each.first == name || each.first.starts_with(name + ".");
    });
    return found ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

EXPORT CUptiResult
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    CUpti_Profiler_Host_Object& object = *params->pHostObject;
    for (std::size_t i = 0; i < params->numMetrics && object.usable; ++i) {
        object.usable = known.contains(params->ppMetricNames[i]);
        object.names.emplace_back(params->ppMetricNames[i]);
    }
    return object.usable ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

EXPORT CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_Host_GetConfigImageSize_Params);
    if (!params->pHostObject->usable) return CUPTI_ERROR_INVALID_OPERATION;
    params->configImageSize = 1;
    for (const std::string& name : params->pHostObject->names) {
        params->configImageSize += name.size() + 1;
    }
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_Host_GetConfigImage_Params);
    std::string image;
    for (const std::string& name : params->pHostObject->names) image += name + " ";
    if (image.size() >= params->configImageSize) return CUPTI_ERROR_INVALID_PARAMETER;
    std::memcpy(params->pConfigImage, image.c_str(), image.size() + 1);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_Host_GetNumOfPasses_Params);
    std::vector<std::string> names;
    std::string rest = reinterpret_cast<const char*>(params->pConfigImage);
    for (std::size_t space = rest.find(' '); space != std::string::npos; space = rest.find(' ')) {
        names.push_back(rest.substr(0, space));
        rest.erase(0, space + 1);
    }
    params->numOfPasses = passes_of(names);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
    REQUIRE_SIZE(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    double blocks = 0;
    std::memcpy(&blocks, params->pCounterDataImage, sizeof(blocks));
    const char* without = std::getenv("MOCK_NAN");
    for (std::size_t i = 0; i < params->numMetrics; ++i) {
        const std::string name = params->ppMetricNames[i];
        params->pMetricValues[i] = without != nullptr && name == without
                                       ? std::nan("")
                                       : known.at(name) * blocks * number("MOCK_COUNT_FACTOR", 1);
    }
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_Enable_Params);
    const std::lock_guard lock(mutex);
    if (const double code = number("MOCK_BUSY", 0); code != 0) {
        return static_cast<CUptiResult>(static_cast<int>(code));
    }
    if (enabled != nullptr || params->ctx == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
    enabled = params->pRangeProfilerObject = new CUpti_RangeProfiler_Object{params->ctx};
    ranges.clear();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_Disable_Params);
    const std::lock_guard lock(mutex);
    if (started || params->pRangeProfilerObject != enabled) return CUPTI_ERROR_INVALID_OPERATION;
    delete enabled;
    enabled = nullptr;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_GetCounterDataSize_Params);
    if (params->maxNumRangeTreeNodes < params->maxNumOfRanges) return CUPTI_ERROR_INVALID_PARAMETER;
    params->counterDataSize = 64;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_SetConfig_Params);
    const bool right = params->range == CUPTI_AutoRange && params->replayMode == CUPTI_UserReplay &&
                       params->passIndex == 0 && params->pConfig != nullptr;
    return right ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

EXPORT CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_Start_Params);
    const std::lock_guard lock(mutex);
    if (pending || started) return CUPTI_ERROR_INVALID_OPERATION;
    started = true;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_Stop_Params);
    const std::lock_guard lock(mutex);
    if (!started) return CUPTI_ERROR_INVALID_OPERATION;
    started = false;
    if (pending) return CUPTI_ERROR_INVALID_OPERATION;
    if (pushed) return CUPTI_ERROR_INVALID_OPERATION;
    params->isAllPassSubmitted = number("MOCK_ALL_PASSES", 1) != 0 ? 1 : 0;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_PushRange_Params);
    const std::lock_guard lock(mutex);
    if (!started || std::exchange(pushed, true)) return CUPTI_ERROR_INVALID_OPERATION;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_PopRange_Params);
    const std::lock_guard lock(mutex);
    return std::exchange(pushed, false) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

EXPORT CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_DecodeData_Params);
    params->numOfRangeDropped = 0;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
    REQUIRE_SIZE(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    const std::lock_guard lock(mutex);
    params->numTotalRanges =
        static_cast<std::size_t>(static_cast<double>(ranges.size()) + number("MOCK_RANGES", 0));
    if (!ranges.empty()) {
        auto* image = const_cast<std::uint8_t*>(params->pCounterDataImage);
        std::memcpy(image, &ranges.front().blocks, sizeof(double));
    }
    return CUPTI_SUCCESS;
}

// --- samples of the device, each with what one block counts. What does not fit into an image stays
// for the next one.

namespace {

/// What a counter data image holds.
struct Image {
    double blocks = 1;
    std::uint64_t start = 0, samples = 0, sample_ns = 0;
};

std::uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

Image image_of(const std::uint8_t* data) {
    Image image;
    std::memcpy(&image, data, sizeof(image));
    return image;
}

}  // namespace

EXPORT CUptiResult
cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_GetCounterAvailability_Params);
    if (const double code = number("MOCK_COUNTERS_ERROR", 0); code != 0) {
        return static_cast<CUptiResult>(static_cast<int>(code));
    }
    params->counterAvailabilityImageSize = 16;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_Enable_Params);
    if (const double code = number("MOCK_SAMPLING_BUSY", 0); code != 0) {
        return static_cast<CUptiResult>(static_cast<int>(code));
    }
    params->pPmSamplingObject = new CUpti_PmSampling_Object;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_Disable_Params);
    delete params->pPmSamplingObject;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_SetConfig_Params);
    const std::string names = reinterpret_cast<const char*>(params->pConfig);
    const auto counters = std::count(names.begin(), names.end(), ' ');
    if (static_cast<double>(counters) > number("MOCK_SAMPLED_AT_MOST", 100)) {
        return CUPTI_ERROR_NOT_SUPPORTED;
    }
    const bool by_timer = params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    if (by_timer && std::getenv("MOCK_NO_TIMER") != nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
    // Not that of the system clock.
    params->pPmSamplingObject->interval_ns = by_timer ? params->samplingInterval : 200'000;
    return params->hardwareBufferSize != 0 && params->samplingInterval != 0
               ? CUPTI_SUCCESS
               : CUPTI_ERROR_INVALID_PARAMETER;
}

EXPORT CUptiResult
cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_GetCounterDataSize_Params);
    params->counterDataSize = sizeof(Image);
    params->pPmSamplingObject->room = params->maxSamples;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_CounterDataImage_Initialize_Params);
    const Image empty;
    std::memcpy(params->pCounterData, &empty, sizeof(empty));
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_Start_Params);
    params->pPmSamplingObject->read_to = now();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_Stop_Params);
    CUpti_PmSampling_Object& own = *params->pPmSamplingObject;
    own.stopped = true;
    return own.read_to != 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

namespace {
std::atomic<std::uint64_t> samples_read{0};
}
EXPORT_ALWAYS std::uint64_t mock_samples_read() {
    return samples_read;
}

EXPORT CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_DecodeData_Params);
    CUpti_PmSampling_Object& own = *params->pPmSamplingObject;
    if (samples_read > 0 && std::getenv("MOCK_OVERFLOW") != nullptr) {
        params->overflow = 1;
        return CUPTI_ERROR_OUT_OF_MEMORY;
    }
    Image image;
    image.start = own.read_to;
    image.sample_ns = own.interval_ns;
    // Of an image that was not cleared nothing is read anew.
    if (image_of(params->pCounterDataImage).samples != 0) return CUPTI_ERROR_INVALID_OPERATION;
    const bool endless = own.stopped && std::getenv("MOCK_ENDLESS") != nullptr;
    const std::uint64_t come =
        endless ? std::uint64_t{own.room} : (now() - own.read_to) / image.sample_ns;
    image.samples = std::min<std::uint64_t>(come, own.room);
    own.read_to += image.samples * image.sample_ns;
    samples_read += image.samples;
    std::memcpy(params->pCounterDataImage, &image, sizeof(image));
    if (endless) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    params->decodeStopReason = come >= own.room
                                   ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                                   : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
    if (!std::exchange(own.decoded, true)) {
        const auto late_ms = static_cast<int>(number("MOCK_LATE_MS", 0));
        std::this_thread::sleep_for(std::chrono::milliseconds(late_ms));
    }
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_GetCounterDataInfo_Params);
    params->numCompletedSamples = image_of(params->pCounterDataImage).samples;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
    REQUIRE_SIZE(CUpti_PmSampling_CounterData_GetSampleInfo_Params);
    const Image image = image_of(params->pCounterDataImage);
    if (params->sampleIndex >= image.samples) return CUPTI_ERROR_INVALID_PARAMETER;
    params->startTimestamp = image.start + params->sampleIndex * image.sample_ns;
    params->endTimestamp = params->startTimestamp + image.sample_ns;
    // As the real one's, the first sample reaches back to the set-up.
    static std::atomic<bool> first{true};
    if (first.exchange(false)) params->startTimestamp -= 450'000'000;
    return CUPTI_SUCCESS;
}

}  // namespace perfgate::mock
