// SPDX-License-Identifier: Apache-2.0
#include "cupti/device_sampling.hpp"

#include <algorithm>

namespace perfgate::cupti {
namespace {

constexpr CUpti_ProfilerType sampling = CUPTI_PROFILER_TYPE_PM_SAMPLING;
/// For samples that were not read yet.
constexpr std::size_t buffer_bytes = std::size_t{256} << 20;
/// Making an image ready takes 11 µs for each sample that it has room for (seen on an H100).
constexpr std::uint32_t least_room = 64, most_room = 2048;
/// Where no timer can trigger samples (Turing, GA100), the system clock does; about its frequency.
constexpr std::uint64_t clocks_per_us = 1500;

std::vector<std::uint8_t> availability_of(const Api& api, std::size_t device) {
    constexpr const char* what = "cannot read which counters can be sampled";
    PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_GetCounterAvailability_Params, params);
    params.deviceIndex = device;
    check(api, api.cuptiPmSamplingGetCounterAvailability(&params), what);
    std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = image.data();
    check(api, api.cuptiPmSamplingGetCounterAvailability(&params), what);
    return image;
}

std::vector<std::string> without_empty(const std::vector<std::string>& names) {
    std::vector<std::string> all;
    std::ranges::copy_if(names, std::back_inserter(all),
                         [](const std::string& name) { return !name.empty(); });
    return all;
}

}  // namespace

std::vector<std::string> one_pass(const Api& api, const std::string& chip,
                                  const std::vector<std::uint8_t>& availability,
                                  const CounterRows& rows) {
    std::vector<std::string> chosen, together;
    for (const std::vector<std::string>& names : rows) {
        const auto fits = std::ranges::find_if(names, [&](const std::string& name) {
            // A refused name makes the object unusable.
            const HostObject object(api, chip, availability, sampling);
            std::vector<std::string> more = together;
            more.push_back(name);
            if (object.add(more) != CUPTI_SUCCESS) return false;
            std::vector<std::uint8_t> image = object.image();
            return object.passes(image) == 1;
        });
        chosen.push_back(fits == names.end() ? "" : *fits);
        if (fits != names.end()) together.push_back(*fits);
    }
    return chosen;
}

DeviceSampling::DeviceSampling(const Api& api, std::size_t device, const CounterRows& rows,
                               std::uint64_t interval_ns)
    : api_(api), interval_(interval_ns) {
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, initialise);
    check(api_, api_.cuptiProfilerInitialize(&initialise), "cannot initialise the counters");
    const std::string chip = chip_of(api_, device);
    const std::vector<std::uint8_t> availability = availability_of(api_, device);
    counters_ = one_pass(api_, chip, availability, rows);
    PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_Enable_Params, enable);
    enable.deviceIndex = device;
    check(api_, api_.cuptiPmSamplingEnable(&enable), "cannot enable the samples of the device");
    object_ = enable.pPmSamplingObject;
    try {
        // A driver may accept fewer counters than CUPTI announces.
        for (;;) {
            chosen_ = without_empty(counters_);
            if (chosen_.empty()) throw util::Error("CUPTI can sample nothing of chip " + chip);
            host_.emplace(api_, chip, availability, sampling);
            check(api_, host_->add(chosen_), "cannot configure the sampled counters");
            configuration_ = host_->image();
            try {
                configure();
                break;
            } catch (const Error& error) {
                if (error.no_permission() || chosen_.size() == 1) throw;
                *std::find(counters_.rbegin(), counters_.rend(), chosen_.back()) = "";
            }
        }
        make_room(least_room);
        PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_Start_Params, start);
        start.pPmSamplingObject = object_;
        check(api_, api_.cuptiPmSamplingStart(&start), "cannot start the samples of the device");
        running_ = true;
        read_ = std::chrono::steady_clock::now();
    } catch (...) {
        PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_Disable_Params, disable);
        disable.pPmSamplingObject = object_;
        api_.cuptiPmSamplingDisable(&disable);
        throw;
    }
}

