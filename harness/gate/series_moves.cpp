// SPDX-License-Identifier: Apache-2.0
#include "gate/series_moves.hpp"

#include <algorithm>

namespace perfgate::gate {

model::MetricSeries moved(model::MetricSeries series, double estimate, double amount,
                          const std::string& metric) {
    // How much recording cost does not end at 100 %.
    const bool share = series.unit == "%" && metric != "tracing_overhead";
    const auto move = [&](double value) {
        double to = estimate > 0 ? value * (1 + amount / estimate) : value + amount;
        if (value >= 0) to = std::max(to, 0.0);
        if (share && value <= 100) to = std::min(to, 100.0);
        return to;
    };
    for (model::Batch& batch : series.batches) {
        for (double& sample : batch.samples) sample = move(sample);
    }
    series.value = move(series.value);
    return series;
}

}  // namespace perfgate::gate
