// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "util/text.hpp"

namespace perfgate::model {

namespace {

/// Decided by the policy: the outcome is skipped or a failure, the exit code 0 or 4.
constexpr int by_policy = 4;

struct Row {
    Verdict verdict;
    std::string_view text;
    int exit_code;  ///< `by_policy`: if the policy fails it, else 0
    Outcome junit;
};

// The table of harness/README.md, from the best to the worst: a row's number is its severity.
constexpr std::array table = {
    Row{Verdict::pass, "pass", 0, Outcome::pass},
    Row{Verdict::improved, "improved", 0, Outcome::pass},
    Row{Verdict::skipped, "skipped", 0, Outcome::skipped},
    Row{Verdict::acknowledged, "acknowledged", 0, Outcome::skipped},
    Row{Verdict::warned, "warned", 0, Outcome::skipped},
    Row{Verdict::no_baseline, "no_baseline", by_policy, Outcome::failure},
    Row{Verdict::inconclusive, "inconclusive", by_policy, Outcome::failure},
    Row{Verdict::invalid, "invalid", 3, Outcome::error},
    Row{Verdict::not_collected, "not_collected", 3, Outcome::error},
    Row{Verdict::error, "error", 3, Outcome::error},
    Row{Verdict::missing, "missing", 1, Outcome::failure},
    Row{Verdict::regressed, "regressed", 1, Outcome::failure},
    Row{Verdict::incorrect, "incorrect", 1, Outcome::failure},
};

constexpr bool in_order() {
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (static_cast<std::size_t>(table[i].verdict) != i) return false;
    }
    return true;
}
static_assert(in_order(), "the table is indexed by the verdict");
static_assert(table.size() == static_cast<std::size_t>(worst_verdict) + 1);

const Row& row(Verdict verdict) {
    return table.at(static_cast<std::size_t>(verdict));
}

/// True where the policy lets this verdict through.
bool tolerated(Verdict verdict, const Policy& policy, Doubt doubt = Doubt::none) {
    if (verdict == Verdict::no_baseline) return !policy.no_baseline_fails;
    if (verdict != Verdict::inconclusive) return false;
    if (doubt == Doubt::other_work) return false;  // a change gains nothing by being disturbed
    if (policy.not_shown_fails && is_not_shown(doubt)) return false;
    if (policy.improved_fails && doubt == Doubt::unaccepted) return false;
    return !policy.inconclusive_fails || doubt == Doubt::not_shown;
}

/// A gate that only warns never fails for what it cannot decide.
bool tolerated(const MetricVerdict& verdict, const Policy& policy) {
    if (verdict.warns && verdict.verdict == Verdict::inconclusive) return true;
    return tolerated(verdict.verdict, policy, verdict.doubt);
}

bool tolerated(const CaseVerdict& verdict, const Policy& policy) {
    if (verdict.verdict != Verdict::inconclusive) return tolerated(verdict.verdict, policy);
    bool warns = false;  // one of its inconclusive metrics
    for (const MetricVerdict& metric : verdict.metrics) {
        if (metric.verdict != Verdict::inconclusive) continue;
        if (!tolerated(metric, policy)) return false;
        warns = warns || metric.warns;
    }
    return warns || tolerated(verdict.verdict, policy, verdict.doubt);
}

bool is_time(const MetricVerdict& metric) {
    return metric.unit == "ns";
}

/// The change as a fraction; from nothing to something is more than any.
double size_of_change(const MetricVerdict& metric) {
    if (metric.change) return std::fabs(*metric.change);
    return metric.baseline && metric.measured && *metric.baseline != *metric.measured ? INFINITY
                                                                                      : 0;
}

/// By verdict, then a time before a counter, then by the size of the change.
bool decides_before(const MetricVerdict& left, const MetricVerdict& right) {
    if (left.verdict != right.verdict) return left.verdict > right.verdict;
    if (is_time(left) != is_time(right)) return is_time(left);
    return size_of_change(left) > size_of_change(right);
}

}  // namespace

std::string_view to_text(Verdict verdict) {
    return verdict <= worst_verdict ? row(verdict).text : util::no_word;
}

std::string_view to_text(OnChange on_change) {
    return util::word_of<OnChange::refuse>(on_change, {"accept", "warn", "refuse"});
}

std::string_view to_text(CodeChange change) {
    return util::word_of<CodeChange::changed>(
        change, {"unknown", "unchanged", "device_unchanged", "changed"});
}

std::string_view to_text(Doubt doubt) {
    return util::word_of<Doubt::other_work>(
        doubt, {"none", "not_shown", "nothing_changed", "clock", "unaccepted", "unclear",
                "baseline_disagrees", "choices_differ", "clock_hides", "nothing_launched_changed",
                "too_good", "slow_processes", "slow_tail", "other_work"});
}

