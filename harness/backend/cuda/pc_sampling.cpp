// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/pc_sampling.hpp"

#include <cupti_pcsampling.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "backend/cuda/nvtx.hpp"
#include "cupti/api.hpp"
#include "util/error.hpp"

namespace perfgate::backend::cuda {
namespace {

constexpr std::size_t most_places = 20000;  ///< that one buffer holds
constexpr std::uint32_t period = 11;        ///< a sample of each SM every 2^11 cycles
constexpr std::size_t hardware_buffer_bytes = std::size_t{512} << 20;
constexpr std::size_t scratch_buffer_bytes = std::size_t{64} << 20;

// clang-format off
#define PERFGATE_CUPTI_SAMPLING_FUNCTIONS(X) \
    X(cuptiPCSamplingEnable) X(cuptiPCSamplingDisable) X(cuptiPCSamplingStart) \
    X(cuptiPCSamplingStop) X(cuptiPCSamplingGetData) X(cuptiPCSamplingGetNumStallReasons) \
    X(cuptiPCSamplingGetStallReasons) X(cuptiPCSamplingSetConfigurationAttribute)
// clang-format on

struct Functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name takes none
#define PERFGATE_CUPTI_DECLARE(name) decltype(&::name) name = nullptr;
    PERFGATE_CUPTI_SAMPLING_FUNCTIONS(PERFGATE_CUPTI_DECLARE)
#undef PERFGATE_CUPTI_DECLARE

    explicit Functions(const cupti::Api& api) {
#define PERFGATE_CUPTI_LOOK_UP(name) cupti::look_up(api, #name, name);
        PERFGATE_CUPTI_SAMPLING_FUNCTIONS(PERFGATE_CUPTI_LOOK_UP)
#undef PERFGATE_CUPTI_LOOK_UP
    }
};

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

/// CUPTI fills it.
struct Buffer {
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

/// Sampling is enabled on the context during its lifetime.
class Sampling {
  public:
    Sampling(const cupti::Api& api, CUcontext context)
        : api_(api), context_(context), functions_(api) {
        PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, profiler);
        check(api_, api_.cuptiProfilerInitialize(&profiler), "cannot initialise the counters");
        auto enable = params<CUpti_PCSamplingEnableParams>(CUpti_PCSamplingEnableParamsSize);
        check(api_, functions_.cuptiPCSamplingEnable(&enable), "cannot sample program counters");
        enabled_ = true;
        try {
            configure();
        } catch (...) {
            disable();
            throw;
        }
    }
    ~Sampling() { disable(); }
    Sampling(const Sampling&) = delete;
    Sampling& operator=(const Sampling&) = delete;

    /// CUPTI samples the launches between start() and stop(). The context is idle at both.
    void start() {
        auto start = params<CUpti_PCSamplingStartParams>(CUpti_PCSamplingStartParamsSize);
        check(api_, functions_.cuptiPCSamplingStart(&start), "cannot start to sample");
    }
    void stop(bool of_half) {
        auto stop = params<CUpti_PCSamplingStopParams>(CUpti_PCSamplingStopParamsSize);
        check(api_, functions_.cuptiPCSamplingStop(&stop), "cannot stop to sample");
        constexpr int most_rounds = 1000;
        for (int round = 0; round < most_rounds; ++round) {
            auto get = params<CUpti_PCSamplingGetDataParams>(CUpti_PCSamplingGetDataParamsSize);
            fetched_->data.totalNumPcs = 0;
            get.pcSamplingData = &fetched_->data;
            check(api_, functions_.cuptiPCSamplingGetData(&get), "cannot get the samples");
            take(*fetched_, of_half);
            if (fetched_->data.remainingNumPcs == 0) break;
        }
    }
    /// Ends it.
    PcSamples finish() {
        disable();
        take(*configured_, false);
        return std::move(samples_);
    }

  private:
    template <class Params>
    Params params(std::size_t size) const {
        Params made{};
        made.size = size;
        made.ctx = context_;
        return made;
    }

    void configure() {
        read_reasons();
        configured_ = std::make_unique<Buffer>(reasons_.size());
        fetched_ = std::make_unique<Buffer>(reasons_.size());
        std::array<CUpti_PCSamplingConfigurationInfo, 8> infos{};
        std::size_t used = 0;
        const auto next = [&](CUpti_PCSamplingConfigurationAttributeType type) -> auto& {
            infos.at(used).attributeType = type;
            return infos.at(used++).attributeData;
        };
        auto& reasons =
            next(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON).stallReasonData;
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
        check(api_, functions_.cuptiPCSamplingSetConfigurationAttribute(&all),
              "cannot configure the sampling");
    }

