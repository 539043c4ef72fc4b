// SPDX-License-Identifier: Apache-2.0
// The waste workload: y = x. Its kinds waste energy, memory, API calls, the host's time, or the
// GPU's; only CUDA variants.
#include "perfgate.hpp"

namespace {

using namespace perfgate::sdk;

Plugin plugin() {
    Variant device{.name = "device", .help = "on the GPU", .target = Target::cuda};
    device.memory_bytes = [](const Values& values) {
        return 3 * sizeof(float) * static_cast<std::uint64_t>(values.integer("n"));
    };
    Workload workload;
    workload.name = "waste";
    workload.help = "a copy";
    workload.params = {
        Param::integer("n", "elements, a multiple of 4", 4, std::int64_t{1} << 40, "67108864")};
    workload.variants = {device};
    workload.work = [](const Values& values) {
        // An operation per element, which a copy does not have, so that there is an `efficiency`.
        const auto n = static_cast<double>(values.integer("n"));
        return Work{n, 8 * n, Arithmetic::f32};
    };
    return {.name = "waste", .cuda_module = PROBE_CUDA_MODULE, .workloads = {workload}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
