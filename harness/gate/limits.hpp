// SPDX-License-Identifier: Apache-2.0
// What the gate cannot detect or show: metrics whose baseline has no known spread, tolerances that
// the spread hides, and times that may be beyond their tolerance. Reported once per suite, not for
// every case.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
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
        std::size_t not_shown = 0;  ///< cases not shown to be within the tolerance
        std::optional<model::ChangeInterval> widest;  ///< interval of these
        std::string widest_id;
    };

    std::map<std::pair<std::size_t, std::string>, OfMetric> by_metric_;
};

}  // namespace perfgate::gate
