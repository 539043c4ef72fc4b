// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/host_evaluator.hpp"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "util/text.hpp"

namespace perfgate::backend::cuda {

namespace {

CUpti_MetricType to_cupti(MetricKind kind) {
    switch (kind) {
        case MetricKind::ratio:
            return CUPTI_METRIC_TYPE_RATIO;
        case MetricKind::throughput:
            return CUPTI_METRIC_TYPE_THROUGHPUT;
        case MetricKind::counter:
            break;
    }
    return CUPTI_METRIC_TYPE_COUNTER;
}

MetricKind from_cupti(CUpti_MetricType type) {
    switch (type) {
        case CUPTI_METRIC_TYPE_RATIO:
            return MetricKind::ratio;
        case CUPTI_METRIC_TYPE_THROUGHPUT:
            return MetricKind::throughput;
        default:
            return MetricKind::counter;
    }
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> result;
    result.reserve(texts.size());
    for (const std::string& text : texts) result.push_back(text.c_str());
    return result;
}

std::vector<std::string> copied(const char* const* texts, std::size_t count) {
    return texts != nullptr ? std::vector<std::string>(texts, texts + count)
                            : std::vector<std::string>{};
}

}  // namespace

// Owns one CUPTI host object. Adding a bad metric name makes the object unusable.
class HostEvaluator::Object {
  public:
    Object(const std::string& chip, const std::vector<std::uint8_t>& availability) {
        preload_metric_libraries();
        CUpti_Profiler_Host_Initialize_Params params{};
        params.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
        params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        params.pChipName = chip.c_str();
        params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
        check(cuptiProfilerHostInitialize(&params),
              fmt::format("cannot load the metrics of chip \"{}\"", chip));
        object_ = params.pHostObject;
    }
    ~Object() {
        CUpti_Profiler_Host_Deinitialize_Params params{};
        params.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
        params.pHostObject = object_;
        cuptiProfilerHostDeinitialize(&params);
    }
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    [[nodiscard]] CUptiResult add(const std::vector<std::string>& metrics) const {
        std::vector<const char*> names = pointers(metrics);
        CUpti_Profiler_Host_ConfigAddMetrics_Params params{};
        params.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
        params.pHostObject = object_;
        params.ppMetricNames = names.data();
        params.numMetrics = names.size();
        return cuptiProfilerHostConfigAddMetrics(&params);
    }

    [[nodiscard]] CUpti_Profiler_Host_Object* get() const { return object_; }

