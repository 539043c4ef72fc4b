// SPDX-License-Identifier: Apache-2.0
#include "baseline/pooling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/case_verdict.hpp"
#include "gate/significance.hpp"
#include "model/case.hpp"
#include "model/kernel_name.hpp"
#include "stats/drift.hpp"
#include "stats/quantiles.hpp"
#include "stats/spread.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

using model::CaseResult;
using model::CaseStatus;
using model::MetricSeries;
using model::Run;

/// The first round of a run, as the gate gets it.
constexpr std::size_t first_processes = 5;

void require_equal(std::string_view what, const std::string& first, const std::string& other) {
    if (first == other) return;
    throw util::InputError(
        "the runs cannot become one baseline: {} is '{}' in the first and '{}' in another", what,
        util::printable(first), util::printable(other));
}

/// The cases of a run, by suite and id.
std::string names_of_cases(const Run& run) {
    std::string names;
    for (const model::SuiteResult& suite : run.suites) {
        for (const CaseResult& result : suite.cases) {
            names += fmt::format("{} {}, ", suite.name, model::case_id(result.spec));
        }
    }
    return names;
}

void require_alike(const Run& first, const Run& other) {
    const model::Environment& then = first.environment;
    const model::Environment& now = other.environment;
    require_equal("device.key", then.device.key, now.device.key);
    require_equal("driver", then.driver, now.driver);
    require_equal("cuda_toolkit", then.cuda_toolkit, now.cuda_toolkit);
    require_equal("cupti", then.cupti, now.cupti);
    require_equal("tool_version", first.tool_version, other.tool_version);
    require_equal("git_revision", first.git_revision, other.git_revision);
    if (names_of_cases(first) != names_of_cases(other)) {
        throw util::InputError(
            "the runs cannot become one baseline: they are not of the same cases");
    }
    for (const model::CaseIndex& at : model::all_cases(first)) {
        const CaseResult &one = model::case_at(first, at), &another = model::case_at(other, at);
        // A case that a run did not measure is refused later.
        if (one.status != CaseStatus::measured || another.status != CaseStatus::measured) continue;
        require_equal("the board of " + model::case_id(one.spec), model::board_of(first, one),
                      model::board_of(other, another));
    }
}

void add_batches(const MetricSeries& from, std::int64_t run, MetricSeries& to) {
    auto process = static_cast<std::int64_t>(to.batches.size());
    for (const model::Batch& batch : from.batches) {
        to.batches.push_back(batch);
        to.batches.back().process = process++;
        to.batches.back().run = run;
        if (batch.detail.empty() && from.detail != to.detail) {
            to.batches.back().detail = from.detail;
        }
    }
}

/// What shows that the runs measured something else; empty: nothing does. Programs may launch other
/// kernels in each run; one of the same name with other code was compiled anew. Host code that is
/// built twice may differ in bytes: it is other code only if the revision does not tell.
std::string other_measurement(const CaseResult& then, const CaseResult& now, bool revision_tells) {
    const auto differ = [](const std::string& one, const std::string& other) {
        return !one.empty() && !other.empty() && one != other;
    };
    if (then.command != now.command) return "its command";
    if (then.env != now.env) return "the environment that the suite sets";
    if (std::string difference = model::difference(then.measured_as, now.measured_as);
        !difference.empty()) {
        return difference;
    }
    const bool on_host = then.kernels.empty() && now.kernels.empty();
    if (on_host && !revision_tells && differ(then.host_code, now.host_code)) return "its host code";
    if (then.kernels.size() != now.kernels.size()) return {};
    for (std::size_t i = 0; i < now.kernels.size(); ++i) {
        const model::Kernel& kernel = now.kernels[i];
        if (then.kernels[i].name == kernel.name && differ(then.kernels[i].code, kernel.code)) {
            return "the code of " + util::printable(kernel.name);
        }
    }
    return {};
}

void require_same_measurement(const CaseResult& then, const CaseResult& now, bool revision_tells) {
    const std::string differs = other_measurement(then, now, revision_tells);
    if (differs.empty()) return;
    throw util::InputError(
        "the runs cannot become one baseline: they did not measure the same: {}: {} differs",
        util::printable(model::case_id(then.spec)), differs);
}

