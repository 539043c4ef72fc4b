// SPDX-License-Identifier: Apache-2.0
#include "gate/unaccepted.hpp"

#include <fmt/format.h>

#include "model/date.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

/// How much worse the measured value may get before it is beyond the baseline's tolerance.
double slack_of(const Comparison& comparison, const Judgement& judgement) {
    const bool rises = comparison.definition->direction != model::Direction::higher;
    const Allowance allowed = allowance_of(comparison, judgement.baseline, rises);
    const double limit = allowed.factor * judgement.baseline + allowed.shift;
    if (!(judgement.measured > 0)) return -1;
    return rises ? limit / judgement.measured - 1 : 1 - limit / judgement.measured;
}

std::string slack_words(double slack) {
    return slack > 0 ? fmt::format("may get {:.0f} % worse and still pass", 100 * slack)
                     : "may get worse and still pass";
}

}  // namespace

Unaccepted::Unaccepted(const model::Policy& policy, const std::string& started_at)
    : policy_(policy), day_(model::date_of(started_at)) {}

void Unaccepted::age(std::size_t suite, const std::string& first_seen, const std::string& id,
                     const Comparison& comparison, bool warns, Decision& decision) {
    Judgement& judgement = decision.judgement;
    if (judgement.verdict != model::Verdict::improved) return;
    if (first_seen.empty() && !policy_.improved_fails) return;
    OfSuite& known = suites_[suite];
    known.cases.insert(id);
    const double slack = slack_of(comparison, judgement);
    if (slack > known.slack || known.widest.empty()) {
        known.slack = slack;
        known.widest = id;
    }
    if (first_seen.empty()) return;
    const std::string since = model::date_of(first_seen);
    if (known.oldest.empty() || since < known.oldest) known.oldest = since;
    // A run without a time may be as old as any.
    const bool too_old =
        day_.empty() || model::days_between(since, day_) > policy_.improvement_days;
    if (!too_old) return;
    known.too_old.insert(id);
    known.fails = known.fails || !warns;
    if (!policy_.improved_fails) return;
    judgement.verdict = model::Verdict::inconclusive;
    judgement.doubt = model::Doubt::unaccepted;
    judgement.measure_again = false;
    decision.reasons.push_back(fmt::format(
        "its improvement was first seen on {} and is not accepted within {}: it {}; accept it "
        "('perfgate baseline accept RUN')",
        since, util::counted(static_cast<std::size_t>(policy_.improvement_days), "day"),
        slack_words(slack)));
}

void Unaccepted::note(std::vector<model::SuiteVerdict>& verdicts) const {
    for (const auto& [suite, known] : suites_) {
        std::string text =
            fmt::format("{} not accepted", util::counted(known.cases.size(), "improved case") +
                                               (known.cases.size() == 1 ? " is" : " are"));
        if (!known.oldest.empty()) {
            text += fmt::format(" (first seen on {})", known.oldest);
        }
        text += fmt::format(": {} {}; 'perfgate baseline accept' accepts what improved",
                            known.widest, slack_words(known.slack));
        if (known.too_old.empty()) {
            text += fmt::format(
                ", within {}",
                util::counted(static_cast<std::size_t>(policy_.improvement_days), "day"));
        } else {
            text += fmt::format(
                "; {} so for more than {}",
                util::counted(known.too_old.size(), "case") +
                    (known.too_old.size() == 1 ? " is" : " are"),
                util::counted(static_cast<std::size_t>(policy_.improvement_days), "day"));
            if (known.fails) {
                text +=
                    fmt::format(", which fails {} (improved: fail)",
                                policy_.improved_fails ? "this run" : "runs of the main branch");
            }
        }
        verdicts.at(suite).notes.push_back(std::move(text));
    }
}

}  // namespace perfgate::gate
