// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/range_profiler.hpp"

#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace perfgate::backend::cuda {
namespace {

// CUPTI may request more passes than it announced, but not without bound.
constexpr std::size_t extra_passes = 8;

void require_supported(CUdevice device) {
    CUpti_Profiler_DeviceSupported_Params params{};
    params.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
    params.cuDevice = device;
    params.api = CUPTI_PROFILER_RANGE_PROFILING;
    check(cuptiProfilerDeviceSupported(&params), "cannot ask whether the device has counters");
    if (params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return;

    struct Reason {
        CUpti_Profiler_Support_Level level;
        const char* text;
    };
    for (const Reason& reason : {
             Reason{params.architecture, "its architecture is too old"},
             Reason{params.sli, "SLI is on"},
             Reason{params.vGpu, "it is a virtual GPU whose profiling is not enabled"},
             Reason{params.confidentialCompute, "confidential computing is on"},
             Reason{params.cmp, "it is a mining processor"},
             Reason{params.wsl, "this WSL version has no counters"},
         }) {
        if (reason.level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
            throw util::Error(fmt::format("the device's counters cannot be read: {}", reason.text));
        }
    }
    throw util::Error("the device's counters cannot be read: CUPTI does not support it");
}

std::vector<std::uint8_t> read_availability(CUcontext context) {
    // The definitive test for permission: enabling a session succeeds even without it.
    constexpr const char* failure = "cannot read which counters are available";
    CUpti_Profiler_GetCounterAvailability_Params params{};
    params.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
    params.ctx = context;
    check(cuptiProfilerGetCounterAvailability(&params), failure);
    std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = image.data();
    check(cuptiProfilerGetCounterAvailability(&params), failure);
    image.resize(params.counterAvailabilityImageSize);
    return image;
}

// Device profiling is enabled during its lifetime.
class Enabled {
  public:
    explicit Enabled(CUcontext context) {
        CUpti_RangeProfiler_Enable_Params params{};
        params.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
        params.ctx = context;
        check(cuptiRangeProfilerEnable(&params), "cannot enable counters");
        object_ = params.pRangeProfilerObject;
    }
    ~Enabled() {
        CUpti_RangeProfiler_Disable_Params params{};
        params.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
        params.pRangeProfilerObject = object_;
        cuptiRangeProfilerDisable(&params);
    }
    Enabled(const Enabled&) = delete;
    Enabled& operator=(const Enabled&) = delete;

    [[nodiscard]] CUpti_RangeProfiler_Object* get() const { return object_; }

    [[nodiscard]] std::size_t counter_data_bytes(const std::vector<std::string>& metrics,
                                                 std::size_t ranges) const {
        std::vector<const char*> names;
        names.reserve(metrics.size());
        for (const std::string& metric : metrics) names.push_back(metric.c_str());
        CUpti_RangeProfiler_GetCounterDataSize_Params params{};
        params.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
        params.pRangeProfilerObject = object_;
        params.pMetricNames = names.data();
        params.numMetrics = names.size();
        params.maxNumOfRanges = ranges;
        params.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
        check(cuptiRangeProfilerGetCounterDataSize(&params), "cannot size the counter data");
        return params.counterDataSize;
    }

  private:
    CUpti_RangeProfiler_Object* object_ = nullptr;
};

}  // namespace

// One collection: the enabled profiler, its buffers (which must live until decoding is done) and
// the list of what was launched.
class RangeProfiler::Session final : public Pass {
  public:
    Session(RangeProfiler& owner, const Request& request, const CounterConfig& config)
        : owner_(owner), request_(request), config_(config), enabled_(owner.context_.get()) {
        image_.resize(enabled_.counter_data_bytes(request.metrics, request.max_ranges));
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params initialise{};
        initialise.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
        initialise.pRangeProfilerObject = enabled_.get();
        initialise.pCounterData = image_.data();
        initialise.counterDataSize = image_.size();
        check(cuptiRangeProfilerCounterDataImageInitialize(&initialise),
              "cannot initialise the counter data");

        CUpti_RangeProfiler_SetConfig_Params set{};
        set.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
        set.pRangeProfilerObject = enabled_.get();
        set.pConfig = config.image.data();
        set.configSize = config.image.size();
        set.pCounterDataImage = image_.data();
        set.counterDataImageSize = image_.size();
        set.range = request.mode == RangeMode::kernel ? CUPTI_AutoRange : CUPTI_UserRange;
        set.replayMode = CUPTI_UserReplay;
        set.maxRangesPerPass = request.max_ranges;
        set.numNestingLevels = 1;
        set.minNestingLevel = 1;
        set.passIndex = 0;
        set.targetNestingLevel = 1;
        check(cuptiRangeProfilerSetConfig(&set), "cannot configure the counters");
        owner_.subscriber_.on_launch(
            [this](const Subscriber::Launch& entered) { note(entered.context, entered.symbol); });
    }