/// Code that differs between the runs counts as not known.
void keep_common_code(const CaseResult& from, CaseResult& to) {
    if (from.host_code != to.host_code) to.host_code.clear();
    if (from.libraries != to.libraries) to.libraries.reset();
    if (from.memory_operations != to.memory_operations) to.memory_operations.reset();
    for (std::size_t i = 0; i < to.kernels.size(); ++i) {
        model::Kernel& kernel = to.kernels[i];
        const bool other = from.kernels.size() != to.kernels.size();
        if (other || from.kernels[i].code != kernel.code) kernel.code.clear();
        if (!other) model::mask_arguments(from.kernels[i], kernel);
        if (other || !model::same_arguments(from.kernels[i], kernel)) {
            kernel.arguments.clear();
            kernel.argument_words.clear();
        }
    }
}

/// Adds the other run's values of the case to the first's.
void add_case(const CaseResult& from, std::int64_t run, bool revision_tells, CaseResult& to) {
    if (to.status != CaseStatus::measured) return;
    if (from.status != CaseStatus::measured || !from.not_collected.empty()) {
        to.status = from.status;
        to.reason = from.reason;
        to.not_collected = from.not_collected;
        return;
    }
    require_same_measurement(to, from, revision_tells);
    keep_common_code(from, to);
    for (auto& [metric, series] : to.metrics) {
        const auto found = from.metrics.find(metric);
        if (found == from.metrics.end() || !comparable(found->second, series)) {
            to.not_collected.push_back({metric, "not all of the runs have it by one method"});
            continue;
        }
        add_batches(found->second, run, series);
    }
}

/// Rounded up to two digits, as people write tolerances.
double written(double fraction) {
    if (!(fraction > 0)) return 0;
    const double unit = std::pow(10.0, std::floor(std::log10(fraction)) - 1);
    return std::ceil(fraction / unit - 1e-9) * unit;
}

bool in_points(const model::MetricDefinition& definition) {
    return definition.unit == "%";
}

/// What a fraction of the baseline is multiplied by to be written as a tolerance.
double tolerance_scale(const model::MetricDefinition& definition, const MetricSeries& baseline) {
    return in_points(definition) ? std::fabs(gate::estimate_of(baseline)) : 1;
}

/// A gated metric of a case, as if the first processes of its baseline were a run. A time is
/// compared as the gate will compare it on the board that was measured.
struct PooledMetric {
    std::string id;
    gate::Comparison comparison;  ///< without the run
    MetricSeries run;

    gate::Comparison against(const MetricSeries& measured) const {
        gate::Comparison whole = comparison;
        whole.measured = &measured;
        return whole;
    }
    gate::Comparison without_tolerance(const MetricSeries& measured) const {
        gate::Comparison finest = against(measured);
        finest.tolerance = {};
        finest.leeway = 0;
        return finest;
    }
    const std::string& metric() const { return comparison.definition->name; }
};

/// The comparisons point to the baseline and to `parts` of it.
std::vector<PooledMetric> pooled_metrics(const Run& run, const model::SuiteResult& suite,
                                         const model::Baseline& baseline,
                                         std::deque<MetricSeries>& parts) {
    std::vector<PooledMetric> all;
    for (const CaseResult& result : suite.cases) {
        std::string id = model::case_id(result.spec);
        const auto expected = baseline.cases.find(id);
        if (expected == baseline.cases.end() || result.status != CaseStatus::measured) continue;
        for (const model::GateRule& gate : result.gates) {
            const auto series = expected->second.metrics.find(gate.metric);
            const auto definition = run.metric_definitions.find(gate.metric);
            if (series == expected->second.metrics.end() ||
                definition == run.metric_definitions.end()) {
                continue;
            }
            PooledMetric pooled{
                id, {&definition->second, &series->second, nullptr, gate.tolerance}, {}};
            gate::consider_boards(run, result, expected->second, gate.cross_board, parts,
                                  pooled.comparison);
            pooled.run = *pooled.comparison.baseline;
            // A run collects counters once.
            const std::size_t processes =
                definition->second.metric_class == model::MetricClass::timing ? first_processes : 1;
            if (pooled.run.batches.size() > processes) pooled.run.batches.resize(processes);
            for (model::Batch& batch : pooled.run.batches) batch.run = 0;
            all.push_back(std::move(pooled));
        }
    }
    return all;
}

/// Draws the samples of each of the series' processes from these.
void redraw(const std::vector<model::Batch>& from, std::mt19937_64& random, MetricSeries& series) {
    for (model::Batch& batch : series.batches) batch.samples = from[random() % from.size()].samples;
}

