// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>

#include "backend/cuda/nvtx.hpp"
#include "backend/cuda/readings.hpp"

namespace perfgate::backend::cuda {

measure::Reading read_api_calls(const ReadingContext& context) {
    measure::Reading reading;
    OpenDevice& device = context.device;
    if (!device.has_cupti()) {
        reading.problem = device.cupti_problem();
        return reading;
    }
    std::map<std::string, std::int64_t> by_name;
    guarded(device.context(), [&] {
        const NvtxRange range("api_calls");
        context.opened->enqueue_reset();
        device.context().synchronize();
        by_name = device.calls_made_by([&] { context.opened->enqueue_launch(); });
        device.context().synchronize();
    });
    reading.method.source = "callbacks";
    measure::Reading::Value& calls = reading.values["api_calls"];
    for (const auto& [name, count] : by_name) {
        calls.value += static_cast<double>(count);
        calls.detail += fmt::format("{}{} {}", calls.detail.empty() ? "" : ", ", name, count);
    }
    return reading;
}

}  // namespace perfgate::backend::cuda
