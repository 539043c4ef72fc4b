// SPDX-License-Identifier: Apache-2.0
#include "cupti/counters.hpp"

#include <string_view>

namespace perfgate::cupti {

std::vector<const char*> pointers(const std::vector<std::string>& names) {
    std::vector<const char*> all;
    all.reserve(names.size());
    for (const std::string& name : names) all.push_back(name.c_str());
    return all;
}

HostObject::HostObject(const Api& api, const std::string& chip,
                       const std::vector<std::uint8_t>& availability, CUpti_ProfilerType type)
    : api_(api) {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
    params.profilerType = type;
    params.pChipName = chip.c_str();
    params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    check(api_, api_.cuptiProfilerHostInitialize(&params),
          "cannot load the counters of chip \"" + chip + "\"");
    object_ = params.pHostObject;
}

HostObject::~HostObject() {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
    params.pHostObject = object_;
    api_.cuptiProfilerHostDeinitialize(&params);
}

CUptiResult HostObject::add(const std::vector<std::string>& names) const {
    std::vector<const char*> all = pointers(names);
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, params);
    params.pHostObject = object_;
    params.ppMetricNames = all.data();
    params.numMetrics = all.size();
    return api_.cuptiProfilerHostConfigAddMetrics(&params);
}

CUptiResult HostObject::properties(const std::string& name,
                                   CUpti_Profiler_Host_GetMetricProperties_Params& params) const {
    params = {};
    params.structSize = CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE;
    params.pHostObject = object_;
    params.pMetricName = name.c_str();
    return api_.cuptiProfilerHostGetMetricProperties(&params);
}

std::vector<std::uint8_t> HostObject::image() const {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = object_;
    check(api_, api_.cuptiProfilerHostGetConfigImageSize(&size),
          "cannot size the counter configuration");
    std::vector<std::uint8_t> image(size.configImageSize);
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);
    get.pHostObject = object_;
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    check(api_, api_.cuptiProfilerHostGetConfigImage(&get),
          "cannot build the counter configuration");
    return image;
}

std::size_t HostObject::passes(std::vector<std::uint8_t>& image) const {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, params);
    params.configImageSize = image.size();
    params.pConfigImage = image.data();
    check(api_, api_.cuptiProfilerHostGetNumOfPasses(&params), "cannot count the passes");
    return params.numOfPasses;
}

std::vector<double> HostObject::evaluate(std::span<const std::uint8_t> counter_data,
                                         std::size_t range,
                                         const std::vector<std::string>& names) const {
    std::vector<const char*> all = pointers(names);
    std::vector<double> values(names.size());
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
    params.pHostObject = object_;
    params.pCounterDataImage = counter_data.data();
    params.counterDataImageSize = counter_data.size();
    params.rangeIndex = range;
    params.ppMetricNames = all.data();
    params.numMetrics = all.size();
    params.pMetricValues = values.data();
    check(api_, api_.cuptiProfilerHostEvaluateToGpuValues(&params),
          "cannot evaluate range " + std::to_string(range) + " of the counter data");
    return values;
}

