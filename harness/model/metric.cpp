// SPDX-License-Identifier: Apache-2.0
#include "model/metric.hpp"

namespace perfgate::model {

bool comparable(const MetricSeries& left, const MetricSeries& right) {
    return left.unit == right.unit && left.method == right.method;
}

std::string_view to_text(Direction direction) {
    switch (direction) {
        case Direction::lower:
            return "lower";
        case Direction::higher:
            return "higher";
        case Direction::none:
            return "none";
    }
    return "unknown";
}

std::string_view to_text(MetricClass metric_class) {
    switch (metric_class) {
        case MetricClass::exact:
            return "exact";
        case MetricClass::counter:
            return "counter";
        case MetricClass::timing:
            return "timing";
    }
    return "unknown";
}

std::string_view to_text(Fold fold) {
    switch (fold) {
        case Fold::sum:
            return "sum";
        case Fold::max:
            return "max";
        case Fold::ratio:
            return "ratio";
        case Fold::weighted_mean:
            return "weighted_mean";
    }
    return "unknown";
}

std::vector<double> all_samples(const MetricSeries& series) {
    std::size_t count = 0;
    for (const Batch& batch : series.batches) count += batch.samples.size();
    std::vector<double> samples;
    samples.reserve(count);
    for (const Batch& batch : series.batches) {
        if (!batch.excluded.empty()) continue;
        samples.insert(samples.end(), batch.samples.begin(), batch.samples.end());
    }
    return samples;
}

}  // namespace perfgate::model
