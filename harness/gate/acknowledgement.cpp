// SPDX-License-Identifier: Apache-2.0
#include "gate/acknowledgement.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "model/date.hpp"
#include "model/quantity.hpp"
#include "model/text.hpp"

namespace perfgate::gate {

namespace {

using model::Acknowledgement;
using model::Verdict;

/// " by Ada: a driver bug", as far as it is known.
std::string origin(const Acknowledgement& acknowledgement) {
    std::string text;
    if (!acknowledgement.by.empty()) text += " by " + model::printable(acknowledgement.by);
    if (!acknowledgement.reason.empty()) {
        text += ": " + model::printable(acknowledgement.reason);
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
    return fmt::format("its acknowledgement ends {}, on {}; from then on it fails the run", when,
                       until);
}

Acknowledged answer(const Acknowledgement& acknowledgement, const Comparison& comparison,
                    const Judgement& against_known, const std::string& day,
                    std::int64_t most_days) {
    const std::string& until = acknowledgement.until;
    if (day.empty()) {
        return {
            false,
            fmt::format("acknowledged until {}, which cannot be checked for a run without a time",
                        until)};
    }
    if (until < day) {
        return {false,
                fmt::format("its acknowledgement ended on {}{}", until, origin(acknowledgement))};
    }
    if (model::days_between(day, until) > most_days) {
        return {false,
                fmt::format("its acknowledgement until {} does not hold: that is more than {} days "
                            "ahead (the policy's acknowledgement_days)",
                            until, most_days)};
    }
    const Verdict verdict = against_known.verdict;
    if (verdict == Verdict::regressed || verdict == Verdict::invalid) {
        return {false, fmt::format("worse than the {} that are acknowledged until {}{}",
                                   model::quantity_text(acknowledgement.known.value,
                                                        comparison.definition->unit),
                                   until, origin(acknowledgement))};
    }
    return {true, fmt::format("acknowledged until {}{}", until, origin(acknowledgement)),
            warning(day, until)};
}

}  // namespace

std::vector<Acknowledged> acknowledged(std::span<const AcknowledgedComparison> comparisons,
                                       const Rule& rule, const std::string& started_at,
                                       std::int64_t most_days) {
    if (comparisons.empty()) return {};
    const std::string day = model::date_of(started_at);
    std::vector<Comparison> against_known;
    for (const AcknowledgedComparison& known : comparisons) {
        Comparison comparison = *known.comparison;
        comparison.baseline = &known.acknowledgement->known;
        against_known.push_back(comparison);
    }
    const std::vector<Judgement> judgements = rule.judge(against_known);
    std::vector<Acknowledged> answers;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        answers.push_back(answer(*comparisons[i].acknowledgement, against_known[i],
                                 judgements.at(i), day, most_days));
    }
    return answers;
}

}  // namespace perfgate::gate