void require_counters(const Api& api, CUdevice device) {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
    params.cuDevice = device;
    params.api = CUPTI_PROFILER_RANGE_PROFILING;
    check(api, api.cuptiProfilerDeviceSupported(&params),
          "cannot ask whether the device has counters");
    if (params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return;

    const struct {
        CUpti_Profiler_Support_Level level;
        const char* text;
    } reasons[] = {
        {params.architecture, "its architecture is too old"},
        {params.sli, "SLI is on"},
        {params.vGpu, "it is a virtual GPU whose profiling is not enabled"},
        {params.confidentialCompute, "confidential computing is on"},
        {params.cmp, "it is a mining processor"},
        {params.wsl, "this WSL version has no counters"},
    };
    std::string why = "CUPTI does not support it";
    for (const auto& reason : reasons) {
        if (reason.level == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) continue;
        why = reason.text;
        break;
    }
    throw util::Error("the device's counters cannot be read: " + why);
}

std::vector<std::uint8_t> availability_of(const Api& api, CUcontext context) {
    constexpr std::string_view what = "cannot read which counters are available";
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
    params.ctx = context;
    check(api, api.cuptiProfilerGetCounterAvailability(&params), what);
    std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = image.data();
    check(api, api.cuptiProfilerGetCounterAvailability(&params), what);
    image.resize(params.counterAvailabilityImageSize);
    return image;
}

std::string chip_of(const Api& api, std::size_t device) {
    PERFGATE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
    params.deviceIndex = device;
    check(api, api.cuptiDeviceGetChipName(&params), "cannot read the chip's name");
    return params.pChipName;
}

RangeSession::RangeSession(const Api& api, CUcontext context) : api_(api) {
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
    params.ctx = context;
    check(api_, api_.cuptiRangeProfilerEnable(&params), "cannot enable counters");
    object_ = params.pRangeProfilerObject;
}

RangeSession::~RangeSession() {
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
    params.pRangeProfilerObject = object_;
    api_.cuptiRangeProfilerDisable(&params);
}

std::size_t RangeSession::data_bytes(const std::vector<std::string>& names,
                                     std::size_t ranges) const {
    std::vector<const char*> all = pointers(names);
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, params);
    params.pRangeProfilerObject = object_;
    params.pMetricNames = all.data();
    params.numMetrics = all.size();
    params.maxNumOfRanges = ranges;
    params.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
    check(api_, api_.cuptiRangeProfilerGetCounterDataSize(&params), "cannot size the counter data");
    return params.counterDataSize;
}

void RangeSession::configure(const std::vector<std::string>& names,
                             const std::vector<std::uint8_t>& configuration,
                             CUpti_ProfilerRange range, std::size_t ranges,
                             std::vector<std::uint8_t>& data) const {
    automatic_ = range == CUPTI_AutoRange;
    data.assign(data_bytes(names, ranges), 0);
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialise);
    initialise.pRangeProfilerObject = object_;
    initialise.pCounterData = data.data();
    initialise.counterDataSize = data.size();
    check(api_, api_.cuptiRangeProfilerCounterDataImageInitialize(&initialise),
          "cannot initialise the counter data");

    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
    set.pRangeProfilerObject = object_;
    set.pConfig = configuration.data();
    set.configSize = configuration.size();
    set.pCounterDataImage = data.data();
    set.counterDataImageSize = data.size();
    set.range = range;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = ranges;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    check(api_, api_.cuptiRangeProfilerSetConfig(&set), "cannot configure the counters");
}

void RangeSession::start() const {
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, params);
    params.pRangeProfilerObject = object_;
    check(api_, api_.cuptiRangeProfilerStart(&params), "cannot start a counter pass");
    if (!pushes()) return;
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
    push.pRangeProfilerObject = object_;
    push.pRangeName = "pass";
    check(api_, api_.cuptiRangeProfilerPushRange(&push), "cannot open a counter pass");
}

bool RangeSession::stop() const {
    if (pushes()) {
        PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
        pop.pRangeProfilerObject = object_;
        check(api_, api_.cuptiRangeProfilerPopRange(&pop), "cannot close a counter pass");
    }
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = object_;
    check(api_, api_.cuptiRangeProfilerStop(&params), "cannot end a counter pass");
    return params.isAllPassSubmitted != 0;
}

void RangeSession::stop_quietly() const noexcept {
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = object_;
    api_.cuptiRangeProfilerStop(&params);
}

RangeSession::Ranges RangeSession::decode(const std::vector<std::uint8_t>& data) const {
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = object_;
    check(api_, api_.cuptiRangeProfilerDecodeData(&decode), "cannot decode the counter data");
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = data.data();
    info.counterDataImageSize = data.size();
    check(api_, api_.cuptiRangeProfilerGetCounterDataInfo(&info), "cannot count the ranges");
    return {info.numTotalRanges, decode.numOfRangeDropped};
}

}  // namespace perfgate::cupti
