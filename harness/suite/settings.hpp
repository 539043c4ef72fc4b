// SPDX-License-Identifier: Apache-2.0
// How cases are measured and gated. The same keys may be in `defaults`, in a workload entry and
// (except `cache` and `seed`) in an override: each place is a layer, and later layers take
// precedence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/catalogue.hpp"
#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"
#include "suite/keys.hpp"

namespace perfgate::suite {

/// The default if a suite does not set it.
inline constexpr double default_cross_board = 0.05;
inline constexpr double default_precision = 0.005;
inline constexpr double default_time_budget_s = 0.1;
inline constexpr std::uint64_t default_seed = 1;
inline constexpr std::string_view default_metric_set = "core";

inline constexpr std::string_view cross_board_help =
    "For timing metrics, on a board that the baseline does not have. If the baseline has one or "
    "two boards, it is added to the tolerance; if it has three or more, it is the most that is "
    "allowed for what they [differ by](../harness/gate/README.md#boards).";

/// The most metrics of a case, with sets expanded.
inline constexpr std::size_t most_metrics = 500;

/// One layer as it was written.
struct Settings {
    struct Metrics {
        std::vector<std::string> names;  ///< sets expanded, in order, no duplicates
        Position at;
    };
    struct ToleranceEntry {
        std::optional<model::Tolerance> tolerance;  ///< nothing: `none`, not gated here
        Position at;
    };

    struct Deterministic {
        bool value = false;
        Position at{};
    };

    std::optional<Metrics> metrics;
    /// Metrics that the suite itself defines (`values` of a benchmark).
    std::map<std::string, metrics::Metric> own;
    /// Metrics of a label of a program's kernels: launch facts, and the counters that the program
    /// names itself.
    std::vector<std::string> of_kernels;
    std::map<std::string, ToleranceEntry> tolerances;  ///< merged by metric over the layers
    std::optional<double> cross_board, precision, time_budget_s;
    std::optional<std::uint64_t> seed;
    std::optional<Deterministic> deterministic;
    std::optional<std::vector<model::Cache>> cache;
};

/// Whether cases of the target have the metric: host variants have only wall times.
bool applies(const metrics::Metric& metric, model::Target target);

/// `cold` or `hot`.
Sort<model::Cache> cache_state();

/// Those of tables::settings() that the map has.
Settings read_settings(const Fields& fields, Problems& problems);

/// One entry of `tolerances`, of a metric that the catalogue has. Nothing, and a problem, if it is
/// wrong.
std::optional<Settings::ToleranceEntry> read_tolerance_entry(const YamlNode::Entry& entry,
                                                             const metrics::Metric& metric,
                                                             Problems& problems);

/// The layers combined.
struct ResolvedSettings {
    std::vector<std::string> metrics;
    /// In the order of `metrics`.
    std::map<model::Target, std::vector<model::GateRule>> by_target = {
        {model::Target::host, {}}, {model::Target::cuda, {}}, {model::Target::program, {}}};
    double precision = default_precision;
    double time_budget_s = default_time_budget_s;
    std::uint64_t seed = default_seed;
    Settings::Deterministic deterministic;  ///< by default not

    /// Of `metrics`: counters and launch facts that a program's case does not have, because its
    /// label is not one of kernels or does not name them.
    std::set<std::string> not_of_programs;

    const std::vector<model::GateRule>& gates(model::Target target) const {
        return by_target.at(target);
    }
};

/// Compares the settings themselves; the gates are compared metric by metric.
std::vector<WeakerKey> weaker_keys(const ResolvedSettings& before, const ResolvedSettings& after);

/// Later layers take precedence; tolerances are merged by metric. A tolerance for a metric that is
/// not collected is a problem, reported at whichever of the two is in the later layer.
ResolvedSettings resolve(std::span<const Settings* const> layers, Problems& problems);

/// The metrics that cases collect, by the layers of their settings.
class CollectedMetrics {
  public:
    /// Accounts for resolving settings with this many metrics.
    using Spend = std::function<void(std::size_t metrics, Position at)>;

    CollectedMetrics(Problems& problems, Spend spend)
        : problems_(problems), spend_(std::move(spend)) {}

    /// `at`: of a case with these settings.
    const std::set<std::string>& of(std::vector<const Settings*> layers, Position at) {
        const auto [found, added] = by_layers_.try_emplace(std::move(layers));
        if (added) {
            const ResolvedSettings settings = resolve(found->first, problems_);
            spend_(settings.metrics.size(), at);
            found->second.insert(settings.metrics.begin(), settings.metrics.end());
        }
        return found->second;
    }

  private:
    Problems& problems_;
    Spend spend_;
    std::map<std::vector<const Settings*>, std::set<std::string>> by_layers_;
};

}  // namespace perfgate::suite
