// SPDX-License-Identifier: Apache-2.0
#include "transfer/reference.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "common/inputs.hpp"
#include "common/tally.hpp"

namespace transfer {

void run_reference(const Problem& problem, const float* in, float* out) {
    for (std::size_t i = 0; i < problem.count(); ++i) {
        double x = static_cast<double>(in[i]);
        for (int step = 0; step < problem.steps; ++step) {
            x = static_cast<double>(kFactor) * x + static_cast<double>(kTerm);
        }
        out[i] = static_cast<float>(x);
    }
}

void fill_input(const Problem& problem, std::uint64_t seed, float* in) {
    constexpr std::size_t kPerTask = 1 << 16;
    const std::size_t count = problem.count();
    common::parallel_for((count + kPerTask - 1) / kPerTask, 0, [&](std::size_t task) {
        const std::size_t first = task * kPerTask;
        common::fill_host(in + first, common::Dtype::kF32, kInput, seed, first,
                          std::min(kPerTask, count - first));
    });
}

CheckReport check_result(const Problem& problem, std::uint64_t seed, const float* out) {
    constexpr double kFixedPoint = 0.5;
    constexpr double kGap = 1.0 - static_cast<double>(kFactor);
    const double kept = std::pow(static_cast<double>(kFactor), problem.steps);
    const double allowed = 0x1p-25 * std::min(1.0 * problem.steps, 1.0 / kGap) + 0x1p-24;
    const std::uint64_t key = common::stream_key(seed, kInput);

    constexpr std::size_t kPerTask = 1 << 16;  // elements; a finding's row, so that it fits an int
    const std::size_t count = problem.count();
    std::mutex mutex;
    common::Tally total;
    common::parallel_for((count + kPerTask - 1) / kPerTask, 0, [&](std::size_t task) {
        common::Tally tally;
        const std::size_t first = task * kPerTask;
        for (std::size_t i = first; i < std::min(first + kPerTask, count); ++i) {
            const double x = static_cast<double>(common::uniform(key, i));
            tally.element(static_cast<int>(task), static_cast<int>(i - first),
                          static_cast<double>(out[i]), kFixedPoint + kept * (x - kFixedPoint),
                          allowed);
        }
        const std::lock_guard lock(mutex);
        total.merge(tally);
    });
    const common::Finding& at = total.finding;
    if (at.found()) {
        const std::size_t index =
            static_cast<std::size_t>(at.row) * kPerTask + static_cast<std::size_t>(at.col);
        return {false,
                common::describe("x[%zu] is %.9g, expected %.9g within %.2g", index, at.got,
                                 at.expected, at.allowed),
                total.worst_share};
    }
    return {true,
            common::describe("all %zu elements, worst error %.2g of what is allowed", count,
                             total.worst_share),
            total.worst_share};
}

}  // namespace transfer
