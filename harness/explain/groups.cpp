// SPDX-License-Identifier: Apache-2.0
#include "explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/kernel_name.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::explain {

namespace {

using model::CaseResult;
using model::CaseVerdict;
using model::Effect;
using model::MetricVerdict;

constexpr std::size_t longest_reason = 300;

bool is_time(const MetricVerdict& metric) {
    return metric.unit == "ns";
}

/// Where the reason lies: the kernel with other code, or else the one that takes longest. Empty for
/// a program's case, whose reasons name kernels themselves.
std::string kernel_of(const CaseVerdict& verdict, const CaseResult* result) {
    if (result == nullptr || !result->command.empty()) return {};
    if (!verdict.changed_kernels.empty()) {
        return model::brief_kernel_name(verdict.changed_kernels.front());
    }
    const auto longest = std::ranges::max_element(
        result->kernels,
        [](const auto& left, const auto& right) { return left.duration_ns < right.duration_ns; });
    return longest == result->kernels.end() ? std::string()
                                            : model::brief_kernel_name(longest->name);
}

/// What a case has in common with others of its group.
struct Reason {
    Effect effect = Effect::none;
    std::string key;     ///< the cause, the counter or the words
    std::string kernel;  ///< empty: no matter which
    std::string words;   ///< in brief, with this case's values
    double size = 0;     ///< of the change
};

/// How much worse, as a fraction; of shares in points.
double size_of(const MetricVerdict& metric) {
    if (metric.unit == "%" && metric.baseline && metric.measured) {
        return std::fabs(*metric.measured - *metric.baseline);
    }
    return std::fabs(metric.change.value_or(INFINITY));
}

/// "instructions +0.7 %", "spill_sectors 0 → 12".
std::string counter_words(const MetricVerdict& metric) {
    if (!metric.baseline || !metric.measured) return metric.metric;
    const std::string moved = model::moved_text(*metric.baseline, *metric.measured, metric.unit);
    if (!moved.empty()) return fmt::format("{} {}", metric.metric, moved);
    const model::QuantityTexts texts =
        model::quantity_texts(*metric.baseline, *metric.measured, metric.unit);
    return fmt::format("{} {} → {}", metric.metric, texts.before, texts.after);
}

/// "cpu_time 513.0 ns → 2.050 µs, tolerance 10 %": where no cause is known.
std::string values_words(const MetricVerdict& metric) {
    if (!metric.baseline || !metric.measured) return metric.metric;
    const model::QuantityTexts texts =
        model::quantity_texts(*metric.baseline, *metric.measured, metric.unit);
    return fmt::format("{} {} → {}{}{}", metric.metric, texts.before, texts.after,
                       metric.tolerance.empty() ? "" : ", tolerance ", metric.tolerance);
}

/// The first cause, if it says more than that this counter moved.
std::string cause_besides(const CaseVerdict& verdict, const std::string& metric) {
    if (verdict.why.empty()) return {};
    const model::Cause& cause = verdict.why.front();
    const bool is_about_it = !cause.figures.empty() && cause.figures.front().metric == metric;
    if (is_about_it || cause.rule == "nothing" || cause.rule == "unexplained") return {};
    return util::printable(cause.brief, longest_reason);
}

Reason reason_of(const CaseVerdict& verdict, const CaseResult* result) {
    Reason reason{.effect = effect_of(verdict), .key = {}, .kernel = {}, .words = {}, .size = 0};
    const MetricVerdict* metric = deciding_metric(verdict);
    if (metric != nullptr) reason.size = size_of(*metric);
    const bool says_itself = reason.effect == Effect::unmeasured ||
                             reason.effect == Effect::no_baseline ||
                             verdict.verdict == model::Verdict::acknowledged;
    if (metric == nullptr || says_itself) {
        // An acknowledged change has the day until which it holds, and who accepted it.
        const bool known = verdict.verdict == model::Verdict::acknowledged;
        reason.words =
            util::printable(known ? verdict.reason : model::first_reason(verdict), longest_reason);
        reason.key = reason.words;
        return reason;
    }
    if (reason.effect == Effect::unclear) {
        // What makes it doubtful comes before a cause: without that, nobody knows what to do.
        reason.words = util::printable(metric->sentence, longest_reason);
        if (const std::string cause = cause_besides(verdict, metric->metric); !cause.empty()) {
            reason.words += "; " + cause;
        }
        reason.key = metric->metric + ' ' + std::string(to_text(verdict.doubt));
        return reason;
    }
    reason.kernel = kernel_of(verdict, result);
    if (is_time(*metric) && !verdict.why.empty()) {
        const model::Cause& cause = verdict.why.front();
        reason.words = util::printable(model::first_reason(verdict), longest_reason);
        reason.key = cause.rule;
        if (!cause.figures.empty()) reason.key += ' ' + cause.figures.front().metric;
        return reason;
    }
    // Programs have no counters that could be a cause.
    const bool alone = verdict.why.empty() &&
                       (is_time(*metric) || (result != nullptr && !result->command.empty()));
    reason.words = alone ? values_words(*metric) : counter_words(*metric);
    if (const std::string cause = cause_besides(verdict, metric->metric); !cause.empty()) {
        reason.words += "; " + cause;
    }
    reason.key = metric->metric + (metric->change.value_or(0) < 0 ? " -" : " +");
    return reason;
}

/// A group with the reason of its worst case.
struct Growing {
    Reason worst;
    std::vector<std::pair<double, std::int64_t>> cases;  ///< size of the change, position
};

std::string sentence_of(const Reason& reason) {
    if (reason.kernel.empty() || reason.words.empty()) return reason.words;
    return fmt::format("{}, in {}", reason.words, reason.kernel);
}

/// Passed by policy: only counted.
bool is_tolerated(const CaseVerdict& verdict, const model::Policy& policy) {
    return verdict.verdict == model::Verdict::inconclusive &&
           verdict.doubt == model::Doubt::not_shown && exit_code(verdict, policy) == 0;
}

void group_suite(const model::SuiteResult* results, const model::Policy& policy,
                 model::SuiteVerdict& suite) {
    std::map<std::tuple<Effect, std::string, std::string>, std::size_t> places;
    std::vector<Growing> groups;
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
        const CaseVerdict& verdict = suite.cases[i];
        if (effect_of(verdict) == Effect::none || is_tolerated(verdict, policy)) continue;
        const CaseResult* result =
            results != nullptr && i < results->cases.size() ? &results->cases[i] : nullptr;
        Reason reason = reason_of(verdict, result);
        const auto [place, is_new] =
            places.try_emplace(std::tuple(reason.effect, reason.key, reason.kernel), groups.size());
        if (is_new) groups.emplace_back();
        Growing& group = groups[place->second];
        group.cases.emplace_back(reason.size, static_cast<std::int64_t>(i));
        if (is_new || reason.size > group.worst.size) group.worst = std::move(reason);
    }
    std::ranges::stable_sort(groups, [](const Growing& left, const Growing& right) {
        if (left.worst.effect != right.worst.effect) return left.worst.effect < right.worst.effect;
        return left.worst.size > right.worst.size;
    });
    suite.groups.clear();
    for (Growing& group : groups) {
        std::ranges::stable_sort(group.cases, [](const auto& left, const auto& right) {
            return left.first > right.first;
        });
        model::CaseGroup& made = suite.groups.emplace_back();
        made.effect = group.worst.effect;
        made.sentence = sentence_of(group.worst);
        for (const auto& [size, position] : group.cases) made.cases.push_back(position);
    }
}

}  // namespace

void group_cases(const model::Run& run, model::VerdictDocument& document) {
    for (std::size_t i = 0; i < document.suites.size(); ++i) {
        group_suite(i < run.suites.size() ? &run.suites[i] : nullptr, document.policy,
                    document.suites[i]);
    }
}

}  // namespace perfgate::explain
