// SPDX-License-Identifier: Apache-2.0
#include "gate/acknowledgement.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/series.hpp"
#include "gate/significance.hpp"
#include "model/date.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::Acknowledgement;
using model::Verdict;

/// " by Ada: a driver bug", as far as it is known.
std::string origin(const Acknowledgement& acknowledgement) {
    std::string text;
    if (!acknowledgement.by.empty()) text += " by " + util::printable(acknowledgement.by);
    if (!acknowledgement.reason.empty()) {
        text += ": " + util::printable(acknowledgement.reason);
    }
    return text;
}

/// The warning comes this many days before the end.
constexpr std::int64_t days_of_warning = 7;

std::string warning(const std::string& day, const std::string& until) {
    const std::int64_t left = model::days_between(day, until);
    if (left > days_of_warning) return {};
    const std::string when = left == 0   ? "today"
                             : left == 1 ? "tomorrow"
                                         : fmt::format("in {} days", left);
    return fmt::format("its acknowledgement ends {}, on {}; from the next day on it fails the run",
                       when, until);
}

/// Against the acknowledged value, as a metric is settled against its baseline. The code and the
/// cycles of the acknowledged run are not known, so they excuse nothing. A regression that went
/// away is not too good.
Judgement settled_against_known(const Comparison& against_known, const model::CaseResult& result,
                                const Judgement& judgement) {
    constexpr double never_too_good = std::numeric_limits<double>::infinity();
    return settle(against_known, CodeComparison{}, result, model::BaselineCase{}, never_too_good,
                  judgement)
        .judgement;
}

Standing standing_of(const Judgement& against_known) {
    switch (against_known.verdict) {
        case Verdict::pass:
        case Verdict::improved:
            return Standing::acknowledged;
        case Verdict::inconclusive: {
            const bool by_tolerance = against_known.basis == Basis::one_process &&
                                      against_known.doubt == model::Doubt::not_shown;
            return by_tolerance ? Standing::acknowledged : Standing::unclear;
        }
        case Verdict::invalid:
            return Standing::impossible;
        default:
            return Standing::fails;
    }
}

Acknowledged answer(const Acknowledgement& acknowledgement, const Comparison& comparison,
                    const Judgement& against_known, const std::string& day,
                    const model::Policy& policy) {
    const std::string& until = acknowledgement.until;
    Acknowledged answer;
    if (day.empty()) {
        answer.words = fmt::format(
            "acknowledged until {}, which cannot be checked for a run without a time", until);
        return answer;
    }
    if (until < day) {
        answer.words =
            fmt::format("its acknowledgement ended on {}{}", until, origin(acknowledgement));
        return answer;
    }
    if (model::days_between(day, until) > policy.acknowledgement_days) {
        answer.words = fmt::format(
            "its acknowledgement until {} does not hold: that is more than {} days "
            "ahead (the policy's acknowledgement_days)",
            until, policy.acknowledgement_days);
        return answer;
    }
    answer.standing = standing_of(against_known);
    if (answer.standing == Standing::acknowledged) {
        answer.words = fmt::format("acknowledged until {}{}", until, origin(acknowledgement));
        answer.ends_soon = warning(day, until);
        return answer;
    }
    Judgement unclear = against_known;
    unclear.verdict = Verdict::inconclusive;
    // More processes do not show what a higher clock hides.
    const bool by_clock =
        against_known.doubt == model::Doubt::clock_hides && answer.standing == Standing::unclear;
    if (by_clock) answer.doubt = model::Doubt::clock_hides;
    answer.measure_again =
        !by_clock && worth_another_round(comparison, unclear, last_round_of(*comparison.measured),
                                         policy.rounds);
    const std::string known =
        fmt::format("the {} that are acknowledged until {}{}",
                    model::quantity_text(acknowledgement.known.value, comparison.definition->unit),
                    until, origin(acknowledgement));
    switch (answer.standing) {
        case Standing::unclear:
            answer.words = (by_clock ? "at this higher clock it may be worse than "
                                     : "it may be worse than ") +
                           known;
            break;
        case Standing::impossible:
            answer.words = "worse than " + known +
                           ", with too few processes to judge it: measure in more processes";
            break;
        default:
            answer.words = "worse than " + known;
    }
    return answer;
}

