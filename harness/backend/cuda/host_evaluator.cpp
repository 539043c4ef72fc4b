// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/host_evaluator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "util/text.hpp"

namespace perfgate::backend::cuda {

namespace {

std::vector<std::string> copied(const char* const* texts, std::size_t count) {
    return texts != nullptr ? std::vector<std::string>(texts, texts + count)
                            : std::vector<std::string>{};
}

}  // namespace

// A bad name makes the object unusable, and a new object costs a few ms, so one object is used for
// all queries until then.
struct HostEvaluator::Probe {
    std::map<std::string, bool, std::less<>> known;
    std::unique_ptr<cupti::HostObject> object;
};

std::vector<std::string> supported_chips() {
    const cupti::Api& api = cupti::own_counters();
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params, params);
    check(api, cupti::own().cuptiProfilerHostGetSupportedChips(&params),
          "cannot list the chips that CUPTI knows");
    return copied(params.ppChipNames, params.numChips);
}

HostEvaluator::HostEvaluator(std::string chip, std::vector<std::uint8_t> availability)
    : chip_(std::move(chip)),
      availability_(std::move(availability)),
      object_(new_object()),
      probe_(std::make_shared<Probe>()) {}

std::unique_ptr<cupti::HostObject> HostEvaluator::new_object() const {
    return std::make_unique<cupti::HostObject>(cupti::own_counters(), chip_, availability_);
}

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
            probe_->object = new_object();
            exists = probe_->object->add({metric}) == CUPTI_SUCCESS;
        }
        if (!exists) probe_->object.reset();
    }
    probe_->known.emplace(metric, exists);
    return exists;
}

std::optional<MetricInfo> HostEvaluator::describe(const std::string& metric) const {
    CUpti_Profiler_Host_GetMetricProperties_Params params{};
    if (object_->properties(metric, params) != CUPTI_SUCCESS) return std::nullopt;
    const auto text = [](const char* value) { return value != nullptr ? value : ""; };
    return MetricInfo{.description = text(params.pDescription),
                      .unit = text(params.pDimUnit),
                      .kind = params.metricType};
}

std::vector<std::string> HostEvaluator::base_metrics(CUpti_MetricType kind) const {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params, params);
    params.pHostObject = object_->get();
    params.metricType = kind;
    check(cupti::own(), cupti::own().cuptiProfilerHostGetBaseMetrics(&params),
          fmt::format("cannot list the metrics of {}", chip_));
    return copied(params.ppMetricNames, params.numMetrics);
}

std::vector<std::vector<std::string>> HostEvaluator::groups(
    const std::vector<std::string>& metrics) const {
    // Usually all go together.
    if (new_object()->add(metrics) == CUPTI_SUCCESS) return {metrics};
    require(metrics);
    const auto object_with = [this](const std::vector<std::string>& group) {
        auto object = new_object();
        check(cupti::own(), object->add(group),
              fmt::format("cannot schedule {}", fmt::join(group, ", ")));
        return object;
    };
    std::vector<std::vector<std::string>> groups;
    std::vector<std::unique_ptr<cupti::HostObject>> objects;
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
        throw util::Error("{} has no metric {}", chip_, fmt::join(unknown, ", "));
    }
}

CounterConfig HostEvaluator::configure(const std::vector<std::string>& metrics) const {
    if (metrics.empty()) throw util::Error("no counter metric to configure");
    // CUPTI packs metrics into passes in the order in which they are added; adding those that need
    // several passes first results in fewer passes (GH100, full set: 20 instead of 21).
    std::vector<std::string> order = metrics;
    std::stable_partition(order.begin(), order.end(), [this](const std::string& metric) {
        const auto info = describe(metric);
        return info && info->kind == CUPTI_METRIC_TYPE_THROUGHPUT;
    });
    const std::unique_ptr<cupti::HostObject> object = new_object();
    if (const CUptiResult code = object->add(order); code != CUPTI_SUCCESS) {
        require(metrics);  // CUPTI does not report which name it refused
        throw cupti::Error(cupti::own(), code,
                           fmt::format("cannot schedule these metrics together on {}: {}", chip_,
                                       fmt::join(metrics, ", ")));
    }

    CounterConfig config{.metrics = metrics, .image = object->image(), .passes = 0};
    config.passes = object->passes(config.image);
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
    return object_->evaluate(counter_data, range, metrics);
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
        if (std::ranges::find(known, chip) == known.end()) {
            evaluators_.erase(chip);
            throw util::InputError("CUPTI knows no chip '{}'{}; it knows {}", chip,
                                   util::did_you_mean(chip, known), fmt::join(known, ", "));
        }
        evaluator = std::make_unique<HostEvaluator>(chip);
    }
    return *evaluator;
}

}  // namespace perfgate::backend::cuda