/// The fraction that nine of ten runs of the baseline's own processes are shown to be within: runs
/// are drawn from them, the same each time, and judged by the gate's rule.
std::optional<double> tolerance_to_show(const PooledMetric& pooled, const gate::Rule& rule) {
    constexpr std::size_t draws = 40;
    const std::vector<model::Batch>& batches = pooled.comparison.baseline->batches;
    if (batches.empty()) return std::nullopt;
    std::mt19937_64 random(1);
    std::vector<MetricSeries> runs(draws, pooled.run);
    std::vector<gate::Comparison> comparisons;
    for (MetricSeries& run : runs) {
        redraw(batches, random, run);
        comparisons.push_back(pooled.without_tolerance(run));
    }
    std::vector<double> ends;
    for (const gate::Judgement& judgement : rule.judge(comparisons)) {
        if (!judgement.interval) return std::nullopt;
        const double rise = judgement.interval->high;
        const double fall = -judgement.interval->low;
        const model::Direction direction = pooled.comparison.definition->direction;
        ends.push_back(direction == model::Direction::lower    ? rise
                       : direction == model::Direction::higher ? fall
                                                               : std::max(rise, fall));
    }
    return stats::quantile(ends, 0.9);
}

/// The least tolerance from this one on that the processes do not disagree by.
std::optional<double> agreeing(const PooledMetric& pooled, double scale, double tolerance) {
    constexpr double most = 100;
    const auto too_small = [&](double amount) {
        return gate::disagrees(*pooled.comparison.definition, *pooled.comparison.baseline,
                               {amount / scale, std::nullopt, 0});
    };
    if (!too_small(tolerance)) return tolerance;
    double enough = std::max(tolerance, 0.01 * scale);
    while (too_small(enough)) {
        enough *= 1.02;
        if (enough / scale > most) return std::nullopt;
    }
    return written(enough);
}

/// A tolerance that the next recording is likely to agree by, too: those that are drawn from the
/// processes of this one do. They differ more than these, of which the slowest is one.
std::optional<double> lasting(const PooledMetric& pooled, double tolerance) {
    constexpr std::size_t draws = 40;
    const std::vector<model::Batch>& batches = pooled.comparison.baseline->batches;
    const double scale =
        tolerance_scale(*pooled.comparison.definition, *pooled.comparison.baseline);
    std::mt19937_64 random(1);
    MetricSeries recording = *pooled.comparison.baseline;
    PooledMetric drawn = pooled;
    drawn.comparison.baseline = &recording;
    std::optional<double> enough = tolerance;
    for (std::size_t draw = 0; draw < draws && enough; ++draw) {
        redraw(batches, random, recording);
        enough = agreeing(drawn, scale, *enough);
    }
    return enough;
}

/// The least tolerance of a time, as suites write it: runs are shown to be within it, and the
/// processes do not disagree by more. `drift` is what the gate will allow to the metric.
std::optional<double> needed_by_time(const PooledMetric& pooled, const stats::Drift& drift,
                                     const model::Policy& policy) {
    const gate::Comparison& comparison = pooled.comparison;
    const double scale = tolerance_scale(*comparison.definition, *comparison.baseline);
    const gate::BatchRule rule(policy, 0, {{pooled.metric(), drift}});
    const std::optional<double> needed = tolerance_to_show(pooled, rule);
    if (!needed) return std::nullopt;
    return agreeing(pooled, scale, std::max(written(scale * (*needed - comparison.leeway)), 0.0));
}

/// As a suite writes it, with `abs`.
double allowed_to(const PooledMetric& pooled, double size) {
    const model::Tolerance& tolerance = pooled.comparison.tolerance;
    return tolerance_scale(*pooled.comparison.definition, *pooled.comparison.baseline) *
           std::max(tolerance.worse, tolerance.abs / size);
}

/// The kernels of a label that take less than a quarter of its longest, and under 10 µs.
void add_tiny_kernels(const CaseResult& result, std::vector<TinyKernel>& found) {
    constexpr double short_ns = 10'000, of_longest = 0.25;
    constexpr double tick_ns = 32;  // of the GPU's clock
    const auto label = result.measured_as.find("measure");
    if (label == result.measured_as.end() || !label->second.starts_with("kernel ")) return;
    const auto longest = std::ranges::max_element(
        result.kernels, [](const auto& a, const auto& b) { return a.duration_ns < b.duration_ns; });
    std::set<std::string> named;
    for (const model::Kernel& kernel : result.kernels) {
        if (!(kernel.duration_ns > 0) || kernel.duration_ns >= short_ns ||
            kernel.duration_ns >= of_longest * longest->duration_ns ||
            !named.insert(kernel.name).second) {
            continue;
        }
        found.push_back({model::case_id(result.spec), model::short_kernel_name(kernel.name),
                         model::short_kernel_name(longest->name), kernel.duration_ns,
                         longest->duration_ns, written(2 * tick_ns / kernel.duration_ns)});
    }
}