/// The acknowledged value as pairs of this board have it: so much more than their base as it is
/// more than the baseline. Absent: it says nothing here.
std::optional<model::MetricSeries> known_here(const model::MetricSeries& known,
                                              const model::BaselineCase& expected,
                                              const Comparison& comparison) {
    if (!comparison.paired) return known;
    const auto then = expected.metrics.find(comparison.definition->name);
    if (then == expected.metrics.end()) return std::nullopt;
    const double factor = estimate_of(known) / estimate_of(then->second);
    if (!(factor > 0) || !std::isfinite(factor)) return std::nullopt;
    model::MetricSeries here = *comparison.baseline;
    here.value *= factor;
    for (model::Batch& batch : here.batches) {
        for (double& sample : batch.samples) sample *= factor;
    }
    return here;
}

}  // namespace

std::vector<Acknowledged> acknowledgements(std::span<const Pending> pending,
                                           std::span<const Judgement> judgements, const Rule& rule,
                                           const model::Run& run, const model::Policy& policy) {
    std::vector<std::size_t> places;
    std::vector<const Acknowledgement*> known;
    std::vector<Comparison> against_known;
    std::deque<model::MetricSeries> values;
    for (std::size_t i = 0; i < pending.size(); ++i) {
        const Verdict verdict = judgements[i].verdict;
        if (verdict != Verdict::regressed && verdict != Verdict::inconclusive) continue;
        const auto& by_metric = pending[i].compared->expected->acknowledged;
        const auto found = by_metric.find(pending[i].comparison.definition->name);
        if (found == by_metric.end() ||
            !comparable(found->second.known, *pending[i].comparison.measured)) {
            continue;
        }
        auto value =
            known_here(found->second.known, *pending[i].compared->expected, pending[i].comparison);
        if (!value) continue;
        places.push_back(i);
        known.push_back(&found->second);
        against_known.push_back(pending[i].comparison);
        against_known.back().baseline = &values.emplace_back(std::move(*value));
    }
    std::vector<Acknowledged> answers(pending.size());
    if (places.empty()) return answers;
    const std::vector<Judgement> second = rule.judge(against_known);
    const std::string day = model::date_of(run.started_at);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Judgement settled = settled_against_known(
            against_known[i], *pending[places[i]].compared->result, second.at(i));
        answers[places[i]] = answer(*known[i], against_known[i], settled, day, policy);
    }
    return answers;
}

Decision acknowledge(Decision decision, const Acknowledged& known) {
    Judgement& judgement = decision.judgement;
    const bool holds = known.standing == Standing::acknowledged;
    // It covers what no test decides about as it covers what is proved.
    const bool covered = holds && decision.undecided;
    if (judgement.verdict == Verdict::invalid && !covered) return decision;
    decision.reasons.push_back(known.words);
    // For everybody: one that ends soon, or that no longer answers for it.
    decision.news = holds ? known.ends_soon : known.words;
    switch (known.standing) {
        case Standing::fails:
            break;
        case Standing::acknowledged:
            judgement.verdict = Verdict::acknowledged;
            judgement.measure_again = false;
            break;
        case Standing::unclear:
            judgement.measure_again = known.doubt != model::Doubt::clock_hides &&
                                      (judgement.measure_again || known.measure_again);
            if (judgement.verdict != Verdict::regressed) break;
            judgement.verdict = Verdict::inconclusive;
            judgement.doubt = known.doubt;
            judgement.probability.reset();  // of the comparison with the baseline
            break;
        case Standing::impossible:
            judgement.measure_again = judgement.measure_again || known.measure_again;
            judgement.verdict = Verdict::invalid;
    }
    return decision;
}

}  // namespace perfgate::gate
