// SPDX-License-Identifier: Apache-2.0
// The PC sampling of the mock of CUPTI. Each kernel that runs while it is started has ten samples
// at its second instruction: seven wait for memory, which two reasons count, and three are issued.
//
// What was sampled before a module is loaded is put into the buffer of the configuration, in place
// of what was there: as the real one, which the client must read.
//
// Faults, by environment: MOCK_PC_ERROR (a CUptiResult of enabling), MOCK_PC_DROPPED (so many
// samples are said to be dropped), MOCK_PC_REMAINING (so many places never fit), MOCK_PC_FULL (the
// buffer of the hardware was full).
#include <cupti.h>
#include <cupti_pcsampling.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "mock_counters.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace perfgate::mock {
namespace {

constexpr const char* reasons[] = {"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
                                   "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
                                   "smsp__pcsamp_warps_issue_stalled_selected"};
constexpr std::uint32_t waiting = 0, issued = 2;

struct Sampling {
    std::mutex mutex;
    bool enabled = false, started = false;
    std::map<std::string, std::uint32_t> kernels;  ///< launches since the last flush
    CUpti_PCSamplingData* configured = nullptr;
};

Sampling& sampling() {
    static auto* instance = new Sampling;
    return *instance;
}

/// The caller holds the lock.
void flush(CUpti_PCSamplingData& to) {
    Sampling& own = sampling();
    to.totalNumPcs = to.totalSamples = 0;
    for (const auto& [name, launches] : own.kernels) {
        if (to.totalNumPcs == to.collectNumPcs) break;
        CUpti_PCSamplingPCData& place = to.pPcData[to.totalNumPcs++];
        place.pcOffset = 16;
        place.functionName = strdup(name.c_str());
        place.stallReason[0] = {waiting, 7 * launches};
        place.stallReason[1] = {issued, 3 * launches};
        place.stallReasonCount = 2;
        to.totalSamples += 10 * launches;
    }
    const auto fault = [](const char* variable) {
        const char* value = std::getenv(variable);
        return value == nullptr ? 0 : std::strtoul(value, nullptr, 10);
    };
    to.droppedSamples = to.totalNumPcs == 0 ? 0 : fault("MOCK_PC_DROPPED");
    to.totalSamples += to.droppedSamples;
    to.remainingNumPcs = &to == own.configured ? fault("MOCK_PC_REMAINING") : 0;
    to.hardwareBufferFull = static_cast<std::uint8_t>(fault("MOCK_PC_FULL"));
    own.kernels.clear();
}

}  // namespace

void sample_kernel(const char* name) {
    const std::lock_guard lock(sampling().mutex);
    if (sampling().started) ++sampling().kernels[name];
}

void put_samples_aside() {
    const std::lock_guard lock(sampling().mutex);
    if (sampling().configured != nullptr) flush(*sampling().configured);
}

EXPORT CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams* params) {
    if (const char* error = std::getenv("MOCK_PC_ERROR"); error != nullptr) {
        return static_cast<CUptiResult>(std::atoi(error));
    }
    if (params->size != CUpti_PCSamplingEnableParamsSize || params->ctx == nullptr) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    sampling().enabled = true;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams*) {
    const std::lock_guard lock(sampling().mutex);
    Sampling& own = sampling();
    if (own.configured != nullptr) flush(*own.configured);
    own.configured = nullptr;
    own.enabled = own.started = false;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPCSamplingStart(CUpti_PCSamplingStartParams*) {
    if (!sampling().enabled || sampling().configured == nullptr)
        return CUPTI_ERROR_INVALID_OPERATION;
    sampling().started = true;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPCSamplingStop(CUpti_PCSamplingStopParams*) {
    if (!sampling().started) return CUPTI_ERROR_INVALID_OPERATION;
    sampling().started = false;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams* params) {
    const std::lock_guard lock(sampling().mutex);
    flush(*static_cast<CUpti_PCSamplingData*>(params->pcSamplingData));
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams* params) {
    *params->numStallReasons = std::size(reasons);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams* params) {
    for (std::uint32_t i = 0; i < params->numStallReasons; ++i) {
        params->stallReasonIndex[i] = i;
        std::strncpy(params->stallReasons[i], reasons[i], CUPTI_STALL_REASON_STRING_SIZE);
    }
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams* params) {
    for (std::size_t i = 0; i < params->numAttributes; ++i) {
        const CUpti_PCSamplingConfigurationInfo& info = params->pPCSamplingConfigurationInfo[i];
        if (info.attributeType != CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER) {
            continue;
        }
        sampling().configured = static_cast<CUpti_PCSamplingData*>(
            info.attributeData.samplingDataBufferData.samplingDataBuffer);
    }
    return CUPTI_SUCCESS;
}

}  // namespace perfgate::mock