    void read_reasons() {
        constexpr const char* asking = "cannot ask what warps wait for";
        std::size_t count = 0;
        auto number = params<CUpti_PCSamplingGetNumStallReasonsParams>(
            CUpti_PCSamplingGetNumStallReasonsParamsSize);
        number.numStallReasons = &count;
        check(api_, functions_.cuptiPCSamplingGetNumStallReasons(&number), asking);
        std::vector<std::uint32_t> indices(count);
        std::vector<char> texts(count * CUPTI_STALL_REASON_STRING_SIZE);
        std::vector<char*> pointers(count);
        for (std::size_t i = 0; i < count; ++i) {
            pointers[i] = &texts[i * CUPTI_STALL_REASON_STRING_SIZE];
        }
        auto known = params<CUpti_PCSamplingGetStallReasonsParams>(
            CUpti_PCSamplingGetStallReasonsParamsSize);
        known.numStallReasons = count;
        known.stallReasonIndex = indices.data();
        known.stallReasons = pointers.data();
        check(api_, functions_.cuptiPCSamplingGetStallReasons(&known), asking);
        for (std::size_t i = 0; i < count; ++i) {
            const std::string_view name(pointers[i]);
            if (counts_twice(name)) continue;
            reasons_.push_back(indices[i]);
            names_[indices[i]] = reason_of(name);
        }
    }

    void take(const Buffer& buffer, bool of_half) {
        samples_.all += static_cast<std::int64_t>(buffer.data.totalSamples);
        samples_.dropped += static_cast<std::int64_t>(buffer.data.droppedSamples);
        const std::size_t count = std::min(buffer.data.totalNumPcs, most_places);
        for (std::size_t i = 0; i < count; ++i) {
            const CUpti_PCSamplingPCData& place = buffer.places[i];
            if (place.functionName == nullptr) continue;
            model::Samples found;
            const std::size_t stalls = std::min(place.stallReasonCount, reasons_.size());
            for (std::size_t k = 0; k < stalls; ++k) {
                const CUpti_PCSamplingStallReason& stall = place.stallReason[k];
                const auto name = names_.find(stall.pcSamplingStallReasonIndex);
                if (stall.samples == 0 || name == names_.end()) continue;
                found.reasons[name->second] += stall.samples;
            }
            if (of_half) found.of_half = found.all();
            samples_.at[{place.functionName, place.pcOffset}].add(found);
        }
    }

    void disable() {
        if (!enabled_) return;
        enabled_ = false;
        auto disable = params<CUpti_PCSamplingDisableParams>(CUpti_PCSamplingDisableParamsSize);
        functions_.cuptiPCSamplingDisable(&disable);
    }

    const cupti::Api& api_;
    CUcontext context_;
    Functions functions_;
    std::vector<std::uint32_t> reasons_;  ///< their numbers
    std::map<std::uint32_t, std::string> names_;
    std::unique_ptr<Buffer> configured_, fetched_;
    PcSamples samples_;
    bool enabled_ = false;
};

}  // namespace

PcSamples sample_case(OpenDevice& device, CudaCase& opened, model::Cache cache) {
    constexpr std::int64_t fewest = 3, most = 200;
    constexpr std::chrono::milliseconds first_takes{40};
    PcSamples samples;
    std::int64_t launches = 0;
    guarded(device.context(), [&] {
        const NvtxRange range("samples");
        Sampling sampling(cupti::own_counters(), device.context().get());
        std::int64_t in_each = most;
        // Halves of the same number of launches, with the same middle.
        for (const bool of_half : {true, false, false, true}) {
            sampling.start();
            const auto start = std::chrono::steady_clock::now();
            std::int64_t done = 0;
            while (done < in_each) {
                opened.prepare(cache);
                opened.enqueue_launch();
                device.context().synchronize();
                ++done;
                if (launches == 0 && done >= fewest &&
                    std::chrono::steady_clock::now() - start > first_takes) {
                    break;
                }
            }
            in_each = done;
            launches += done;
            sampling.stop(of_half);
        }
        samples = sampling.finish();
    });
    samples.launches = launches;
    return samples;
}

}  // namespace perfgate::backend::cuda
