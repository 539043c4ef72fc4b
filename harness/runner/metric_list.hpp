// SPDX-License-Identifier: Apache-2.0
// What `list --metrics` lists: metrics with the counters and passes that a chip needs for them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "metrics/catalogue.hpp"

namespace perfgate::measure {
class CounterCatalogue;
}

namespace perfgate::runner {

struct ListedMetric {
    metrics::Metric metric;
    std::vector<std::string> counters;
    std::size_t passes = 0;   ///< of the metric alone
    std::string unavailable;  ///< why the chip does not have it; empty: it does
};

struct ListedSet {
    const metrics::MetricSet* set = nullptr;
    std::size_t passes = 0;
};

struct MetricList {
    std::string chip;
    bool chip_known = false;  ///< false without CUPTI: counters and passes are unknown
    std::vector<ListedMetric> metrics;
    std::vector<ListedSet> sets;
};

/// The metrics with these names (raw CUPTI names included), or the whole catalogue. Throws
/// InputError for an unknown metric or chip.
MetricList list_metrics(const std::vector<std::string>& names, const std::string& chip);
/// The same with the data of `chips`; null: nothing is known about any chip.
MetricList list_metrics(const std::vector<std::string>& names, const std::string& chip,
                        measure::CounterCatalogue* chips);

/// Schema perfgate.metrics.
std::string write_json(const MetricList& list);

}  // namespace perfgate::runner