/// The logarithms in the order of measurement: one mean for each session, or, with fewer than five
/// sessions, the processes of the one with the most. Empty if one has none.
std::pair<std::vector<double>, bool> in_order(const MetricSeries& series) {
    constexpr std::size_t least_sessions = 5;
    std::map<std::int64_t, std::vector<double>> sessions;
    for (const model::Batch* batch : gate::batches_in_use(series)) {
        const double value = gate::batch_value(*batch);
        if (!(value > 0) || !std::isfinite(value)) return {};
        sessions[batch->run].push_back(std::log(value));
    }
    std::vector<double> means;
    std::vector<double> longest;
    for (const auto& [session, values] : sessions) {
        means.push_back(stats::trimmed_mean(values, gate::trimmed_processes));
        if (values.size() > longest.size()) longest = values;
    }
    const bool of_sessions = means.size() >= least_sessions;
    return {of_sessions ? means : longest, of_sessions};
}

/// See PoolingFindings.
std::vector<SteadyTrend> trends_of(const std::vector<PooledMetric>& all) {
    constexpr double level = 0.01, least_change = 0.001;
    std::map<std::pair<std::string, bool>, std::vector<std::vector<double>>> pools;
    for (const PooledMetric& pooled : all) {
        if (!gate::is_time(pooled.comparison)) continue;
        auto [values, sessions] = in_order(*pooled.comparison.baseline);
        if (!values.empty()) pools[{pooled.metric(), sessions}].push_back(std::move(values));
    }
    std::vector<SteadyTrend> found;
    for (const auto& [pool, items] : pools) {
        const auto trend = stats::trend_of(items);
        if (!trend || trend->probability > level || std::fabs(trend->change) < least_change) {
            continue;
        }
        found.push_back({pool.first, std::expm1(trend->change), pool.second});
    }
    return found;
}

/// See PoolingFindings.
std::vector<AllowedByAbs> allowed_by_abs(const std::vector<PooledMetric>& all) {
    std::map<std::string, AllowedByAbs> found;
    for (const PooledMetric& pooled : all) {
        const gate::Comparison& comparison = pooled.comparison;
        const double share =
            gate::share_by_abs(*comparison.definition, *comparison.baseline, comparison.tolerance);
        if (share == 0) continue;
        AllowedByAbs& of_metric = found[pooled.metric()];
        of_metric.metric = pooled.metric();
        ++of_metric.cases;
        if (share <= of_metric.most) continue;
        of_metric.most = share;
        of_metric.worst_id = pooled.id;
    }
    const auto values = std::views::values(found);
    return {values.begin(), values.end()};
}

/// How the times were recorded.
void add_recording(const std::vector<PooledMetric>& all, PoolingFindings& findings) {
    for (const PooledMetric& pooled : all) {
        std::map<std::string, std::set<std::int64_t>> runs;  // by board
        double busy = 0;
        std::size_t count = 0;
        for (const model::Batch* batch : gate::batches_in_use(*pooled.comparison.baseline)) {
            runs[batch->device].insert(batch->run);
            if (!batch->other_work) continue;
            busy += batch->other_work->busy;
            ++count;
        }
        if (count > 0) {
            findings.others_busy =
                std::max(findings.others_busy, busy / static_cast<double>(count));
        }
        if (!gate::is_time(pooled.comparison)) continue;
        for (const auto& [board, of_board] : runs) {
            findings.sessions = std::max(findings.sessions, of_board.size());
        }
    }
}

}  // namespace

Run combine_runs(std::vector<Run> runs) {
    if (runs.empty()) throw util::InputError("no run to accept");
    Run combined = std::move(runs.front());
    for (std::size_t i = 1; i < runs.size(); ++i) {
        const Run& other = runs[i];
        require_alike(combined, other);
        combined.interrupted = combined.interrupted || other.interrupted;
        combined.verify_only = combined.verify_only || other.verify_only;
        combined.wall_s += other.wall_s;
        for (const model::CaseIndex& at : model::all_cases(combined)) {
            add_case(model::case_at(other, at), static_cast<std::int64_t>(i),
                     model::names_a_commit(combined.git_revision), model::case_at(combined, at));
        }
    }
    return combined;
}

double spread_of_tolerance(const MetricSeries& series, const model::Tolerance& tolerance) {
    const std::vector<double> values = gate::batch_values(series);
    if (values.size() < 2) return 0;
    const double allowed =
        std::max(tolerance.worse * std::fabs(stats::trimmed_mean(values, gate::trimmed_processes)),
                 tolerance.abs);
    const std::array group{values};
    const double deviation = stats::pooled_spread(group).deviation;
    if (deviation == 0) return 0;
    return allowed == 0 ? std::numeric_limits<double>::infinity() : deviation / allowed;
}