    ~Session() override {
        try {
            owner_.subscriber_.on_launch({});
        } catch (const std::exception&) {
            // Unsubscribing later stops the callbacks too.
        }
    }

    CounterData run(const std::function<void(Pass&)>& work) {
        bool all_submitted = false;
        std::vector<Launch> first_pass;
        for (index_ = 0; !all_submitted; ++index_) {
            if (index_ > config_.passes + extra_passes) {
                throw util::Error(fmt::format(
                    "counters need more passes than the {} that CUPTI announced", config_.passes));
            }
            launches_.clear();
            start();
            try {
                work(*this);
                owner_.context_.synchronize();
            } catch (...) {
                stop_quietly();
                throw;
            }
            all_submitted = stop();
            if (index_ == 0) {
                first_pass = launches_;
            } else if (launches_ != first_pass) {
                throw util::Error(differing(first_pass));
            }
        }
        return decode();
    }

    void launch(std::size_t tag, const std::function<void()>& submit) override {
        if (request_.mode == RangeMode::kernel) {
            const std::lock_guard lock(mutex_);
            tag_ = tag;
        } else {
            const std::string name = std::to_string(tag);
            CUpti_RangeProfiler_PushRange_Params push{};
            push.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE;
            push.pRangeProfilerObject = enabled_.get();
            push.pRangeName = name.c_str();
            check(cuptiRangeProfilerPushRange(&push), "cannot open a counter range");
            launches_.push_back({tag, {}});
        }
        submit();
        if (request_.mode == RangeMode::kernel) {
            const std::lock_guard lock(mutex_);
            tag_.reset();
        } else {
            CUpti_RangeProfiler_PopRange_Params pop{};
            pop.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE;
            pop.pRangeProfilerObject = enabled_.get();
            check(cuptiRangeProfilerPopRange(&pop), "cannot close a counter range");
        }
    }

    [[nodiscard]] std::size_t index() const override { return index_; }

  private:
    struct Launch {
        std::optional<std::size_t> tag;
        std::string symbol;
        bool operator==(const Launch&) const = default;
    };

    // Called from the launch callback, perhaps on one of the workload's own threads.
    void note(CUcontext context, std::string_view symbol) {
        // Kernels of other contexts are not profiled and do not become ranges.
        if (request_.mode != RangeMode::kernel || context != owner_.context_.get()) return;
        const std::lock_guard lock(mutex_);
        launches_.push_back({tag_, std::string(symbol)});
    }

    void start() {
        CUpti_RangeProfiler_Start_Params params{};
        params.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
        params.pRangeProfilerObject = enabled_.get();
        check(cuptiRangeProfilerStart(&params), "cannot start a counter pass");
    }

    bool stop() {
        CUpti_RangeProfiler_Stop_Params params{};
        params.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
        params.pRangeProfilerObject = enabled_.get();
        check(cuptiRangeProfilerStop(&params), "cannot end a counter pass");
        return params.isAllPassSubmitted != 0;
    }

    void stop_quietly() {
        CUpti_RangeProfiler_Stop_Params params{};
        params.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
        params.pRangeProfilerObject = enabled_.get();
        cuptiRangeProfilerStop(&params);
    }

    std::string differing(const std::vector<Launch>& first) const {
        std::string text = fmt::format(
            "the kernels differ between counter passes: pass 0 launched {}, pass {} launched {}",
            first.size(), index_, launches_.size());
        for (std::size_t i = 0; i < std::min(first.size(), launches_.size()); ++i) {
            if (first[i] != launches_[i]) {
                text += fmt::format("; launch {} was {}, then {}", i, first[i].symbol,
                                    launches_[i].symbol);
                break;
            }
        }
        return text + "; a workload must do the same in each launch";
    }

