// SPDX-License-Identifier: Apache-2.0
// What the gate cannot detect: metrics whose baseline has no known spread, and tolerances below the
// minimum detectable change. Reported once per suite, not for every case.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gate/rule.hpp"
#include "model/metric.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

class Limits {
  public:
    /// Records a judgement of a case; `suite` is an index into the argument of note().
    void add(std::size_t suite, const std::string& id, const model::MetricDefinition& definition,
             const Judgement& judgement);

    /// Adds a line per metric and kind to each suite's notes.
    void note(std::vector<model::SuiteVerdict>& suites) const;

  private:
    struct OfMetric {
        std::size_t one_process = 0;  ///< cases whose baseline has no spread
        std::size_t finer = 0;  ///< cases whose tolerance is below the minimum detectable change
        double worst = 0;       ///< the coarsest of these
        std::string worst_id;
    };

    std::map<std::pair<std::size_t, std::string>, OfMetric> by_metric_;
};

}  // namespace perfgate::gate
