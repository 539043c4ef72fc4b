// SPDX-License-Identifier: Apache-2.0
#include "inject/counter_groups.hpp"

#include <algorithm>

namespace perfgate::inject {
namespace {

std::vector<const char*> pointers(const std::vector<std::string>& names) {
    std::vector<const char*> all;
    all.reserve(names.size());
    for (const std::string& name : names) all.push_back(name.c_str());
    return all;
}

}  // namespace

/// Owns one host object of CUPTI. A refused counter makes it unusable.
class CounterHost::Object {
  public:
    explicit Object(const CounterHost& host) : api_(host.api_) {
        PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
        params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        params.pChipName = host.chip_.c_str();
        params.pCounterAvailabilityImage =
            host.availability_.empty() ? nullptr : host.availability_.data();
        check(api_, api_.cuptiProfilerHostInitialize(&params),
              "cannot load the counters of chip " + host.chip_);
        object_ = params.pHostObject;
    }
    ~Object() {
        PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
        params.pHostObject = object_;
        api_.cuptiProfilerHostDeinitialize(&params);
    }
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    [[nodiscard]] CUptiResult add(const std::vector<std::string>& group) const {
        std::vector<const char*> names = pointers(group);
        PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, params);
        params.pHostObject = object_;
        params.ppMetricNames = names.data();
        params.numMetrics = names.size();
        return api_.cuptiProfilerHostConfigAddMetrics(&params);
    }

    [[nodiscard]] std::vector<std::uint8_t> image() const {
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

    [[nodiscard]] CUpti_Profiler_Host_Object* get() const { return object_; }

  private:
    const CounterApi& api_;
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

CounterHost::CounterHost(const CounterApi& api, std::string chip,
                         std::vector<std::uint8_t> availability)
    : api_(api), chip_(std::move(chip)), availability_(std::move(availability)) {}

bool CounterHost::exists(const std::string& counter) const {
    const Object object(*this);
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
    params.pHostObject = object.get();
    params.pMetricName = counter.c_str();
    // Properties also exist of names without a rollup, which cannot be collected.
    return api_.cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS &&
           object.add({counter}) == CUPTI_SUCCESS;
}

std::size_t CounterHost::passes(const std::vector<std::string>& group) const {
    const Object object(*this);
    if (object.add(group) != CUPTI_SUCCESS) return 0;
    std::vector<std::uint8_t> image = object.image();
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, params);
    params.configImageSize = image.size();
    params.pConfigImage = image.data();
    check(api_, api_.cuptiProfilerHostGetNumOfPasses(&params), "cannot count the passes");
    return params.numOfPasses;
}

CounterGroups CounterHost::groups_of(const std::vector<std::vector<std::string>>& counters) const {
    CounterGroups found;
    for (const std::vector<std::string>& alternatives : counters) {
        const auto name = std::find_if(alternatives.begin(), alternatives.end(),
                                       [&](const std::string& each) { return exists(each); });
        if (name == alternatives.end()) {
            found.absent.insert(found.absent.end(), alternatives.begin(), alternatives.end());
            continue;
        }
        if (const std::size_t alone = passes({*name}); alone != 1) {
            found.several_passes.emplace_back(*name, alone);
            continue;
        }
        // Into the first group with room, so that the counters of a metric stay together.
        const auto room =
            std::find_if(found.groups.begin(), found.groups.end(), [&](const auto& group) {
                if (std::find(group.begin(), group.end(), *name) != group.end()) return true;
                std::vector<std::string> more = group;
                more.push_back(*name);
                return passes(more) == 1;
            });
        if (room == found.groups.end()) {
            found.groups.push_back({*name});
        } else if (std::find(room->begin(), room->end(), *name) == room->end()) {
            room->push_back(*name);
        }
    }
    return found;
}

std::vector<std::uint8_t> CounterHost::configuration(const std::vector<std::string>& group) const {
    const Object object(*this);
    check(api_, object.add(group), "cannot configure the counters");
    return object.image();
}

std::vector<double> CounterHost::evaluate(const std::vector<std::uint8_t>& counter_data,
                                          const std::vector<std::string>& group) const {
    const Object object(*this);
    std::vector<const char*> names = pointers(group);
    std::vector<double> values(group.size());
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
    params.pHostObject = object.get();
    params.pCounterDataImage = counter_data.data();
    params.counterDataImageSize = counter_data.size();
    params.rangeIndex = 0;
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    params.pMetricValues = values.data();
    check(api_, api_.cuptiProfilerHostEvaluateToGpuValues(&params), "cannot evaluate the counters");
    return values;
}

}  // namespace perfgate::inject
