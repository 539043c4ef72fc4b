// SPDX-License-Identifier: Apache-2.0
#include "inject/launch_counter.hpp"

namespace perfgate::inject {
namespace {

std::uint32_t device_of(const CounterApi& api, CUcontext context) {
    std::uint32_t device = 0;
    check(api, api.cuptiGetDeviceId(context, &device), "cannot find the device of the context");
    return device;
}

std::string chip_of(const CounterApi& api, std::uint32_t device) {
    PERFGATE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
    params.deviceIndex = device;
    check(api, api.cuptiDeviceGetChipName(&params), "cannot read the chip's name");
    return params.pChipName;
}

void require_supported(const CounterApi& api, std::uint32_t device) {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
    params.cuDevice = static_cast<CUdevice>(device);
    params.api = CUPTI_PROFILER_RANGE_PROFILING;
    check(api, api.cuptiProfilerDeviceSupported(&params),
          "cannot ask whether the device has counters");
    if (params.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
        throw NotCounted("the device's counters cannot be read: CUPTI does not support it");
    }
}

std::vector<std::uint8_t> availability_of(const CounterApi& api, CUcontext context) {
    // The definitive test for permission: enabling a session succeeds even without it.
    constexpr const char* what = "cannot read which counters are available";
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
    params.ctx = context;
    check(api, api.cuptiProfilerGetCounterAvailability(&params), what);
    std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = image.data();
    check(api, api.cuptiProfilerGetCounterAvailability(&params), what);
    image.resize(params.counterAvailabilityImageSize);
    return image;
}

}  // namespace

LaunchCounter::LaunchCounter(const CounterApi& api, CUcontext context,
                             const std::vector<std::vector<std::string>>& counters,
                             std::uint32_t pass)
    : api_(api), context_(context) {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
    check(api_, api_.cuptiProfilerInitialize(&params), "cannot initialise the counters");
    const std::uint32_t device = device_of(api_, context_);
    require_supported(api_, device);
    chip_ = chip_of(api_, device);
    host_.emplace(api_, chip_, availability_of(api_, context_));
    groups_ = host_->groups_of(counters);
    if (pass >= groups_.groups.size()) return;
    own_ = groups_.groups[pass];
    configuration_ = host_->configuration(own_);
}

LaunchCounter::~LaunchCounter() {
    give_up();
}

void LaunchCounter::start() {
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = context_;
    check(api_, api_.cuptiRangeProfilerEnable(&enable), "cannot enable counters");
    profiler_ = enable.pRangeProfilerObject;
    try {
        std::vector<const char*> names;
        names.reserve(own_.size());
        for (const std::string& name : own_) names.push_back(name.c_str());
        // Room for a second range: it would be one too many, and must show.
        PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
        size.pRangeProfilerObject = profiler_;
        size.pMetricNames = names.data();
        size.numMetrics = names.size();
        size.maxNumOfRanges = 2;
        size.maxNumRangeTreeNodes = 2;
        check(api_, api_.cuptiRangeProfilerGetCounterDataSize(&size),
              "cannot size the counter data");
        image_.assign(size.counterDataSize, 0);

        PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialise);
        initialise.pRangeProfilerObject = profiler_;
        initialise.pCounterData = image_.data();
        initialise.counterDataSize = image_.size();
        check(api_, api_.cuptiRangeProfilerCounterDataImageInitialize(&initialise),
              "cannot initialise the counter data");

        PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
        set.pRangeProfilerObject = profiler_;
        set.pConfig = configuration_.data();
        set.configSize = configuration_.size();
        set.pCounterDataImage = image_.data();
        set.counterDataImageSize = image_.size();
        set.range = CUPTI_AutoRange;
        set.replayMode = CUPTI_UserReplay;
        set.maxRangesPerPass = 2;
        set.numNestingLevels = 1;
        set.minNestingLevel = 1;
        set.passIndex = 0;
        set.targetNestingLevel = 1;
        check(api_, api_.cuptiRangeProfilerSetConfig(&set), "cannot configure the counters");

        PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, begin);
        begin.pRangeProfilerObject = profiler_;
        check(api_, api_.cuptiRangeProfilerStart(&begin), "cannot start the counters");
        started_ = true;
    } catch (...) {
        give_up();
        throw;
    }
}

std::vector<double> LaunchCounter::stop() {
    struct Closing {
        LaunchCounter& own;
        ~Closing() { own.give_up(); }
    } const closing{*this};

    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = profiler_;
    started_ = false;
    check(api_, api_.cuptiRangeProfilerStop(&stop), "cannot stop the counters");
    if (stop.isAllPassSubmitted == 0) {
        throw NotCounted("the counters need another pass than the one that CUPTI announced");
    }
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = profiler_;
    check(api_, api_.cuptiRangeProfilerDecodeData(&decode), "cannot decode the counter data");
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    check(api_, api_.cuptiRangeProfilerGetCounterDataInfo(&info), "cannot count the ranges");
    if (info.numTotalRanges != 1 || decode.numOfRangeDropped != 0) {
        throw NotCounted("the device reported the counters of " +
                         std::to_string(info.numTotalRanges + decode.numOfRangeDropped) +
                         " launches instead of one");
    }
    return host_->evaluate(image_, own_);
}

void LaunchCounter::give_up() noexcept {
    if (profiler_ == nullptr) return;
    if (started_) {
        PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
        stop.pRangeProfilerObject = profiler_;
        api_.cuptiRangeProfilerStop(&stop);
        started_ = false;
    }
    PERFGATE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
    params.pRangeProfilerObject = profiler_;
    api_.cuptiRangeProfilerDisable(&params);
    profiler_ = nullptr;
}

}  // namespace perfgate::inject