bool noisy(const CaseResult& result) {
    return std::ranges::any_of(result.gates, [&](const model::GateRule& gate) {
        const auto series = result.metrics.find(gate.metric);
        return series != result.metrics.end() &&
               spread_of_tolerance(series->second, gate.tolerance) > 0.5;
    });
}

MetricSeries condensed(const MetricSeries& series) {
    const std::vector<const model::Batch*> used = gate::batches_in_use(series);
    if (used.size() < 2) return series;
    const std::vector<double> values = gate::batch_values(series);
    MetricSeries result = series;
    result.batches.clear();
    for (std::size_t i = 0; i < used.size(); ++i) {
        model::Batch batch = *used[i];
        batch.process = static_cast<std::int64_t>(i);
        batch.round = 0;
        if (series.unit == "ns") batch.tail = gate::tail_of(batch);
        batch.samples = {values[i]};
        result.batches.push_back(std::move(batch));
    }
    result.value = stats::median(values);
    return result;
}

PoolingFindings pooling_findings(const Run& run, const model::SuiteResult& suite,
                                 const model::Baseline& baseline, const model::Policy& policy) {
    std::deque<MetricSeries> parts;
    const std::vector<PooledMetric> all = pooled_metrics(run, suite, baseline, parts);
    std::vector<gate::Comparison> with_tolerance;
    std::vector<gate::Comparison> without;
    for (const PooledMetric& pooled : all) {
        with_tolerance.push_back(pooled.against(pooled.run));
        without.push_back(pooled.without_tolerance(pooled.run));
    }
    const std::vector<stats::Drift> drifts = gate::drifts_of(with_tolerance);
    const gate::BatchRule rule(policy);
    const std::vector<gate::Judgement> now = rule.judge(with_tolerance);
    const std::vector<gate::Judgement> finest = rule.judge(without);

    PoolingFindings result;
    add_recording(all, result);
    result.trends = trends_of(all);
    result.by_abs = allowed_by_abs(all);
    for (const CaseResult& each : suite.cases) add_tiny_kernels(each, result.tiny);
    struct Seen {
        std::vector<std::pair<double, std::string>> tolerances;
        std::vector<TooFine> too_fine;
        bool points = false;
    };
    std::map<std::string, Seen> by_metric;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const PooledMetric& pooled = all[i];
        const model::MetricDefinition& definition = *pooled.comparison.definition;
        const bool timing = definition.metric_class == model::MetricClass::timing;
        std::optional<double> named;
        if (const double size = std::fabs(gate::estimate_of(*pooled.comparison.baseline));
            timing && size > 0) {
            const std::optional<double> needed = needed_by_time(pooled, drifts[i], policy);
            const double allowed = allowed_to(pooled, size);
            if (needed) named = lasting(pooled, *needed);
            constexpr double rounding = 1e-9;  // 86 thousandths are more than what "8.6%" reads as
            if (!needed || *needed > allowed * (1 + rounding)) {
                result.unshown.push_back(
                    {pooled.id, pooled.metric(), allowed, named, in_points(definition)});
            }
        }
        if (now[i].basis != gate::Basis::spread) continue;
        if (definition.metric_class == model::MetricClass::exact) {
            result.demotions.push_back({pooled.id, pooled.metric()});
        }
        if (!timing && finest[i].minimum_detectable_change) {
            named = written(*finest[i].minimum_detectable_change *
                            tolerance_scale(definition, *pooled.comparison.baseline));
        }
        if (!named) continue;
        Seen& seen = by_metric[pooled.metric()];
        seen.tolerances.emplace_back(*named, pooled.id);
        seen.points = in_points(definition);
        if (!timing && now[i].tolerance_is_finer) seen.too_fine.push_back({pooled.id, *named});
    }
    for (auto& entry : by_metric) {
        Seen& seen = entry.second;
        std::ranges::sort(seen.tolerances);
        std::ranges::stable_sort(seen.too_fine, std::greater{}, &TooFine::needed);
        const std::size_t count = seen.tolerances.size();
        const auto enough_for = [&](std::size_t tenths) {
            return seen.tolerances[(count * tenths + 9) / 10 - 1].first;
        };
        result.proposals.push_back({entry.first, count, enough_for(5), enough_for(9),
                                    enough_for(10), seen.points, seen.tolerances.back().second,
                                    std::move(seen.too_fine)});
    }
    return result;
}

}  // namespace perfgate::baseline
