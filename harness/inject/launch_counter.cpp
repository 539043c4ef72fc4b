// SPDX-License-Identifier: Apache-2.0
#include "inject/launch_counter.hpp"

#include <algorithm>

namespace perfgate::inject {

CounterHost::CounterHost(const cupti::Api& api, std::string chip,
                         std::vector<std::uint8_t> availability)
    : api_(api), chip_(std::move(chip)), availability_(std::move(availability)) {}

bool CounterHost::exists(const std::string& counter) const {
    const cupti::HostObject object(api_, chip_, availability_);
    CUpti_Profiler_Host_GetMetricProperties_Params params{};
    // Properties also exist of names without a rollup, which cannot be collected.
    return object.properties(counter, params) == CUPTI_SUCCESS &&
           object.add({counter}) == CUPTI_SUCCESS;
}

std::size_t CounterHost::passes(const std::vector<std::string>& group) const {
    const cupti::HostObject object(api_, chip_, availability_);
    if (object.add(group) != CUPTI_SUCCESS) return 0;
    std::vector<std::uint8_t> image = object.image();
    return object.passes(image);
}

CounterGroups CounterHost::groups_of(const std::vector<std::vector<std::string>>& counters) const {
    CounterGroups found;
    for (const std::vector<std::string>& alternatives : counters) {
        const auto name = std::ranges::find_if(
            alternatives, [&](const std::string& each) { return exists(each); });
        if (name == alternatives.end()) {
            found.absent.insert(found.absent.end(), alternatives.begin(), alternatives.end());
            continue;
        }
        if (const std::size_t alone = passes({*name}); alone != 1) {
            found.several_passes.emplace_back(*name, alone);
            continue;
        }
        // Into the first group with room, so that the counters of a metric stay together.
        const auto room = std::ranges::find_if(found.groups, [&](const auto& group) {
            if (std::ranges::find(group, *name) != group.end()) return true;
            std::vector<std::string> more = group;
            more.push_back(*name);
            return passes(more) == 1;
        });
        if (room == found.groups.end()) {
            found.groups.push_back({*name});
        } else if (std::ranges::find(*room, *name) == room->end()) {
            room->push_back(*name);
        }
    }
    return found;
}

std::vector<std::uint8_t> CounterHost::configuration(const std::vector<std::string>& group) const {
    const cupti::HostObject object(api_, chip_, availability_);
    check(api_, object.add(group), "cannot configure the counters");
    return object.image();
}

std::vector<double> CounterHost::evaluate(const std::vector<std::uint8_t>& counter_data,
                                          const std::vector<std::string>& group) const {
    const cupti::HostObject object(api_, chip_, availability_);
    return object.evaluate(counter_data, 0, group);
}

LaunchCounter::LaunchCounter(const cupti::Api& api, CUcontext context,
                             const std::vector<std::vector<std::string>>& counters,
                             std::uint32_t pass)
    : api_(api), context_(context) {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
    check(api_, api_.cuptiProfilerInitialize(&params), "cannot initialise the counters");
    std::uint32_t device = 0;
    check(api_, api_.cuptiGetDeviceId(context_, &device), "cannot find the device of the context");
    cupti::require_counters(api_, static_cast<CUdevice>(device));
    chip_ = cupti::chip_of(api_, device);
    host_.emplace(api_, chip_, cupti::availability_of(api_, context_));
    groups_ = host_->groups_of(counters);
    if (pass >= groups_.groups.size()) return;
    own_ = groups_.groups[pass];
    configuration_ = host_->configuration(own_);
}

LaunchCounter::~LaunchCounter() {
    give_up();
}

void LaunchCounter::start() {
    session_.emplace(api_, context_);
    try {
        // Room for a second range: it would be one too many, and must show.
        session_->configure(own_, configuration_, CUPTI_AutoRange, 2, image_);
        session_->start();
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

    started_ = false;
    if (!session_->stop()) {
        throw util::Error("the counters need another pass than the one that CUPTI announced");
    }
    const cupti::RangeSession::Ranges ranges = session_->decode(image_);
    if (ranges.total != 1 || ranges.dropped != 0) {
        throw util::Error("the device reported the counters of " +
                          std::to_string(ranges.total + ranges.dropped) +
                          " launches instead of one");
    }
    return host_->evaluate(image_, own_);
}

void LaunchCounter::give_up() noexcept {
    if (!session_) return;
    if (std::exchange(started_, false)) session_->stop_quietly();
    session_.reset();
}

}  // namespace perfgate::inject