Severity SeverityPolicy::of(MetricClass metric_class) const {
    switch (metric_class) {
        case MetricClass::exact:
            return exact;
        case MetricClass::counter:
            return counter;
        case MetricClass::timing:
            return timing;
    }
    return Severity::fail;
}

const MetricVerdict* deciding_metric(const CaseVerdict& verdict) {
    const MetricVerdict* first = nullptr;
    for (const MetricVerdict& metric : verdict.metrics) {
        if (first == nullptr || decides_before(metric, *first)) first = &metric;
    }
    return first != nullptr && first->verdict == verdict.verdict ? first : nullptr;
}

std::string first_reason(const CaseVerdict& verdict) {
    if (!verdict.why.empty() && !verdict.why.front().brief.empty()) {
        return verdict.why.front().brief;
    }
    return verdict.reason;
}

std::string_view to_text(Effect effect) {
    return util::word_of<Effect::none>(
        effect, {"wrong", "failed", "slower", "missing", "counter", "unmeasured", "unclear",
                 "warned", "acknowledged", "no_baseline", "better", "none"});
}

Effect effect_of(const CaseVerdict& verdict) {
    switch (verdict.verdict) {
        case Verdict::incorrect:
            return Effect::wrong;
        case Verdict::error:
            return Effect::failed;
        case Verdict::missing:
            return Effect::missing;
        case Verdict::invalid:
        case Verdict::not_collected:
            return Effect::unmeasured;
        case Verdict::inconclusive:
            return Effect::unclear;
        case Verdict::warned:
            return Effect::warned;
        case Verdict::acknowledged:
            return Effect::acknowledged;
        case Verdict::no_baseline:
            return Effect::no_baseline;
        case Verdict::improved:
            return Effect::better;
        case Verdict::pass:
        case Verdict::skipped:
            return Effect::none;
        case Verdict::regressed:
            break;
    }
    const MetricVerdict* metric = deciding_metric(verdict);
    return metric == nullptr || is_time(*metric) ? Effect::slower : Effect::counter;
}

bool stayed(const MetricVerdict& verdict) {
    return verdict.verdict == Verdict::pass ||
           (verdict.verdict == Verdict::inconclusive && verdict.doubt == Doubt::not_shown);
}

bool stayed(const CaseVerdict& verdict) {
    return verdict.verdict == Verdict::pass ||
           (verdict.verdict == Verdict::inconclusive && verdict.doubt == Doubt::not_shown &&
            std::ranges::all_of(verdict.metrics,
                                [](const MetricVerdict& metric) { return stayed(metric); }));
}

Outcome outcome_of(const MetricVerdict& verdict, const Policy& policy) {
    return tolerated(verdict, policy) ? Outcome::skipped : row(verdict.verdict).junit;
}

Outcome outcome_of(const CaseVerdict& verdict, const Policy& policy) {
    return tolerated(verdict, policy) ? Outcome::skipped : row(verdict.verdict).junit;
}

int exit_code(const CaseVerdict& verdict, const Policy& policy) {
    return tolerated(verdict, policy) ? 0 : row(verdict.verdict).exit_code;
}

Outcome outcome_of(Verdict verdict, const Policy& policy) {
    return tolerated(verdict, policy) ? Outcome::skipped : row(verdict).junit;
}

int exit_code(Verdict verdict, const Policy& policy) {
    return tolerated(verdict, policy) ? 0 : row(verdict).exit_code;
}

int combine_exit_codes(int left, int right) {
    for (const int code : {130, 2, 1, 3, 4}) {
        if (left == code || right == code) return code;
    }
    return std::max(left, right);
}

int severity(Verdict verdict) {
    return static_cast<int>(verdict);
}

const CaseVerdict* find_case(const VerdictDocument& document, std::string_view suite,
                             std::string_view id) {
    for (const SuiteVerdict& each : document.suites) {
        if (each.name != suite) continue;
        for (const CaseVerdict& verdict : each.cases) {
            if (verdict.id == id) return &verdict;
        }
    }
    return nullptr;
}

std::map<Verdict, std::int64_t> count_verdicts(const VerdictDocument& document) {
    std::map<Verdict, std::int64_t> counts;
    for (const SuiteVerdict& suite : document.suites) {
        for (const CaseVerdict& verdict : suite.cases) ++counts[verdict.verdict];
    }
    return counts;
}

std::map<Doubt, std::int64_t> count_doubts(const SuiteVerdict& suite) {
    std::map<Doubt, std::int64_t> counts;
    for (const CaseVerdict& verdict : suite.cases) {
        if (verdict.verdict == Verdict::inconclusive) ++counts[verdict.doubt];
    }
    return counts;
}

std::map<Doubt, std::int64_t> count_doubts(const VerdictDocument& document) {
    std::map<Doubt, std::int64_t> counts;
    for (const SuiteVerdict& suite : document.suites) {
        for (const auto& [doubt, count] : count_doubts(suite)) counts[doubt] += count;
    }
    return counts;
}

}  // namespace perfgate::model