    CounterData decode() {
        CUpti_RangeProfiler_DecodeData_Params params{};
        params.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
        params.pRangeProfilerObject = enabled_.get();
        check(cuptiRangeProfilerDecodeData(&params), "cannot decode the counter data");
        if (params.numOfRangeDropped != 0) {
            throw util::Error(
                fmt::format("{} counter ranges were dropped: {} launched, room for {}",
                            params.numOfRangeDropped, launches_.size(), request_.max_ranges));
        }
        CUpti_RangeProfiler_GetCounterDataInfo_Params info{};
        info.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE;
        info.pCounterDataImage = image_.data();
        info.counterDataImageSize = image_.size();
        check(cuptiRangeProfilerGetCounterDataInfo(&info), "cannot count the counter ranges");

        CounterData data;
        data.passes = index_;
        if (info.numTotalRanges != launches_.size()) {
            throw util::Error(
                fmt::format("{} counter ranges for {} launches: they cannot be matched",
                            info.numTotalRanges, launches_.size()));
        }
        const std::vector<std::size_t> range_of = range_of_launches();
        for (std::size_t i = 0; i < launches_.size(); ++i) {
            if (!launches_[i].tag) continue;
            data.ranges.push_back(
                {.tag = *launches_[i].tag,
                 .symbol = launches_[i].symbol,
                 .values = owner_.host().evaluate(image_, range_of[i], request_.metrics)});
        }
        return data;
    }

    // Which range belongs to launch i, by the range's name: the tag, or the launch's number.
    std::vector<std::size_t> range_of_launches() const {
        std::map<std::string, std::size_t> range_named;
        for (std::size_t range = 0; range < launches_.size(); ++range) {
            CUpti_RangeProfiler_CounterData_GetRangeInfo_Params info{};
            info.structSize = CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE;
            info.pCounterDataImage = image_.data();
            info.counterDataImageSize = image_.size();
            info.rangeIndex = range;
            info.rangeDelimiter = "/";
            check(cuptiRangeProfilerCounterDataGetRangeInfo(&info),
                  "cannot read a counter range's name");
            range_named[info.rangeName != nullptr ? info.rangeName : ""] = range;
        }
        std::vector<std::size_t> result;
        for (std::size_t i = 0; i < launches_.size(); ++i) {
            const std::size_t number =
                request_.mode == RangeMode::kernel ? i : launches_[i].tag.value_or(i);
            const auto found = range_named.find(std::to_string(number));
            if (found == range_named.end()) {
                throw util::Error(fmt::format("there is no counter range named {}", number));
            }
            result.push_back(found->second);
        }
        return result;
    }

    RangeProfiler& owner_;
    const Request& request_;
    const CounterConfig& config_;
    Enabled enabled_;
    std::vector<std::uint8_t> image_;
    std::size_t index_ = 0;
    std::mutex mutex_;
    std::optional<std::size_t> tag_;
    std::vector<Launch> launches_;
};

RangeProfiler::RangeProfiler(const PrimaryContext& context, int ordinal, Subscriber& subscriber)
    : context_(context), subscriber_(subscriber) {
    preload_metric_libraries();
    CUpti_Profiler_Initialize_Params params{};
    params.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    check(cuptiProfilerInitialize(&params), "cannot initialise the counters");
    require_supported(context.device());
    availability_ = read_availability(context.get());
    host_ = std::make_unique<HostEvaluator>(chip_name(ordinal), availability_);
}

RangeProfiler::~RangeProfiler() {
    CUpti_Profiler_DeInitialize_Params params{};
    params.structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE;
    cuptiProfilerDeInitialize(&params);
}

const CounterConfig& RangeProfiler::config(const std::vector<std::string>& metrics) {
    const auto known = configs_.find(metrics);
    if (known != configs_.end()) return known->second;
    return configs_.emplace(metrics, host_->configure(metrics)).first->second;
}

std::size_t RangeProfiler::bytes_per_range(const std::vector<std::string>& metrics) {
    const auto known = bytes_per_range_.find(metrics);
    if (known != bytes_per_range_.end()) return known->second;
    const Enabled enabled(context_.get());
    const std::size_t bytes =
        enabled.counter_data_bytes(metrics, 9) - enabled.counter_data_bytes(metrics, 1);
    return bytes_per_range_.emplace(metrics, bytes / 8).first->second;
}

CounterData RangeProfiler::collect(const Request& request, const std::function<void(Pass&)>& run) {
    if (request.max_ranges == 0) throw util::Error("a counter session needs room for a range");
    Session session(*this, request, config(request.metrics));
    return session.run(run);
}

std::string chip_name(int ordinal) {
    CUpti_Device_GetChipName_Params params{};
    params.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
    params.deviceIndex = static_cast<std::size_t>(ordinal);
    check(cuptiDeviceGetChipName(&params), "cannot read the chip's name");
    return params.pChipName;
}

}  // namespace perfgate::backend::cuda
