// SPDX-License-Identifier: Apache-2.0
// The metric catalogue: friendly name to unit, direction, class, fold and the counters it comes
// from. The rows are data (catalogue.cpp); adding a metric is adding a row.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"
#include "model/run.hpp"

namespace perfgate::metrics {

/// Where a metric's values come from.
enum class Source {
    activity,       ///< time between kernel records (gpu_time)
    event,          ///< event pair (gpu_span)
    wall,           ///< host clock (host_time)
    kernel_record,  ///< launch facts: registers, shared memory
    counter,        ///< CUPTI counters
    preparation,    ///< host clock around what compiles and tunes a case (prepare_time)
    submission,     ///< host clock around the call that launches, without CUPTI (submit_time)
    reading,        ///< what a backend reads apart from times: Metric::reading
    ceiling,        ///< a device time, the stated work and the run's ceilings (ceiling_share)
    program,        ///< the recorded activity of a suite's `command`, or its wall time
    benchmark,      ///< what a suite's `benchmark` reports
};

/// `weight` times a counter. `names` are alternatives: the first that the chip has is used. If a
/// chip has none of them, the metric is unavailable there, unless the term is `optional`.
struct Term {
    double weight = 1;
    std::vector<std::string> names;
    bool optional = false;
};

struct Metric {
    model::MetricDefinition definition;
    Source source = Source::counter;
    /// "energy", "memory", "api": the source in measure/sources.cpp that fills it, for
    /// Source::reading.
    std::string reading = {};
    /// value = scale · Σ numerator / Σ denominator, or scale · Σ numerator if the denominator is
    /// empty. With Fold::ratio both sums are folded over the kernels before the division.
    std::vector<Term> numerator, denominator;
    double scale = 1;
    /// Globs of the chips whose hardware lacks it ("GB*"): there the metric is not applicable. A
    /// counter that is missing on any other chip is reported as not collected.
    std::vector<std::string> absent_on;
    /// Not in `full`: some cases or machines lack it, which is an error where a suite asks for it.
    bool by_name_only = false;
    /// For programs: it comes from bare runs, which not every batch has.
    bool from_bare_runs = false;
    /// Also of ranges and programs, from samples of the whole device over time.
    bool sampled = false;
    /// The launch fact of a kernel_record metric; NaN if the kernel's record lacks it.
    double (*record)(const model::Kernel&) = nullptr;
};

/// All named metrics, in the order that help texts list them.
std::span<const Metric> catalogue();

/// The row for a friendly name, or a row made for a raw counter name (which contains "__" and a
/// rollup after a '.'): no direction, class `counter`, a fold that follows from the rollup (".sum"
/// adds, ".max" is the largest, all others are weighted by time). Nothing for any other name.
std::optional<Metric> find_metric(std::string_view name);

/// Computed after the cases, if a suite asks for it (measure/ceiling_shares.hpp).
inline constexpr const char* ceiling_share = "ceiling_share";

inline constexpr const char* memory_peak = "memory_peak";  ///< also of programs

/// Names, for messages.
std::vector<std::string> metric_names();

/// Whether a chip has a counter.
using CounterExists = std::function<bool(const std::string& counter)>;

/// The metric as collected on one chip: each term has the one name that exists there, and optional
/// terms that do not exist are dropped. No remaining term is optional, so that a counter lost
/// during collection is noticed. Nothing if the chip lacks a term.
std::optional<Metric> on_chip(const Metric& metric, const CounterExists& exists);

/// Whether the chip's hardware lacks it (`absent_on`).
bool absent_on(const Metric& metric, std::string_view chip);

/// The counters of a metric's terms, first names only, as left by on_chip(); with the weight
/// counter if the fold needs it.
std::set<std::string> counters_of(const Metric& metric);

/// The counters to collect for `metrics` on a chip, and the metrics that are unavailable there.
/// Metrics whose source is not `counter` are ignored.
struct Selection {
    std::set<std::string> counters;
    std::vector<Metric> metrics;  ///< those that can be collected, by on_chip()
    std::vector<model::NotCollected> unavailable;
    std::vector<std::string> not_applicable;  ///< names; empty if `chip` is unknown
};
Selection select_counters(std::span<const Metric> metrics, const CounterExists& exists,
                          std::string_view chip = {});

/// The counter that weighs Fold::weighted_mean: always part of a selection with such a metric.
inline constexpr const char* weight_counter = "gpu__time_duration.sum";

/// The value of a counter metric for one kernel, or nothing if a counter is absent or the
/// denominator is 0 (for example, no requests).
std::optional<double> evaluate(const Metric& metric, const std::map<std::string, double>& counters);

/// The case's value from its kernels' counters, by the metric's fold. Nothing if there is no
/// kernel, or if one lacks a counter: a partial sum is not a value. A ratio with a denominator of 0
/// over all kernels is 0.
std::optional<double> fold_counters(const Metric& metric,
                                    std::span<const std::map<std::string, double>> kernels);

/// The case's value of a kernel_record metric: sum, max or mean weighted by duration over the
/// kernels. Nothing without kernels, or if one lacks the fact.
std::optional<double> fold_records(const Metric& metric, std::span<const model::Kernel> kernels);
/// Why it has no value.
std::string why_no_fact(const Metric& metric, std::span<const model::Kernel> kernels);

/// What a suite may ask for.
struct MetricSet {
    std::string name;
    std::string description;
    std::vector<std::string> metrics;
};
/// "time", "core", "full", "energy", for plugins' cases. Cases of programs have all metrics that
/// apply to them.
std::span<const MetricSet> metric_sets();

/// Of the source: "counter", or the name of the reading.
std::string_view source_text(const Metric& metric);

}  // namespace perfgate::metrics
