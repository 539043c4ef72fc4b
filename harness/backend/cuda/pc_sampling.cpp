// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/pc_sampling.hpp"

#include <chrono>
#include <string>

#include "backend/cuda/nvtx.hpp"
#include "cupti/pc_sampling.hpp"

namespace perfgate::backend::cuda {

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
