// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/launch_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "model/error.hpp"

namespace perfgate::backend::cuda {

void require_records(std::span<const ObservedLaunch> launches, const LaunchActivity& launch) {
    const auto made =
        std::count_if(launches.begin(), launches.end(),
                      [](const ObservedLaunch& observed) { return !observed.captured; });
    const auto recorded = std::count_if(
        launch.records.begin(), launch.records.end(), [](const ActivityRecord& record) {
            return record.kind == ActivityKind::kernel && record.graph_node_id == 0;
        });
    if (recorded >= made) return;
    throw model::Error(fmt::format(
        "CUPTI recorded {} of the {} kernels that one launch of the case launches, so that "
        "gpu_time would be too short: launch them all from the thread that calls launch, or gate "
        "gpu_span with --no-cupti",
        recorded, made));
}

void require_equal_launches(std::span<const LaunchActivity> launches) {
    const auto [least, most] = std::minmax_element(
        launches.begin(), launches.end(), [](const LaunchActivity& one, const LaunchActivity& two) {
            return one.records.size() < two.records.size();
        });
    if (least == most || least->records.size() == most->records.size()) return;
    throw model::Error(fmt::format(
        "gpu_time: timed launches left between {} and {} records of kernels, copies and memsets. "
        "Either records were lost (measure again), or the variant does not do the same work in "
        "each launch (gate gpu_span with --no-cupti)",
        least->records.size(), most->records.size()));
}

std::size_t unattributed_records(const ActivityTrace& trace) {
    std::size_t found = 0;
    for (const LaunchActivity& launch : trace.launches) {
        if (launch.records.empty()) continue;
        const std::uint64_t begin = launch.records.front().start_ns;
        std::uint64_t end = begin;
        for (const ActivityRecord& record : launch.records) end = std::max(end, record.end_ns);
        found += static_cast<std::size_t>(std::count_if(
            trace.outside.begin(), trace.outside.end(), [&](const ActivityRecord& record) {
                return record.start_ns >= begin && record.start_ns < end;
            }));
    }
    return found;
}

}  // namespace perfgate::backend::cuda
