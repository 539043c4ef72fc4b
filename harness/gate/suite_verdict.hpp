// SPDX-License-Identifier: Apache-2.0
// Completes a suite's verdict once its metrics are judged: the verdict of each case, what all cases
// share, and the cases that only the baseline has. Suites that have a baseline of the run's device
// and were not given to the run: with the policy `complete`, their cases are missing, too.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gate/baseline_set.hpp"
#include "gate/rule.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// How a baseline is created or renewed.
inline constexpr const char* refresh_remedy = "'perfgate baseline refresh'";

/// Completes the verdict of a suite of the run; `stored` may be null. `said` has the notes about
/// the environment that earlier suites have, and gets this suite's.
void finish_suite(const model::Run& run, const model::SuiteResult& suite,
                  const StoredBaseline* stored, const model::ChangePolicy& policy,
                  std::set<std::string>& said, model::SuiteVerdict& verdict);

/// Whether the run is to have every suite: it measured to its end, and nothing was selected. A
/// shard is not; what `merge` makes of all shards is.
bool is_of_all_suites(const model::Run& run);

/// Whether the run, or another shard of it, was given the suite.
bool has_suite(const model::Run& run, const std::string& suite);

/// One verdict for each baseline of a suite that the run was not given.
std::vector<model::SuiteVerdict> missing_suites(const model::Run& run,
                                                const BaselineSet& baselines);

/// Names suites that could have been judged and were not; empty: there are none, or they are
/// judged, or only a part was to be measured and nobody asks for all.
std::string other_suites_note(const model::Run& run, const std::vector<std::string>& suites,
                              const model::Policy& policy);

/// What the gate cannot detect or show: metrics whose baseline has no known spread, tolerances that
/// the spread hides, and times that may be beyond their tolerance. Reported once per suite, not for
/// every case.
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
