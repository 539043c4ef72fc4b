// SPDX-License-Identifier: Apache-2.0
#include "bisect/decision.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "gate/batch_rule.hpp"
#include "gate/rule.hpp"
#include "gate/series.hpp"
#include "stats/quantiles.hpp"
#include "stats/rank_tests.hpp"

namespace perfgate::bisect {

namespace {

/// Whether `series` is shown to be better than `than`, by however little.
bool shown_better(const gate::PairedRule& rule, const model::MetricDefinition& definition,
                  const model::MetricSeries& than, const model::MetricSeries& series) {
    gate::Comparison comparison;
    comparison.definition = &definition;
    comparison.baseline = &than;
    comparison.measured = &series;
    const gate::Judgement judged = rule.judge(std::span(&comparison, 1)).front();
    if (judged.verdict != model::Verdict::improved) return false;
    // An improvement by its interval alone is at a level that fails nothing, and decides nothing.
    return judged.basis == gate::Basis::exact ||
           (judged.basis == gate::Basis::spread && judged.probability &&
            *judged.probability <= judged.needed_probability);
}

/// The part of a look's level that the paired rule's test of signed ranks gets.
constexpr double share_of_pairs = 0.7;
/// Processes that differ so many times as much as others are not of one kind. In 13 normally
/// distributed ones of each it happens by chance once in thousands.
constexpr double scattered_times = 3;
constexpr double part_of_change = 0.25;
/// Times the change from GOOD to BAD.
constexpr double far_times = 3;

gate::PairedRule rule_of_look(double false_alarms) {
    model::Policy policy;
    policy.rounds = 0;  // all pairs decide
    policy.false_alarms = false_alarms / static_cast<double>(looks);
    return gate::PairedRule(policy);
}

model::MetricDefinition directed(model::MetricDefinition definition, const Target& target) {
    definition.direction =
        target.bad > target.good ? model::Direction::lower : model::Direction::higher;
    return definition;
}

/// GOOD's processes with so many times the change to BAD, as a factor where both are positive.
model::MetricSeries with_change(const std::string& metric, const Target& target,
                                const model::MetricSeries& good, double times) {
    const double estimate = gate::estimate_of(good);
    const bool factor = estimate > 0 && target.good > 0 && target.bad > 0;
    const double difference = factor ? estimate * (std::pow(target.bad / target.good, times) - 1)
                                     : times * (target.bad - target.good);
    return gate::moved(good, estimate, difference, metric);
}

}  // namespace

double spread_of(std::vector<double> values) {
    if (values.size() < 2) return 0;
    for (double& value : values) {
        if (!(value > 0) || !std::isfinite(value)) return 0;
        value = std::log(value);
    }
    const double median = stats::median(values);
    for (double& value : values) value = std::fabs(value - median);
    std::ranges::sort(values);
    values.resize(values.size() - values.size() / 10);
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool scattered(const Target& target, const model::MetricSeries& good,
               const model::MetricSeries& commit) {
    if (!(target.good > 0) || !(target.bad > 0)) return false;
    const double change = std::fabs(std::log(target.bad / target.good));
    const double usual = std::max(spread_of(gate::batch_values(good)), target.bad_spread);
    const double spread = spread_of(gate::batch_values(commit));
    return spread > scattered_times * usual && spread > part_of_change * change;
}

std::size_t first_pairs(double false_alarms) {
    const double level = share_of_pairs * false_alarms / static_cast<double>(looks);
    std::size_t pairs = 1;
    while (stats::signed_rank_least(pairs) > level) ++pairs;
    return pairs;
}

Decided decide(const model::MetricDefinition& definition, const Target& target,
               const model::MetricSeries& good, const model::MetricSeries& commit,
               double false_alarms) {
    const bool timing = definition.metric_class == model::MetricClass::timing;
    if (timing && scattered(target, good, commit)) {
        return {Decision::undecided, "its processes differ far more than GOOD's and BAD's"};
    }
    const gate::PairedRule rule = rule_of_look(false_alarms);
    const model::MetricDefinition as_followed = directed(definition, target);
    const auto with = [&](double times) {
        return with_change(definition.name, target, good, times);
    };
    if (timing && shown_better(rule, as_followed, commit, with(far_times))) {
        return {Decision::undecided,
                "it is far slower than BAD: its slowness, or another's, was undone before BAD",
                true};
    }
    const model::MetricSeries boundary = with(0.5);
    if (shown_better(rule, as_followed, boundary, commit)) return {Decision::not_slower, {}, true};
    if (shown_better(rule, as_followed, commit, boundary)) return {Decision::slower, {}, true};
    return {};
}

}  // namespace perfgate::bisect
