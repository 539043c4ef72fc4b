// SPDX-License-Identifier: Apache-2.0
#include "gate/boards.hpp"

#include <vector>

#include "gate/batch_rule.hpp"
#include "gate/significance.hpp"
#include "stats/quantiles.hpp"

namespace perfgate::gate {

std::map<std::string, std::size_t> boards_of(const model::MetricSeries& series) {
    std::map<std::string, std::size_t> boards;
    for (const model::Batch* batch : batches_in_use(series)) ++boards[batch->device];
    return boards;
}

model::MetricSeries series_of_board(const model::MetricSeries& series, const std::string& board) {
    model::MetricSeries result = series;
    std::erase_if(result.batches, [&](const model::Batch& batch) { return batch.device != board; });
    const std::vector<double> values = batch_values(result);
    if (!values.empty() && all_finite(values)) result.value = stats::median(values);
    return result;
}

}  // namespace perfgate::gate
