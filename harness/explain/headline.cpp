// SPDX-License-Identifier: Apache-2.0
#include "explain/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity.hpp"

namespace perfgate::explain {

namespace {

using model::CaseVerdict;
using model::Effect;
using model::MetricVerdict;
using model::SuiteVerdict;
using model::Verdict;

constexpr std::size_t most_clauses = 5;

/// The cases of one clause: of the same effect, and of the same counter in the same direction.
struct Clause {
    Effect effect = Effect::none;
    std::vector<const CaseVerdict*> cases;
    std::string reason;      ///< of the worst group
    std::size_t groups = 0;  ///< reasons
};

std::string key_of(const CaseVerdict& verdict) {
    const Effect effect = effect_of(verdict);
    const MetricVerdict* metric = deciding_metric(verdict);
    if (metric == nullptr || (effect != Effect::counter && effect != Effect::warned)) return {};
    return metric->metric + (metric->change.value_or(0) < 0 ? " -" : " +");
}

std::vector<Clause> clauses_of(const std::vector<const SuiteVerdict*>& suites) {
    std::map<std::pair<Effect, std::string>, std::size_t> places;
    std::vector<Clause> clauses;
    for (const SuiteVerdict* suite : suites) {
        for (const model::CaseGroup& group : suite->groups) {
            if (group.cases.empty()) continue;
            const CaseVerdict& worst = suite->cases.at(static_cast<std::size_t>(group.cases[0]));
            const auto [place, is_new] =
                places.try_emplace({group.effect, key_of(worst)}, clauses.size());
            if (is_new) clauses.push_back({group.effect, {}, group.sentence, 0});
            Clause& clause = clauses[place->second];
            ++clause.groups;
            for (const std::int64_t position : group.cases) {
                clause.cases.push_back(&suite->cases.at(static_cast<std::size_t>(position)));
            }
        }
    }
    std::ranges::stable_sort(clauses, {}, &Clause::effect);
    return clauses;
}

/// "2.9 %", "0.6 to 2.9 %", "3.1 points": how much the deciding metrics changed, without sign.
std::string range_text(const std::vector<const CaseVerdict*>& cases, bool only_most) {
    std::optional<double> least, most;
    bool points = false;
    for (const CaseVerdict* verdict : cases) {
        const MetricVerdict* metric = deciding_metric(*verdict);
        if (metric == nullptr || !metric->baseline || !metric->measured) continue;
        points = metric->unit == "%";
        const std::optional<double> size =
            points ? std::optional((*metric->measured - *metric->baseline) / 100) : metric->change;
        if (!size || !std::isfinite(*size)) continue;
        least = std::fmin(least.value_or(INFINITY), std::fabs(*size));
        most = std::fmax(most.value_or(0), std::fabs(*size));
    }
    if (!most) return {};
    const auto number = [](double fraction) {
        std::string text = model::change_text(fraction);
        text.resize(text.size() - std::string_view(" %").size());
        return text.starts_with('+') ? text.substr(1) : text;
    };
    std::string last = number(*most) + (points ? " points" : " %");
    if (only_most || number(*least) == number(*most)) return last;
    return number(*least) + " to " + last;
}

/// "execute 0.6 to 2.9 % more instructions".
std::string counter_text(const Clause& clause, bool one) {
    const MetricVerdict& metric = *deciding_metric(*clause.cases.front());
    const std::string range = range_text(clause.cases, false);
    const bool less = metric.change.value_or(0) < 0;
    const auto verb = [one](std::string_view plain) {
        return std::string(plain) + (one ? "s" : "");
    };
    if (range.empty()) return fmt::format("{} more {}", one ? "has" : "have", metric.metric);
    if (metric.metric == "instructions" || metric.metric == "registers") {
        return fmt::format("{} {} {} {}", verb(metric.metric == "registers" ? "use" : "execute"),
                           range, less ? "fewer" : "more", metric.metric);
    }
    return fmt::format("{} {} {} {}", one ? "has" : "have", range, less ? "less" : "more",
                       metric.metric);
}

/// "slower by up to 27.8 %".
std::string amount_text(const Clause& clause, std::string_view word) {
    const std::string most = range_text(clause.cases, true);
    if (most.empty()) return std::string(word);
    return fmt::format("{} by {}{}", word, clause.cases.size() > 1 ? "up to " : "", most);
}

std::string_view not_shown_text(bool one) {
    return one ? "is not shown to be within its tolerance"
               : "are not shown to be within their tolerances";
}

std::string unclear_text(const Clause& clause, bool one) {
    const auto not_shown = static_cast<std::size_t>(std::count_if(
        clause.cases.begin(), clause.cases.end(),
        [](const CaseVerdict* verdict) { return verdict->doubt == model::Doubt::not_shown; }));
    if (not_shown == clause.cases.size()) return std::string(not_shown_text(one));
    const std::string text = one ? "is inconclusive" : "are inconclusive";
    return not_shown == 0 ? text : fmt::format("{} ({} not shown)", text, not_shown);
}

std::string predicate(const Clause& clause) {
    const bool one = clause.cases.size() == 1;
    switch (clause.effect) {
        case Effect::wrong:
            return one ? "computes a wrong result" : "compute wrong results";
        case Effect::failed:
            return "failed to run";
        case Effect::slower:
            return amount_text(clause, "slower");
        case Effect::missing:
            return one ? "is missing" : "are missing";
        case Effect::counter:
            return counter_text(clause, one);
        case Effect::unmeasured:
            return range_text(clause.cases, true).empty()
                       ? "could not be measured"
                       : amount_text(clause, "cannot be judged, changed");
        case Effect::unclear:
            return unclear_text(clause, one);
        case Effect::warned: {
            const MetricVerdict* metric = deciding_metric(*clause.cases.front());
            return fmt::format(
                "{} a warning{}", one ? "draws" : "draw",
                metric == nullptr ? "" : fmt::format(" ({})", counter_text(clause, one)));
        }
        case Effect::acknowledged:
            return one ? "is an acknowledged regression" : "are acknowledged regressions";
        case Effect::no_baseline:
            return one ? "has no baseline" : "have no baseline";
        case Effect::better:
            return amount_text(clause, "better");
        case Effect::none:
            break;
    }
    return {};
}

/// Only of what users feel most: the groups below have the others.
std::string reason_text(const Clause& clause) {
    if (clause.effect != Effect::slower || clause.reason.empty()) return {};
    std::string text = ": " + clause.reason;
    if (clause.groups > 1) {
        text +=
            fmt::format(", and {} other cause{}", clause.groups - 1, clause.groups == 2 ? "" : "s");
    }
    return text;
}

void add_relations(const std::vector<const SuiteVerdict*>& suites,
                   std::vector<std::string>& texts) {
    std::size_t broken = 0, failed = 0;
    for (const SuiteVerdict* suite : suites) {
        for (const model::RelationVerdict& relation : suite->relations) {
            if (relation.verdict == Verdict::regressed) ++broken;
            if (relation.verdict == Verdict::error) ++failed;
        }
    }
    const auto add = [&](std::size_t count, std::string_view one, std::string_view several) {
        if (count == 0) return;
        texts.push_back(fmt::format("{} {}", count, count == 1 ? one : several));
    };
    add(broken, "relation is broken", "relations are broken");
    add(failed, "relation could not be judged", "relations could not be judged");
}

/// If there is nothing to report.
std::string all_well(const std::vector<const SuiteVerdict*>& suites) {
    std::size_t passed = 0, skipped = 0, not_shown = 0;
    for (const SuiteVerdict* suite : suites) {
        for (const CaseVerdict& verdict : suite->cases) {
            if (verdict.verdict == Verdict::pass) ++passed;
            if (verdict.verdict == Verdict::skipped) ++skipped;
            if (verdict.verdict == Verdict::inconclusive) ++not_shown;
        }
    }
    std::string text;
    const auto add = [&](std::size_t count, std::string_view one, std::string_view several) {
        const std::string_view noun = !text.empty() ? "" : count == 1 ? " case" : " cases";
        text += fmt::format("{}{}{} {}", text.empty() ? "" : "; ", count, noun,
                            count == 1 ? one : several);
    };
    if (passed > 0 || not_shown + skipped == 0) add(passed, "passed", "passed");
    if (not_shown > 0) add(not_shown, not_shown_text(true), not_shown_text(false));
    if (skipped > 0) add(skipped, "skipped", "skipped");
    return text;
}

/// Without those that stand for the cases of a benchmark beside these.
std::size_t count_of(const Clause& clause) {
    const auto stands_for_others = [](const CaseVerdict& verdict) {
        const std::string unknown = verdict.workload + "/*";
        return verdict.id == unknown || verdict.id.starts_with(unknown + '[');
    };
    std::set<std::string_view> known;
    for (const CaseVerdict* verdict : clause.cases) {
        if (!stands_for_others(*verdict)) known.insert(verdict->workload);
    }
    return static_cast<std::size_t>(std::ranges::count_if(clause.cases, [&](const auto* verdict) {
        return !stands_for_others(*verdict) || !known.contains(verdict->workload);
    }));
}

std::string headline(const model::VerdictDocument& document,
                     const std::vector<const SuiteVerdict*>& suites) {
    std::vector<std::string> texts;
    const std::vector<Clause> clauses = clauses_of(suites);
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < clauses.size(); ++i) {
        const Clause& clause = clauses[i];
        if (i >= most_clauses) {
            left_out += count_of(clause);
            continue;
        }
        const std::size_t count = count_of(clause);
        const std::string_view noun = i > 0 ? "more" : count == 1 ? "case" : "cases";
        texts.push_back(
            fmt::format("{} {} {}{}", count, noun, predicate(clause), reason_text(clause)));
    }
    if (left_out > 0) texts.push_back(fmt::format("{} more need attention", left_out));
    add_relations(suites, texts);
    const bool well = texts.empty();
    if (well) texts.push_back(all_well(suites));
    std::string text = document.interrupted ? "Interrupted: " : "";
    if (well && document.exit_code == 2) text += "Nothing was measured: ";
    text += fmt::format("{}", fmt::join(texts, "; "));
    if (document.verify_only) text += "; verified only, nothing was measured";
    return text + ".";
}

}  // namespace

void write_headlines(model::VerdictDocument& document) {
    std::vector<const SuiteVerdict*> all;
    for (SuiteVerdict& suite : document.suites) {
        suite.summary = headline(document, {&suite});
        all.push_back(&suite);
    }
    document.summary = headline(document, all);
}

}  // namespace perfgate::explain