DeviceSampling::~DeviceSampling() {
    PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_Stop_Params, stop);
    stop.pPmSamplingObject = object_;
    if (running_) api_.cuptiPmSamplingStop(&stop);
    PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_Disable_Params, disable);
    disable.pPmSamplingObject = object_;
    api_.cuptiPmSamplingDisable(&disable);
}

void DeviceSampling::configure() {
    const auto interval_ns = static_cast<std::uint64_t>(interval_.count());
    PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_SetConfig_Params, params);
    params.pPmSamplingObject = object_;
    params.pConfig = configuration_.data();
    params.configSize = configuration_.size();
    params.hardwareBufferSize = buffer_bytes;
    params.samplingInterval = interval_ns;
    params.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    params.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
    if (api_.cuptiPmSamplingSetConfig(&params) == CUPTI_SUCCESS) return;
    params.samplingInterval = interval_ns * clocks_per_us / 1000;
    params.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
    check(api_, api_.cuptiPmSamplingSetConfig(&params), "cannot configure the samples");
}

void DeviceSampling::make_room(std::uint32_t samples) {
    const std::vector<const char*> names = pointers(chosen_);
    PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataSize_Params, size);
    size.pPmSamplingObject = object_;
    size.pMetricNames = const_cast<const char**>(names.data());
    size.numMetrics = names.size();
    size.maxSamples = samples;
    check(api_, api_.cuptiPmSamplingGetCounterDataSize(&size), "cannot size the samples");
    data_.assign(size.counterDataSize, 0);
    room_ = samples;
    clear_data();
}

void DeviceSampling::clear_data() {
    PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, params);
    params.pPmSamplingObject = object_;
    params.counterDataSize = data_.size();
    params.pCounterData = data_.data();
    check(api_, api_.cuptiPmSamplingCounterDataImageInitialize(&params),
          "cannot initialise the samples");
}

DeviceSampling::Rest DeviceSampling::read(const Visit& visit,
                                          std::chrono::steady_clock::time_point until) {
    const auto now = std::chrono::steady_clock::now();
    const auto expected = static_cast<std::uint64_t>((now - read_) / interval_);
    read_ = now;
    // More come while these are decoded.
    const auto wanted = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(expected + expected / 2, least_room, most_room));
    if (wanted > room_ || wanted < room_ / 4) make_room(wanted);
    for (;;) {
        PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_DecodeData_Params, decode);
        decode.pPmSamplingObject = object_;
        decode.pCounterDataImage = data_.data();
        decode.counterDataImageSize = data_.size();
        const CUptiResult code = api_.cuptiPmSamplingDecodeData(&decode);
        if (code == CUPTI_ERROR_OUT_OF_MEMORY || decode.overflow != 0) return Rest::lost;
        check(api_, code, "cannot decode the samples");

        PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params, info);
        info.pCounterDataImage = data_.data();
        info.counterDataImageSize = data_.size();
        check(api_, api_.cuptiPmSamplingGetCounterDataInfo(&info), "cannot count the samples");
        for (std::size_t k = 0; k < info.numCompletedSamples; ++k) {
            PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params, sample);
            sample.pPmSamplingObject = object_;
            sample.pCounterDataImage = data_.data();
            sample.counterDataImageSize = data_.size();
            sample.sampleIndex = k;
            check(api_, api_.cuptiPmSamplingCounterDataGetSampleInfo(&sample),
                  "cannot read the time of a sample");
            visit(sample.startTimestamp, sample.endTimestamp, host_->evaluate(data_, k, chosen_));
        }
        if (info.numPopulatedSamples != 0 || info.numCompletedSamples != 0) clear_data();
        const bool full =
            decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
        if (!full || info.numCompletedSamples == 0) return Rest::none;
        if (std::chrono::steady_clock::now() >= until) return Rest::some;
    }
}

void DeviceSampling::stop() {
    PERFGATE_CUPTI_PARAMS(CUpti_PmSampling_Stop_Params, params);
    params.pPmSamplingObject = object_;
    running_ = false;
    check(api_, api_.cuptiPmSamplingStop(&params), "cannot stop the samples of the device");
}

}  // namespace perfgate::cupti
