// SPDX-License-Identifier: Apache-2.0
#include "cupti/pc_sampling.hpp"

#include <algorithm>
#include <array>

namespace perfgate::cupti {
namespace {

constexpr std::size_t most_places = 20000;  ///< that one buffer holds
constexpr std::size_t hardware_buffer_bytes = std::size_t{512} << 20;
constexpr std::size_t scratch_buffer_bytes = std::size_t{64} << 20;

/// "long_scoreboard" of "smsp__pcsamp_warps_issue_stalled_long_scoreboard".
std::string reason_of(std::string_view name) {
    for (const std::string_view begin : {"smsp__pcsamp_warps_issue_stalled_", "smsp__pcsamp_"}) {
        if (!name.starts_with(begin)) continue;
        name.remove_prefix(begin.size());
        break;
    }
    return std::string(name);
}

/// True of a reason whose samples another reason has, too: those for which no warp was issued.
bool counts_twice(std::string_view name) {
    return name.ends_with("_not_issued");
}

}  // namespace

/// CUPTI fills it.
struct PcSampling::Buffer {
    explicit Buffer(std::size_t reasons) : stalls(most_places * reasons), places(most_places) {
        for (std::size_t i = 0; i < most_places; ++i) {
            places[i].size = sizeof(CUpti_PCSamplingPCData);
            places[i].stallReason = &stalls[i * reasons];
            places[i].stallReasonCount = reasons;
        }
        data.size = sizeof(CUpti_PCSamplingData);
        data.collectNumPcs = most_places;
        data.pPcData = places.data();
    }

    std::vector<CUpti_PCSamplingStallReason> stalls;
    std::vector<CUpti_PCSamplingPCData> places;
    CUpti_PCSamplingData data{};
};

template <class Params>
Params PcSampling::params(std::size_t size) const {
    Params made{};
    made.size = size;
    made.ctx = context_;
    return made;
}

PcSampling::PcSampling(const Api& api, CUcontext context, std::uint32_t period)
    : api_(api), context_(context) {
    require_pc_sampling(api_);
    PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, profiler);
    check(api_, api_.cuptiProfilerInitialize(&profiler), "cannot initialise the counters");
    auto enable = params<CUpti_PCSamplingEnableParams>(CUpti_PCSamplingEnableParamsSize);
    check(api_, api_.cuptiPCSamplingEnable(&enable), "cannot sample program counters");
    enabled_ = true;
    try {
        configure(period);
    } catch (...) {
        disable();
        throw;
    }
}

PcSampling::~PcSampling() {
    disable();
}

void PcSampling::start() {
    auto start = params<CUpti_PCSamplingStartParams>(CUpti_PCSamplingStartParamsSize);
    check(api_, api_.cuptiPCSamplingStart(&start), "cannot start to sample");
}

void PcSampling::stop(const Visit& visit) {
    auto stop = params<CUpti_PCSamplingStopParams>(CUpti_PCSamplingStopParamsSize);
    check(api_, api_.cuptiPCSamplingStop(&stop), "cannot stop to sample");
    constexpr int most_rounds = 1000;
    for (int round = 0; round < most_rounds; ++round) {
        auto get = params<CUpti_PCSamplingGetDataParams>(CUpti_PCSamplingGetDataParamsSize);
        get.pcSamplingData = &fetched_->data;
        check(api_, api_.cuptiPCSamplingGetData(&get), "cannot get the samples");
        const bool last = fetched_->data.remainingNumPcs == 0;
        take(*fetched_, visit);
        if (last) break;
    }
}

void PcSampling::take_put_aside(const Visit& visit) {
    take(*configured_, visit);
}

void PcSampling::finish(const Visit& visit) {
    disable();
    // There is no further call that gives the rest.
    overflowed_ = overflowed_ || configured_->data.remainingNumPcs != 0;
    take(*configured_, visit);
}