  private:
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

// A bad name makes the object unusable, and a new object costs a few ms, so one object is used for
// all queries until then.
struct HostEvaluator::Probe {
    std::map<std::string, bool, std::less<>> known;
    std::unique_ptr<Object> object;
};

std::vector<std::string> supported_chips() {
    preload_metric_libraries();
    CUpti_Profiler_Host_GetSupportedChips_Params params{};
    params.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE;
    check(cuptiProfilerHostGetSupportedChips(&params), "cannot list the chips that CUPTI knows");
    return copied(params.ppChipNames, params.numChips);
}

HostEvaluator::HostEvaluator(std::string chip, std::vector<std::uint8_t> availability)
    : chip_(std::move(chip)),
      availability_(std::move(availability)),
      object_(std::make_shared<Object>(chip_, availability_)),
      probe_(std::make_shared<Probe>()) {}

bool HostEvaluator::metric_exists(const std::string& metric) const {
    if (const auto found = probe_->known.find(metric); found != probe_->known.end()) {
        return found->second;
    }
    // The properties also accept a name without roll-up, which cannot be collected, so try to
    // schedule it. The cheap query comes first, for common misspellings.
    bool exists = false;
    if (describe(metric)) {
        exists = probe_->object && probe_->object->add({metric}) == CUPTI_SUCCESS;
        if (!exists) {
            // Alone: it may only not go together with those that were asked for before.
            probe_->object = std::make_unique<Object>(chip_, availability_);
            exists = probe_->object->add({metric}) == CUPTI_SUCCESS;
        }
        if (!exists) probe_->object.reset();
    }
    probe_->known.emplace(metric, exists);
    return exists;
}

std::optional<MetricInfo> HostEvaluator::describe(const std::string& metric) const {
    CUpti_Profiler_Host_GetMetricProperties_Params params{};
    params.structSize = CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE;
    params.pHostObject = object_->get();
    params.pMetricName = metric.c_str();
    if (cuptiProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS) return std::nullopt;
    const auto text = [](const char* value) { return value != nullptr ? value : ""; };
    return MetricInfo{.description = text(params.pDescription),
                      .unit = text(params.pDimUnit),
                      .kind = from_cupti(params.metricType)};
}

std::vector<std::string> HostEvaluator::base_metrics(MetricKind kind) const {
    CUpti_Profiler_Host_GetBaseMetrics_Params params{};
    params.structSize = CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE;
    params.pHostObject = object_->get();
    params.metricType = to_cupti(kind);
    check(cuptiProfilerHostGetBaseMetrics(&params),
          fmt::format("cannot list the metrics of {}", chip_));
    return copied(params.ppMetricNames, params.numMetrics);
}

std::vector<std::vector<std::string>> HostEvaluator::groups(
    const std::vector<std::string>& metrics) const {
    // Usually all go together.
    if (Object(chip_, availability_).add(metrics) == CUPTI_SUCCESS) return {metrics};
    require(metrics);
    const auto object_with = [this](const std::vector<std::string>& group) {
        auto object = std::make_unique<Object>(chip_, availability_);
        check(object->add(group), fmt::format("cannot schedule {}", fmt::join(group, ", ")));
        return object;
    };
    std::vector<std::vector<std::string>> groups;
    std::vector<std::unique_ptr<Object>> objects;
    for (const std::string& metric : metrics) {
        std::size_t i = 0;
        while (i < groups.size() && objects[i]->add({metric}) != CUPTI_SUCCESS) {
            objects[i] = object_with(groups[i]);  // a refused metric spoils it
            ++i;
        }
        if (i == groups.size()) {
            groups.emplace_back();
            objects.push_back(object_with({metric}));
        }
        groups[i].push_back(metric);
    }
    return groups;
}

void HostEvaluator::require(const std::vector<std::string>& metrics) const {
    std::vector<std::string> unknown;
    for (const std::string& metric : metrics) {
        if (!metric_exists(metric)) unknown.push_back(metric);
    }
    if (!unknown.empty()) {
        throw util::Error(fmt::format("{} has no metric {}", chip_, fmt::join(unknown, ", ")));
    }
}

CounterConfig HostEvaluator::configure(const std::vector<std::string>& metrics) const {
    if (metrics.empty()) throw util::Error("no counter metric to configure");
    // CUPTI packs metrics into passes in the order in which they are added; adding those that need
    // several passes first results in fewer passes (GH100, full set: 20 instead of 21).
    std::vector<std::string> order = metrics;
    std::stable_partition(order.begin(), order.end(), [this](const std::string& metric) {
        const auto info = describe(metric);
        return info && info->kind == MetricKind::throughput;
    });
    const Object object(chip_, availability_);
    if (const CUptiResult code = object.add(order); code != CUPTI_SUCCESS) {
        require(metrics);  // CUPTI does not report which name it refused
        throw CuptiError(code, fmt::format("cannot schedule these metrics together on {}: {}",
                                           chip_, fmt::join(metrics, ", ")));
    }

    CounterConfig config{.metrics = metrics, .image = {}, .passes = 0};
    CUpti_Profiler_Host_GetConfigImageSize_Params size{};
    size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
    size.pHostObject = object.get();
    check(cuptiProfilerHostGetConfigImageSize(&size), "cannot size the counter configuration");
    config.image.resize(size.configImageSize);

    CUpti_Profiler_Host_GetConfigImage_Params image{};
    image.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
    image.pHostObject = object.get();
    image.configImageSize = config.image.size();
    image.pConfigImage = config.image.data();
    check(cuptiProfilerHostGetConfigImage(&image), "cannot build the counter configuration");

    CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
    passes.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
    passes.configImageSize = config.image.size();
    passes.pConfigImage = config.image.data();
    check(cuptiProfilerHostGetNumOfPasses(&passes), "cannot count the passes");
    config.passes = passes.numOfPasses;
    return config;
}

std::size_t HostEvaluator::passes(const std::vector<std::string>& metrics) const {
    std::size_t passes = 0;
    for (const std::vector<std::string>& group : groups(metrics)) {
        passes += configure(group).passes;
    }
    return passes;
}

std::vector<double> HostEvaluator::evaluate(std::span<const std::uint8_t> counter_data,
                                            std::size_t range,
                                            const std::vector<std::string>& metrics) const {
    std::vector<const char*> names = pointers(metrics);
    std::vector<double> values(metrics.size());
    CUpti_Profiler_Host_EvaluateToGpuValues_Params params{};
    params.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
    params.pHostObject = object_->get();
    params.pCounterDataImage = counter_data.data();
    params.counterDataImageSize = counter_data.size();
    params.rangeIndex = range;
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    params.pMetricValues = values.data();
    check(cuptiProfilerHostEvaluateToGpuValues(&params),
          fmt::format("cannot evaluate range {} of the counter data", range));
    return values;
}

std::vector<std::string> HostCounterCatalogue::chips() {
    return supported_chips();
}

bool HostCounterCatalogue::exists(const std::string& chip, const std::string& counter) {
    return evaluator(chip).metric_exists(counter);
}

std::size_t HostCounterCatalogue::passes(const std::string& chip,
                                         const std::vector<std::string>& counters) {
    return counters.empty() ? 0 : evaluator(chip).passes(counters);
}

measure::CounterCatalogue::Description HostCounterCatalogue::describe(const std::string& chip,
                                                                      const std::string& counter) {
    const auto info = evaluator(chip).describe(counter);
    if (!info) return {};
    return {.text = info->description, .unit = info->unit};
}

HostEvaluator& HostCounterCatalogue::evaluator(const std::string& chip) {
    auto& evaluator = evaluators_[chip];
    if (!evaluator) {
        const std::vector<std::string> known = supported_chips();
        if (std::find(known.begin(), known.end(), chip) == known.end()) {
            evaluators_.erase(chip);
            throw util::InputError(fmt::format("CUPTI knows no chip '{}'{}; it knows {}", chip,
                                               util::did_you_mean(chip, known),
                                               fmt::join(known, ", ")));
        }
        evaluator = std::make_unique<HostEvaluator>(chip);
    }
    return *evaluator;
}

}  // namespace perfgate::backend::cuda
