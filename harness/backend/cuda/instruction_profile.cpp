// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/instruction_profile.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "backend/cuda/nvtx.hpp"
#include "cupti/api.hpp"
#include "cupti/counters.hpp"
#include "cupti/pc_sampling.hpp"
#include "util/error.hpp"

namespace perfgate::backend::cuda {

namespace {

constexpr const char* executed_metric = "smsp__sass_inst_executed";
constexpr std::size_t most_records = 5'000'000;
constexpr std::uint64_t most_counted = std::uint64_t{1} << 40;  ///< of one instruction

/// What is launched on the context during its lifetime is counted.
class Counting {
  public:
    Counting(const cupti::Api& api, CUcontext context, int ordinal)
        : api_(api), context_(context), device_(static_cast<std::uint32_t>(ordinal)) {
        cupti::require_sass_counts(api_);
        PERFGATE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, profiler);
        check(api_, api_.cuptiProfilerInitialize(&profiler), "cannot initialise the counters");
        const std::string chip = cupti::chip_of(api_, static_cast<std::size_t>(ordinal));
        PERFGATE_CUPTI_PARAMS(CUpti_SassMetrics_GetProperties_Params, properties);
        properties.pChipName = chip.c_str();
        properties.pMetricName = executed_metric;
        check(api_, api_.cuptiSassMetricsGetProperties(&properties),
              "this chip does not count instructions");
        CUpti_SassMetrics_Config config{properties.metric.metricId,
                                        CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
        PERFGATE_CUPTI_PARAMS(CUpti_SassMetricsSetConfig_Params, set);
        set.numOfMetricConfig = 1;
        set.pConfigs = &config;
        set.deviceIndex = device_;
        check(api_, api_.cuptiSassMetricsSetConfig(&set),
              "cannot configure the counting of instructions");
        PERFGATE_CUPTI_PARAMS(CUpti_SassMetricsEnable_Params, enable);
        enable.ctx = context_;
        enable.enableLazyPatching = 1;  // the functions that are launched alone
        const CUptiResult enabled = api_.cuptiSassMetricsEnable(&enable);
        if (enabled == CUPTI_SUCCESS) return;
        forget();
        check(api_, enabled, "cannot count instructions");
    }
    ~Counting() {
        PERFGATE_CUPTI_PARAMS(CUpti_SassMetricsDisable_Params, disable);
        disable.ctx = context_;
        api_.cuptiSassMetricsDisable(&disable);
        forget();
    }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    /// The context is idle.
    InstructionCounts read() {
        constexpr const char* reading = "cannot read how often instructions were executed";
        PERFGATE_CUPTI_PARAMS(CUpti_SassMetricsGetDataProperties_Params, size);
        size.ctx = context_;
        check(api_, api_.cuptiSassMetricsGetDataProperties(&size), reading);
        const std::size_t records = size.numOfPatchedInstructionRecords,
                          instances = size.numOfInstances;
        if (records == 0 || instances == 0) throw util::Error("no instruction was counted");
        if (records > most_records / instances) {
            throw util::Error("{} × {} counts are too many", records, instances);
        }
        std::vector<CUpti_SassMetrics_InstanceValue> values(records * instances);
        std::vector<CUpti_SassMetrics_Data> data(records);
        for (std::size_t i = 0; i < records; ++i) {
            data[i].structSize = sizeof(CUpti_SassMetrics_Data);
            data[i].pInstanceValues = &values[i * instances];
        }
        PERFGATE_CUPTI_PARAMS(CUpti_SassMetricsFlushData_Params, flush);
        flush.ctx = context_;
        flush.numOfPatchedInstructionRecords = records;
        flush.numOfInstances = instances;
        flush.pMetricsData = data.data();
        check(api_, api_.cuptiSassMetricsFlushData(&flush), reading);
        InstructionCounts counts;
        for (std::size_t i = 0; i < records; ++i) {
            if (data[i].functionName == nullptr) continue;
            std::int64_t& count = counts[{data[i].functionName, data[i].pcOffset}];
            for (std::size_t k = 0; k < instances; ++k) {
                const std::uint64_t value = values[i * instances + k].value;
                count += static_cast<std::int64_t>(std::min(value, most_counted));
            }
            count = std::min(count, static_cast<std::int64_t>(most_counted));
        }
        return counts;
    }

  private:
    void forget() {
        PERFGATE_CUPTI_PARAMS(CUpti_SassMetricsUnsetConfig_Params, unset);
        unset.deviceIndex = device_;
        api_.cuptiSassMetricsUnsetConfig(&unset);
    }

    const cupti::Api& api_;
    CUcontext context_;
    std::uint32_t device_;
};

}  // namespace

InstructionCounts count_instructions(OpenDevice& device, CudaCase& opened, model::Cache cache) {
    InstructionCounts counts;
    guarded(device.context(), [&] {
        const NvtxRange range("executions");
        opened.prepare(cache);
        device.context().synchronize();
        Counting counting(cupti::own_counters(), device.context().get(), device.facts().ordinal);
        opened.enqueue_launch();
        device.context().synchronize();
        counts = counting.read();
    });
    return counts;
}

PcSamples sample_case(OpenDevice& device, CudaCase& opened, model::Cache cache) {
    constexpr std::int64_t fewest = 3, most = 200;
    constexpr std::chrono::milliseconds first_takes{40};
    constexpr std::uint32_t period = 11;
    PcSamples samples;
    std::int64_t launches = 0;
    guarded(device.context(), [&] {
        const NvtxRange range("samples");
        cupti::PcSampling sampling(cupti::own_counters(), device.context().get(), period);
        const auto add = [&](const cupti::PcSample& found, bool of_half) {
            model::Samples& at = samples.at[{std::string(found.function), found.offset}];
            at.reasons[std::string(found.reason)] += found.count;
            if (of_half) at.of_half += found.count;
        };
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
            sampling.stop([&](const cupti::PcSample& found) { add(found, of_half); });
        }
        sampling.finish([&](const cupti::PcSample& found) { add(found, false); });
        samples.all = sampling.all();
        samples.dropped = sampling.dropped();
    });
    samples.launches = launches;
    return samples;
}

}  // namespace perfgate::backend::cuda