void PcSampling::configure(std::uint32_t period) {
    read_reasons();
    configured_ = std::make_unique<Buffer>(reasons_.size());
    fetched_ = std::make_unique<Buffer>(reasons_.size());
    std::array<CUpti_PCSamplingConfigurationInfo, 8> infos{};
    std::size_t used = 0;
    const auto next = [&](CUpti_PCSamplingConfigurationAttributeType type) -> auto& {
        infos.at(used).attributeType = type;
        return infos.at(used++).attributeData;
    };
    auto& reasons = next(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON).stallReasonData;
    reasons.stallReasonCount = reasons_.size();
    reasons.pStallReasonIndex = reasons_.data();
    next(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
        .samplingPeriodData.samplingPeriod = period;
    next(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE)
        .scratchBufferSizeData.scratchBufferSize = scratch_buffer_bytes;
    next(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
        .hardwareBufferSizeData.hardwareBufferSize = hardware_buffer_bytes;
    next(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
        .collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
    next(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL)
        .enableStartStopControlData.enableStartStopControl = 1;
    next(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT)
        .outputDataFormatData.outputDataFormat = CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED;
    next(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
        .samplingDataBufferData.samplingDataBuffer = &configured_->data;
    auto all = params<CUpti_PCSamplingConfigurationInfoParams>(
        CUpti_PCSamplingConfigurationInfoParamsSize);
    all.numAttributes = used;
    all.pPCSamplingConfigurationInfo = infos.data();
    check(api_, api_.cuptiPCSamplingSetConfigurationAttribute(&all),
          "cannot configure the sampling");
}

void PcSampling::read_reasons() {
    constexpr const char* asking = "cannot ask what warps wait for";
    std::size_t count = 0;
    auto number = params<CUpti_PCSamplingGetNumStallReasonsParams>(
        CUpti_PCSamplingGetNumStallReasonsParamsSize);
    number.numStallReasons = &count;
    check(api_, api_.cuptiPCSamplingGetNumStallReasons(&number), asking);
    std::vector<std::uint32_t> indices(count);
    std::vector<char> texts(count * CUPTI_STALL_REASON_STRING_SIZE);
    std::vector<char*> pointers(count);
    for (std::size_t i = 0; i < count; ++i) {
        pointers[i] = &texts[i * CUPTI_STALL_REASON_STRING_SIZE];
    }
    auto known =
        params<CUpti_PCSamplingGetStallReasonsParams>(CUpti_PCSamplingGetStallReasonsParamsSize);
    known.numStallReasons = count;
    known.stallReasonIndex = indices.data();
    known.stallReasons = pointers.data();
    check(api_, api_.cuptiPCSamplingGetStallReasons(&known), asking);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view name(pointers[i]);
        if (counts_twice(name)) continue;
        reasons_.push_back(indices[i]);
        names_[indices[i]] = reason_of(name);
    }
}

void PcSampling::take(Buffer& buffer, const Visit& visit) {
    all_ += static_cast<std::int64_t>(buffer.data.totalSamples);
    dropped_ += static_cast<std::int64_t>(buffer.data.droppedSamples);
    overflowed_ = overflowed_ || buffer.data.hardwareBufferFull != 0;
    const std::size_t count = std::min(buffer.data.totalNumPcs, most_places);
    for (std::size_t i = 0; i < count; ++i) {
        const CUpti_PCSamplingPCData& place = buffer.places[i];
        if (place.functionName == nullptr) continue;
        const std::size_t stalls = std::min(place.stallReasonCount, reasons_.size());
        for (std::size_t k = 0; k < stalls; ++k) {
            const CUpti_PCSamplingStallReason& stall = place.stallReason[k];
            const auto name = names_.find(stall.pcSamplingStallReasonIndex);
            if (stall.samples == 0 || name == names_.end()) continue;
            visit({place.functionName, place.pcOffset, name->second,
                   static_cast<std::int64_t>(stall.samples)});
        }
    }
    // What was taken must not be taken again.
    buffer.data.totalNumPcs = 0;
    buffer.data.totalSamples = buffer.data.droppedSamples = 0;
}

void PcSampling::disable() {
    if (!enabled_) return;
    enabled_ = false;
    auto disable = params<CUpti_PCSamplingDisableParams>(CUpti_PCSamplingDisableParamsSize);
    api_.cuptiPCSamplingDisable(&disable);
}

}  // namespace perfgate::cupti
